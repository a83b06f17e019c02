//! Credentials that a command prints: `credential_process` of a profile.
//!
//! See "Process credential provider" in the AWS SDKs and Tools Reference Guide.

use std::fmt;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use tokio::sync::Mutex;

use super::expiration;

/// How long a request waits for the command before the request is retried.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long the command may take. It may ask its user a question.
const MOST: Duration = Duration::from_secs(120);
/// How long before their expiration credentials are replaced.
const EARLY: Duration = Duration::from_secs(300);
/// How long after a failure the command is not run again.
const PAUSE: Duration = Duration::from_secs(10);

/// Runs the command when a request needs credentials, and again before they expire.
pub(super) struct ProcessCredentials(Arc<Shared>);

struct Shared {
    profile: String,
    command: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    found: Option<Found>,
    /// The time of the last failure of the command, and its error.
    failed: Option<(Instant, NoCredentials)>,
}

#[derive(Clone)]
pub struct Found {
    credential: Arc<AwsCredential>,
    /// `None` if they never expire.
    until: Option<SystemTime>,
}

impl Found {
    fn last(&self, time: Duration) -> bool {
        self.until.is_none_or(|until| until > SystemTime::now() + time)
    }
}

/// Why a command returned no credentials. It contains nothing that the command printed, except its last words on
/// stderr.
#[derive(Debug, Clone)]
pub(crate) struct NoCredentials {
    what: String,
    /// Whether the command is still running, so that waiting helps.
    pub is_running: bool,
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for NoCredentials {}

impl ProcessCredentials {
    pub fn new(profile: String, command: String) -> Self {
        ProcessCredentials(Arc::new(Shared { profile, command, state: Mutex::default() }))
    }

    /// Whether this output of the command contains credentials.
    #[cfg(any(test, vidrec_internals))]
    pub fn is_output(&self, output: &[u8]) -> bool {
        self.0.read(output).is_ok()
    }
}

/// Leaves out the command, which may contain a secret.
impl fmt::Debug for ProcessCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessCredentials").field("profile", &self.0.profile).finish_non_exhaustive()
    }
}

#[async_trait]
impl CredentialProvider for ProcessCredentials {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let shared = self.0.clone();
        // The task continues if the caller stops waiting. The next caller then finds its result.
        let task = tokio::spawn(async move { shared.get().await });
        let found = match tokio::time::timeout(PATIENCE, task).await {
            Ok(Ok(found)) => found,
            Ok(Err(e)) => Err(self.0.fault(&format!("ended: {e}"))),
            Err(_) => {
                let e = self.0.fault(&format!("is still running after {} s", PATIENCE.as_secs()));
                Err(NoCredentials { is_running: true, ..e })
            }
        };
        found.map_err(|e| object_store::Error::Generic { store: "S3", source: Box::new(e) })
    }
}

impl Shared {
    async fn get(self: &Arc<Self>) -> Result<Arc<AwsCredential>, NoCredentials> {
        // One task at a time runs the command. The others wait for its result.
        let mut state = self.state.lock().await;
        let here = state.found.clone();
        if let Some(found) = here.as_ref().filter(|found| found.last(EARLY)) {
            return Ok(found.credential.clone());
        }
        // Credentials that expire soon are still valid.
        let still = here.filter(|found| found.last(Duration::ZERO)).map(|found| found.credential);
        if let Some((_, e)) = state.failed.as_ref().filter(|(then, _)| then.elapsed() < PAUSE) {
            return still.ok_or_else(|| e.clone());
        }
        let shared = self.clone();
        let ran = tokio::task::spawn_blocking(move || shared.run()).await;
        match ran.unwrap_or_else(|e| Err(self.fault(&format!("ended: {e}")))) {
            Ok(found) => {
                state.failed = None;
                Ok(state.found.insert(found).credential.clone())
            }
            Err(e) => {
                state.failed = Some((Instant::now(), e.clone()));
                still.ok_or(e)
            }
        }
    }

    fn fault(&self, what: &str) -> NoCredentials {
        let what = format!("the credential_process of the profile {:?} {what}", self.profile);
        NoCredentials { what, is_running: false }
    }

    /// Runs the command.
    fn run(&self) -> Result<Found, NoCredentials> {
        let mut child = shell(&self.command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| self.fault(&format!("did not start: {e}")))?;
        let (output, words) = (all_of(child.stdout.take()), all_of(child.stderr.take()));
        let Some(status) = wait(&mut child, Instant::now() + MOST) else {
            return Err(self.fault(&format!("did not end within {} s", MOST.as_secs())));
        };
        // A process that the command started may hold its pipes open.
        let text = |pipe: Receiver<Vec<u8>>| pipe.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
        if !status.success() {
            let words = text(words);
            let words = String::from_utf8_lossy(&words);
            let last = words.lines().map(str::trim).rfind(|line| !line.is_empty());
            let last: String = last.unwrap_or("it gave no reason").chars().take(300).collect();
            return Err(self.fault(&format!("failed ({status}): {last}")));
        }
        self.read(&text(output))
    }

    /// Reads the credentials from the output of the command.
    fn read(&self, output: &[u8]) -> Result<Found, NoCredentials> {
        let wrong = |what: &str| self.fault(&format!("printed {what}"));
        // The parser's own message is not shown, because it may quote the output.
        let value: serde_json::Value =
            serde_json::from_slice(output).map_err(|_| wrong("something that is not JSON"))?;
        if value["Version"] != 1 {
            return Err(wrong("no credentials of version 1"));
        }
        let text = |key: &str| value[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let needed = |key: &str| text(key).ok_or_else(|| wrong(&format!("no {key}")));
        let (key_id, secret_key) = (needed("AccessKeyId")?, needed("SecretAccessKey")?);
        let credential = Arc::new(AwsCredential { key_id, secret_key, token: text("SessionToken") });
        let until = match text("Expiration") {
            Some(time) => Some(expiration::parse(&time).ok_or_else(|| wrong("an Expiration that is not a time"))?),
            None => None,
        };
        let found = Found { credential, until };
        if found.last(Duration::ZERO) { Ok(found) } else { Err(wrong("credentials that have expired")) }
    }
}

/// Runs the command with a shell, as all but the oldest of AWS's tools do.
fn shell(command: &str) -> Command {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut shell = Command::new(shell);
    shell.args([option, command]);
    shell
}

/// Reads a pipe to its end on a thread of its own, so that the command is never blocked when it prints.
fn all_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    const MOST_BYTES: u64 = 1 << 20;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // The bytes before an error are used like all others. Bytes beyond the limit are read and dropped.
            let _ = pipe.by_ref().take(MOST_BYTES).read_to_end(&mut bytes);
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        let _ = sender.send(bytes);
    });
    receiver
}

/// Waits for the end of a command, and kills it if it does not end in time.
fn wait(child: &mut Child, until: Instant) -> Option<std::process::ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A command that prints credentials, and leaves a line in `calls` for each run.
    fn printing(calls: &std::path::Path, expiration: &str) -> ProcessCredentials {
        let json = format!(
            r#"{{"Version": 1, "AccessKeyId": "AK", "SecretAccessKey": "hunter2", "SessionToken": "T"{expiration}}}"#
        );
        of(&format!("echo run >> '{}'; echo '{json}'", calls.display()))
    }

    fn of(command: &str) -> ProcessCredentials {
        ProcessCredentials::new("lab".into(), command.to_owned())
    }

    fn get(of: &ProcessCredentials) -> Result<Arc<AwsCredential>, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(of.get_credential()).map_err(|e| format!("{e} {e:?}"))
    }

    #[test]
    fn the_command_runs_again_only_before_its_credentials_expire() {
        let _starts = crate::process_starts::some();
        let folder = tempfile::tempdir().unwrap();
        for expiration in ["", r#", "Expiration": "2999-01-01T00:00:00Z""#] {
            let calls = folder.path().join(format!("calls-{}", expiration.len()));
            let credentials = printing(&calls, expiration);
            for _ in 0..3 {
                let found = get(&credentials).unwrap();
                assert_eq!((&*found.key_id, &*found.secret_key, found.token.as_deref()), ("AK", "hunter2", Some("T")));
            }
            assert_eq!(std::fs::read_to_string(&calls).unwrap().lines().count(), 1);
        }
        let calls = folder.path().join("calls-soon");
        let in_a_minute = r#", "Expiration": "'$(date -u -d '+60 seconds' +%Y-%m-%dT%H:%M:%SZ)'""#;
        let soon = printing(&calls, in_a_minute);
        (0..3).for_each(|_| drop(get(&soon).unwrap()));
        assert_eq!(std::fs::read_to_string(&calls).unwrap().lines().count(), 3, "each time, as they end soon");
    }

    #[test]
    fn a_failure_says_the_last_word_of_the_command_and_nothing_of_its_output() {
        let _starts = crate::process_starts::some();
        for (command, word) in [
            ("echo hunter2; echo first >&2; echo sign in first >&2; exit 3", "failed (exit status: 3): sign in first"),
            ("exit 1", "it gave no reason"),
            ("no-such-program-of-vidrec", "not found"),
            ("echo hunter2", "not JSON"),
            (r#"echo '{"Version": 2, "AccessKeyId": "hunter2"}'"#, "version 1"),
            (r#"echo '{"Version": 1, "AccessKeyId": "hunter2"}'"#, "no SecretAccessKey"),
            (
                r#"echo '{"Version": 1, "AccessKeyId": "hunter2", "SecretAccessKey": "hunter2", "Expiration": "x"}'"#,
                "not a time",
            ),
            (
                r#"echo '{"Version": 1, "AccessKeyId": "A", "SecretAccessKey": "hunter2", "Expiration": "2001-01-01T00:00:00Z"}'"#,
                "have expired",
            ),
        ] {
            let e = get(&of(command)).unwrap_err();
            assert!(e.contains("profile \"lab\"") && e.contains(word) && !e.contains("hunter2"), "{command}: {e}");
        }
        assert!(!format!("{:?}", of("tool --secret hunter2")).contains("hunter2"));
    }
}

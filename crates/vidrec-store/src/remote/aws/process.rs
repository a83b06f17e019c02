//! Credentials that a command prints: `credential_process` of a profile.
//!
//! See "Process credential provider" in the AWS SDKs and Tools Reference Guide.

use std::fmt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use chrono::DateTime;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use tokio::sync::Mutex;

/// How long a request waits for the command before the request is retried.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long before their expiration credentials are replaced.
const EARLY: Duration = Duration::from_secs(300);
/// How long after a failure the command is not run again.
const PAUSE: Duration = Duration::from_secs(10);

/// Runs the command when a request needs credentials, and again before they expire.
pub(super) struct ProcessCredentials(Arc<Shared>);

struct Shared {
    profile: String,
    command: String,
    last: Mutex<Last>,
}

/// The last results of the command.
#[derive(Default)]
struct Last {
    found: Option<Found>,
    failed: Option<(Instant, NoCredentials)>,
}

/// Credentials and the time of their expiration; `None` if they never expire.
pub(super) type Found = (Arc<AwsCredential>, Option<SystemTime>);

impl Last {
    fn valid_for(&self, time: Duration) -> Option<Arc<AwsCredential>> {
        let (credential, until) = self.found.as_ref()?;
        until.is_none_or(|until| until > SystemTime::now() + time).then(|| credential.clone())
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
    pub fn new(profile: &str, command: &str) -> Self {
        let (profile, command) = (profile.to_owned(), command.to_owned());
        ProcessCredentials(Arc::new(Shared { profile, command, last: Mutex::default() }))
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
        // The task continues if the caller stops waiting. The next caller then finds its result.
        let task = tokio::spawn(self.0.clone().get());
        let found = match tokio::time::timeout(PATIENCE, task).await {
            Ok(found) => found.unwrap_or_else(|e| Err(self.0.fault(&format!("ended: {e}")))),
            Err(_) => {
                let e = self.0.fault(&format!("is still running after {} s", PATIENCE.as_secs()));
                Err(NoCredentials { is_running: true, ..e })
            }
        };
        found.map_err(|e| object_store::Error::Generic { store: "S3", source: Box::new(e) })
    }
}

impl Shared {
    async fn get(self: Arc<Self>) -> Result<Arc<AwsCredential>, NoCredentials> {
        // One task at a time runs the command. The others wait for its result.
        let mut last = self.last.lock().await;
        if let Some(credential) = last.valid_for(EARLY) {
            return Ok(credential);
        }
        if last.failed.as_ref().is_none_or(|(then, _)| then.elapsed() >= PAUSE) {
            let shared = self.clone();
            let ran = tokio::task::spawn_blocking(move || run(&shared.command)).await;
            match ran.unwrap_or_else(|e| Err(format!("ended: {e}"))) {
                Ok(found) => *last = Last { found: Some(found), failed: None },
                Err(what) => last.failed = Some((Instant::now(), self.fault(&what))),
            }
        }
        // Credentials that expire soon are still valid.
        last.valid_for(Duration::ZERO).ok_or_else(|| match &last.failed {
            Some((_, e)) => e.clone(),
            None => self.fault("printed credentials that have expired"),
        })
    }

    fn fault(&self, what: &str) -> NoCredentials {
        let what = format!("the credential_process of the profile {:?} {what}", self.profile);
        NoCredentials { what, is_running: false }
    }
}

/// Runs the command with a shell, as all but the oldest of AWS's tools do.
fn run(command: &str) -> Result<Found, String> {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let output = Command::new(shell).args([option, command]).stdin(Stdio::null()).output();
    let output = output.map_err(|e| format!("did not start: {e}"))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let last = words.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it gave no reason");
        return Err(format!("failed ({}): {}", output.status, last.chars().take(300).collect::<String>()));
    }
    read(&output.stdout).map_err(|what| format!("printed {what}"))
}

/// Reads the credentials from the output of the command. The parser's own message is not shown, because it may quote
/// the output.
pub(super) fn read(output: &[u8]) -> Result<Found, &'static str> {
    let value: serde_json::Value = serde_json::from_slice(output).map_err(|_| "something that is not JSON")?;
    let text = |key: &str| value[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let (true, Some(key_id), Some(secret_key)) = (value["Version"] == 1, text("AccessKeyId"), text("SecretAccessKey"))
    else {
        return Err("no Version 1 with an AccessKeyId and a SecretAccessKey");
    };
    let until = text("Expiration").map(|time| DateTime::parse_from_rfc3339(&time)).transpose();
    let until = until.map_err(|_| "an Expiration that is not a time")?.map(SystemTime::from);
    Ok((Arc::new(AwsCredential { key_id, secret_key, token: text("SessionToken") }), until))
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
        ProcessCredentials::new("lab", command)
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
            (r#"echo '{"Version": 2, "AccessKeyId": "hunter2"}'"#, "no Version 1"),
            (r#"echo '{"Version": 1, "AccessKeyId": "hunter2"}'"#, "a SecretAccessKey"),
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

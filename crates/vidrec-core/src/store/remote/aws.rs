//! Profiles of AWS's own tools: `~/.aws/credentials`, `~/.aws/config`, and the commands named there. object_store reads
//! only the environment.
//!
//! See "Shared config and credentials files" and "Process credential provider" in the AWS SDKs and Tools Reference
//! Guide.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use chrono::DateTime;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key, AwsCredential, AwsCredentialProvider};
use object_store::{CredentialProvider, StaticCredentialProvider};
use tokio::sync::Mutex;

use super::failure::refuse;
use vidrec_format::error::{Error, Result};

/// The longest time that a request waits for a command.
const PATIENCE: Duration = Duration::from_secs(50);
/// Credentials are replaced this long before they expire.
const EARLY: Duration = Duration::from_secs(300);
/// The least time between two runs of the command.
const PAUSE: Duration = Duration::from_secs(10);

/// The settings of the profile in use.
pub(super) struct Profile {
    name: String,
    /// The file of the configuration, for errors.
    file: PathBuf,
    /// Whether the environment names a profile that does not exist.
    is_missing: bool,
    values: BTreeMap<String, String>,
}

/// Keys that AWS's tools turn into requests to other services, or into questions to their user.
const OF_THE_TOOLS: [&str; 5] = ["role_arn", "sso_session", "sso_start_url", "sso_account_id", "login_session"];

impl Profile {
    /// Reads the files that the environment names, or those in the home folder. They are optional.
    pub fn read() -> Result<Self> {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let path = |name, default| variable(name).map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(default)));
        let text = |path: &PathBuf| match std::fs::read_to_string(path) {
            Err(e) if matches!(e.kind(), NotFound | NotADirectory) => Ok(String::new()),
            read => read.map_err(|e| Error::io("read the configuration of AWS's tools", path, e)),
        };
        let file = path("AWS_CONFIG_FILE", ".aws/config").unwrap_or_default();
        let credentials = text(&path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials").unwrap_or_default())?;
        let chosen = variable("AWS_PROFILE");
        let profile = Self::of(&text(&file)?, &credentials, chosen.as_deref().unwrap_or("default"));
        Ok(Profile { file, is_missing: profile.is_missing && chosen.is_some(), ..profile })
    }

    pub fn of(config: &str, credentials: &str, name: &str) -> Self {
        // Version 1 of the tools allowed both names for the default profile.
        let section = section_of(config, &format!("profile {name}"));
        let section = section.or_else(|| section_of(config, name).filter(|_| name == "default"));
        let credentials = section_of(credentials, name);
        let is_missing = section.is_none() && credentials.is_none();
        let has_command = section.iter().chain(&credentials).any(|section| section.contains_key("credential_process"));
        let mut values = section.unwrap_or_default();
        // Only keys of the credentials file come before a command.
        values.retain(|key, _| !has_command || !key.starts_with("aws_"));
        values.extend(credentials.unwrap_or_default());
        Profile { name: name.to_owned(), file: PathBuf::new(), is_missing, values }
    }

    /// Adds the settings of the profile that a client does not have yet. `options` is a client with nothing but the
    /// user's options. Credentials always come from one source as a whole.
    pub fn complete(&self, mut builder: AmazonS3Builder, options: &AmazonS3Builder) -> Result<AmazonS3Builder> {
        let has = |key| builder.get_config_value(&key).is_some();
        let has_credentials = has(Key::AccessKeyId)
            || has(Key::SecretAccessKey)
            || has(Key::WebIdentityTokenFile) && has(Key::RoleArn)
            || builder.get_config_value(&Key::SkipSignature).is_some_and(|value| value == "true");
        let region = self.values.get("region").filter(|_| !has(Key::Region));
        let endpoint = self.values.get("endpoint_url").filter(|_| !has(Key::Endpoint) && !has(Key::S3Endpoint));
        for (key, value) in [(Key::Region, region), (Key::Endpoint, endpoint)] {
            builder = value.into_iter().fold(builder, |builder, value| builder.with_config(key, value));
        }
        // A session token of the environment does not belong to keys of the options.
        let of_options = |name: &str| options.get_config_value(&name.parse().ok()?);
        let mut credentials = keys("the storage options", of_options)?;
        if credentials.is_none() && !has_credentials {
            credentials = self.credentials()?;
        }
        Ok(credentials.into_iter().fold(builder, AmazonS3Builder::with_credentials))
    }

    /// The profile's credentials; `None` if the files contain none. The order is that of AWS's tools: roles and signing
    /// in, keys of the credentials file, a command, keys of the config file.
    pub fn credentials(&self) -> Result<Option<AwsCredentialProvider>> {
        let name = &self.name;
        if self.is_missing {
            let e = Error::usage(format!("AWS_PROFILE names the profile {name:?}, which does not exist"));
            let help = "choose a profile from ~/.aws/config or ~/.aws/credentials, or unset AWS_PROFILE";
            return Err(e.file(&self.file).help(help));
        }
        let process = self.values.get("credential_process").map(|command| {
            let (profile, command) = (name.clone(), command.clone());
            Arc::new(ProcessCredentials { profile, command, last: Arc::default() }) as AwsCredentialProvider
        });
        let Some(key) = OF_THE_TOOLS.into_iter().find(|key| self.values.contains_key(*key)) else {
            let found = keys(&format!("the profile {name:?}"), |key| self.values.get(&format!("aws_{key}")).cloned());
            return Ok(found?.or(process));
        };
        // A command can call AWS's own tools, so it is the way around a key that only they support.
        process.map(Some).ok_or_else(|| {
            let e = format!("the profile {name:?} signs in or assumes a role, which vidrec leaves to AWS's tools");
            Error::usage(e).file(&self.file).found(key).help(format!(
                "sign in (with SSO by `aws sso login --profile {name}`), and add this line to the profile: \
                 credential_process = aws configure export-credentials --profile {name} --format process"
            ))
        })
    }
}

/// A variable of the environment that is not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The keys of one place, if it has any. `value` gives what it has by a name.
fn keys(place: &str, value: impl Fn(&str) -> Option<String>) -> Result<Option<AwsCredentialProvider>> {
    let credential = match (value("access_key_id"), value("secret_access_key")) {
        (Some(key_id), Some(secret_key)) => AwsCredential { key_id, secret_key, token: value("session_token") },
        (None, None) => return Ok(None),
        _ => return Err(Error::usage(format!("{place} must have both access_key_id and secret_access_key"))),
    };
    Ok(Some(Arc::new(StaticCredentialProvider::new(credential))))
}

/// The values of a section, or `None` if it does not exist. Those of nested sections are left out.
fn section_of(text: &str, section: &str) -> Option<BTreeMap<String, String>> {
    let mut lines = text.lines();
    lines.find(|line| {
        let name = line.trim().strip_prefix('[').and_then(|rest| rest.split(']').next()).unwrap_or_default();
        name.replace(['"', '\''], "").split_whitespace().eq(section.split_whitespace())
    })?;
    let values = lines.take_while(|line| !line.trim_start().starts_with('[')).filter_map(|line| {
        let (key, value) = line.split_once('=').filter(|_| !line.starts_with(['#', ';', ' ', '\t']))?;
        (!value.trim().is_empty()).then(|| (key.trim().to_owned(), value.trim().to_owned()))
    });
    Some(values.collect())
}

/// The command of `credential_process`. It runs when a request needs credentials, and again before they expire.
#[derive(Clone)]
struct ProcessCredentials {
    profile: String,
    command: String,
    last: Arc<Mutex<Option<Last>>>,
}

/// Credentials, and the time of their expiration; `None` if they never expire.
pub(super) type Found = (Arc<AwsCredential>, Option<SystemTime>);

/// The last result of the command, and when it came.
type Last = (Instant, Result<Found, String>);

impl ProcessCredentials {
    async fn get(self) -> Result<Arc<AwsCredential>, String> {
        let lasts = |(_, until): &Found, time| until.is_none_or(|until| until > SystemTime::now() + time);
        // One task at a time runs the command. The others wait for its result.
        let mut last = self.last.lock().await;
        let is_new =
            |(then, found): &Last| then.elapsed() < PAUSE || found.as_ref().is_ok_and(|found| lasts(found, EARLY));
        if !last.as_ref().is_some_and(is_new) {
            let ran = tokio::task::spawn_blocking(move || run(&self.command)).await;
            let ran = ran.unwrap_or_else(|e| Err(format!("ended: {e}")));
            // Credentials that expire soon are still valid.
            let old = last.take().and_then(|(_, found)| found.ok()).filter(|found| lasts(found, Duration::ZERO));
            *last = Some((Instant::now(), ran.or_else(|e| old.ok_or(e))));
        }
        match &*last {
            Some((_, Ok(found))) if lasts(found, Duration::ZERO) => Ok(found.0.clone()),
            Some((_, Err(e))) => Err(e.clone()),
            _ => Err("printed credentials that have expired".to_owned()),
        }
    }
}

/// Leaves out the command, which may contain a secret.
impl fmt::Debug for ProcessCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessCredentials").field("profile", &self.profile).finish_non_exhaustive()
    }
}

#[async_trait]
impl CredentialProvider for ProcessCredentials {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        // The task continues if the caller stops waiting. The next caller then finds its result.
        let found = match tokio::time::timeout(PATIENCE, tokio::spawn(self.clone().get())).await {
            Ok(found) => found.unwrap_or_else(|e| Err(format!("ended: {e}"))),
            Err(_) => Err(format!("is still running after {} s", PATIENCE.as_secs())),
        };
        found.map_err(|what| {
            let what = format!("the credential_process of the profile {:?} {what}", self.profile);
            refuse(what, "run the command by hand, and sign in if it asks for that").into()
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[default]\nregion = us-east-1\n[ profile  lab ]\nregion=eu-west-1\n\
                          s3 =\n  endpoint_url = http://nested\nendpoint_url = http://store\n# region = x\n\
                          [profile web]\nrole_arn = arn:w\nweb_identity_token_file = /t\n\
                          [profile both]\nsso_session = work\ncredential_process = tool --x=1\n\
                          [profile keys]\naws_access_key_id = C\naws_secret_access_key = D\n";
    const CREDENTIALS: &str =
        "[lab]\naws_access_key_id = AK\naws_secret_access_key=SK=with=signs\n\n[other]\naws_secret_access_key=T\n";

    fn profile(name: &str) -> Profile {
        Profile::of(CONFIG, CREDENTIALS, name)
    }

    fn credential(profile: &Profile) -> Option<Arc<AwsCredential>> {
        let found = profile.credentials().unwrap()?;
        Some(crate::store::remote::pending::runtime().unwrap().block_on(found.get_credential()).unwrap())
    }

    fn endpoint(name: &str, given: AmazonS3Builder) -> Option<String> {
        let unsigned = given.with_config(Key::SkipSignature, "true");
        profile(name).complete(unsigned, &AmazonS3Builder::new()).unwrap().get_config_value(&Key::Endpoint)
    }

    #[test]
    fn a_profile_is_found_in_both_files() {
        let lab = profile("lab");
        assert_eq!(lab.values["region"], "eu-west-1");
        let keys = credential(&lab).unwrap();
        assert_eq!((&*keys.key_id, &*keys.secret_key, keys.token.as_deref()), ("AK", "SK=with=signs", None));
        assert_eq!(profile("default").values["region"], "us-east-1");
        assert!(credential(&profile("default")).is_none());
        assert_eq!(endpoint("lab", AmazonS3Builder::new()).as_deref(), Some("http://store"));
        let given = AmazonS3Builder::new().with_endpoint("http://given");
        assert_eq!(endpoint("lab", given).as_deref(), Some("http://given"));
        let empty = Profile { is_missing: false, ..Profile::of("", "no sections = here\n]", "default") };
        assert!(credential(&empty).is_none());
    }

    #[test]
    fn a_profile_gives_its_own_credentials_or_an_error() {
        assert!(format!("{:?}", profile("both").credentials()).contains("ProcessCredentials { profile: \"both\""));
        assert_eq!(credential(&profile("keys")).unwrap().key_id, "C");
        for (name, words) in [
            ("web", &["assumes a role", "export-credentials --profile web"][..]),
            ("other", &["\"other\" must have both"]),
        ] {
            let e = profile(name).credentials().unwrap_err().to_string();
            words.iter().for_each(|word| assert!(e.contains(word), "{name}: no {word:?} in {e}"));
        }
    }

    #[test]
    fn keys_of_options_are_whole_and_come_alone() {
        let half = AmazonS3Builder::new().with_access_key_id("A");
        let environment = || AmazonS3Builder::new().with_secret_access_key("S").with_token("hunter2");
        let e = profile("lab").complete(environment(), &half).unwrap_err().to_string();
        assert!(e.contains("the storage options must have both"), "{e}");
    }

    /// A command that prints credentials, and leaves a line in `calls` for each run.
    fn printing(calls: &std::path::Path, expiration: &str) -> ProcessCredentials {
        let json = format!(
            r#"{{"Version": 1, "AccessKeyId": "AK", "SecretAccessKey": "hunter2", "SessionToken": "T"{expiration}}}"#
        );
        of(&format!("echo run >> '{}'; echo '{json}'", calls.display()))
    }

    fn of(command: &str) -> ProcessCredentials {
        ProcessCredentials { profile: "lab".into(), command: command.to_owned(), last: Arc::default() }
    }

    fn get(of: &ProcessCredentials) -> Result<Arc<AwsCredential>, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(of.get_credential()).map_err(|e| format!("{e} {e:?}"))
    }

    #[test]
    fn the_command_runs_again_only_before_its_credentials_expire() {
        let _starts = crate::process_start_lock::some();
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
        // Those that expire soon are used for a moment, and after that once the command fails.
        let calls = folder.path().join("calls-soon");
        let in_a_minute = r#", "Expiration": "'$(date -u -d '+60 seconds' +%Y-%m-%dT%H:%M:%SZ)'""#;
        let soon = printing(&calls, in_a_minute);
        let is_old = |credentials: &ProcessCredentials| {
            let mut last = credentials.last.try_lock().unwrap();
            last.as_mut().unwrap().0 = Instant::now().checked_sub(PAUSE).unwrap();
        };
        (0..3).for_each(|_| drop(get(&soon).unwrap()));
        assert_eq!(std::fs::read_to_string(&calls).unwrap().lines().count(), 1);
        is_old(&soon);
        (0..3).for_each(|_| drop(get(&soon).unwrap()));
        assert_eq!(std::fs::read_to_string(&calls).unwrap().lines().count(), 2);
        let failing = ProcessCredentials { command: "exit 1".into(), ..soon.clone() };
        is_old(&failing);
        assert!(get(&failing).is_ok());
    }

    #[test]
    fn times_of_expiration_have_any_zone() {
        // By `date --utc --date TIME +%s`.
        let expected = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_370_731);
        for time in ["2026-11-22T18:05:31Z", "2026-11-22T18:05:31+00:00", "2026-11-22T12:35:31.0-05:30"] {
            let output =
                format!(r#"{{"Version": 1, "AccessKeyId": "A", "SecretAccessKey": "S", "Expiration": "{time}"}}"#);
            assert_eq!(read(output.as_bytes()).unwrap().1, Some(expected), "{time}");
        }
    }

    #[test]
    fn a_failure_says_the_last_word_of_the_command_and_nothing_of_its_output() {
        let _starts = crate::process_start_lock::some();
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

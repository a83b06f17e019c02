//! The files of AWS's own tools: `~/.aws/credentials` and `~/.aws/config`. object_store does not read them: it reads
//! only the environment.
//!
//! The names and locations are those of "Shared config and credentials files" in the AWS SDKs and Tools Reference
//! Guide.

use std::collections::BTreeMap;
use std::path::PathBuf;

use object_store::aws::AmazonS3ConfigKey as Key;

use vidrec_format::error::{Error, Result};

/// The settings of the profile in use.
#[derive(Default)]
pub(crate) struct Profile {
    pub name: String,
    /// The file of the configuration, for errors.
    pub file: PathBuf,
    /// Whether the environment chose this profile.
    is_chosen: bool,
    is_found: bool,
    config: BTreeMap<String, String>,
    credentials: BTreeMap<String, String>,
    /// The endpoint of S3, if the profile has a section of services.
    endpoint_of_s3: Option<String>,
}

/// The source of the credentials.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The files contain none.
    Elsewhere,
    /// These options of a client.
    Options(Vec<(Key, String)>),
    /// The output of this command.
    Process(String),
}

/// Keys that AWS's tools turn into requests to other services, and what these requests do.
const OF_THE_TOOLS: [(&str, &str); 5] = [
    ("role_arn", "assumes a role"),
    ("sso_session", "signs in with SSO"),
    ("sso_start_url", "signs in with SSO"),
    ("sso_account_id", "signs in with SSO"),
    ("login_session", "signs in with a browser"),
];

impl Profile {
    /// Reads the files that the environment names, or those in the home folder. They are optional.
    pub fn read() -> Result<Self> {
        let home = || variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
        let path = |name: &str, default: &str| {
            variable(name).map(PathBuf::from).or_else(|| Some(home()?.join(default))).unwrap_or_default()
        };
        let text = |path: &PathBuf| match std::fs::read_to_string(path) {
            Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                Ok(String::new())
            }
            read => read.map_err(|e| Error::io("read the configuration of AWS's tools", path, e)),
        };
        let chosen = variable("AWS_PROFILE");
        let config = path("AWS_CONFIG_FILE", ".aws/config");
        let credentials = text(&path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"))?;
        let mut profile = Self::of(&text(&config)?, &credentials, chosen.as_deref().unwrap_or("default"));
        (profile.file, profile.is_chosen) = (config, chosen.is_some());
        Ok(profile)
    }

    pub(super) fn of(config: &str, credentials: &str, name: &str) -> Self {
        // Version 1 of the tools allowed both names for the default profile.
        let sections = [format!("profile {name}"), if name == "default" { name.to_owned() } else { String::new() }];
        let section = sections.into_iter().find_map(|name| section_of(config, &name));
        let of_credentials = section_of(credentials, name);
        let is_found = section.is_some() || of_credentials.is_some();
        let config_of_profile = section.unwrap_or_default();
        let services =
            config_of_profile.get("services").and_then(|name| section_of(config, &format!("services {name}")));
        Profile {
            name: name.to_owned(),
            is_found,
            endpoint_of_s3: services.and_then(|services| services.get("s3.endpoint_url").cloned()),
            config: config_of_profile,
            credentials: of_credentials.unwrap_or_default(),
            ..Profile::default()
        }
    }

    /// A value of the profile. The credentials file takes precedence over the config file.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.credentials.get(key).or_else(|| self.config.get(key)).map(String::as_str)
    }

    /// The endpoint of S3, if it is not at AWS.
    pub fn endpoint(&self) -> Option<&str> {
        self.endpoint_of_s3.as_deref().or_else(|| self.get("endpoint_url"))
    }

    /// The file of certificate authorities to trust, beside those of the system.
    pub fn ca_bundle(&self) -> Option<PathBuf> {
        variable("AWS_CA_BUNDLE").or_else(|| self.get("ca_bundle").map(str::to_owned)).map(PathBuf::from)
    }

    /// The source of the profile's credentials. The order is that of AWS's tools: roles, SSO, keys of the credentials
    /// file, a command, keys of the config file.
    pub(super) fn source(&self) -> Result<Source> {
        if self.is_chosen && !self.is_found {
            let e = Error::usage(format!("AWS_PROFILE names the profile {:?}, which does not exist", self.name));
            return Err(e
                .file(&self.file)
                .help("choose a profile from ~/.aws/config or ~/.aws/credentials, or unset AWS_PROFILE"));
        }
        let process = self.get("credential_process").map(|command| Source::Process(command.to_owned()));
        if let (Some(role), Some(token)) = (self.get("role_arn"), self.get("web_identity_token_file")) {
            let mut options = vec![(Key::RoleArn, role.to_owned()), (Key::WebIdentityTokenFile, token.to_owned())];
            options.extend(self.get("role_session_name").map(|name| (Key::RoleSessionName, name.to_owned())));
            return Ok(Source::Options(options));
        }
        if let Some((_, what)) = OF_THE_TOOLS.iter().find(|(key, _)| self.get(key).is_some()) {
            // A command can call AWS's own tools, so it is the way around a key that only they support.
            return process.ok_or_else(|| self.of_the_tools(what));
        }
        if let Some(keys) = keys_of(&self.credentials) {
            return Ok(keys);
        }
        Ok(process.or_else(|| keys_of(&self.config)).unwrap_or(Source::Elsewhere))
    }

    fn of_the_tools(&self, what: &str) -> Error {
        let name = &self.name;
        let sign_in =
            if what.contains("SSO") { format!("run `aws sso login --profile {name}`, and ") } else { String::new() };
        Error::usage(format!("the profile {name:?} {what}, which vidrec leaves to AWS's tools")).file(&self.file).help(
            format!(
                "{sign_in}add this line to the profile: \
                 credential_process = aws configure export-credentials --profile {name} --format process"
            ),
        )
    }
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn keys_of(section: &BTreeMap<String, String>) -> Option<Source> {
    const KEYS: [(&str, Key); 3] = [
        ("aws_access_key_id", Key::AccessKeyId),
        ("aws_secret_access_key", Key::SecretAccessKey),
        ("aws_session_token", Key::Token),
    ];
    let found = KEYS.into_iter().filter_map(|(name, key)| Some((key, section.get(name)?.clone())));
    let found: Vec<_> = found.collect();
    (!found.is_empty()).then_some(Source::Options(found))
}

/// The values of a section, or `None` if it does not exist. Values of a nested section are named `outer.inner`.
fn section_of(text: &str, section: &str) -> Option<BTreeMap<String, String>> {
    let (mut inside, mut outer, mut values) = (false, "", None);
    for line in text.lines() {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = name.split_whitespace().eq(section.split_whitespace());
            if inside {
                values.get_or_insert_with(BTreeMap::new);
            }
            continue;
        }
        let is_comment = line.trim_start().starts_with(['#', ';']);
        let Some((key, value)) = line.split_once('=').filter(|_| inside && !is_comment) else { continue };
        let (is_nested, key, value) = (line.starts_with([' ', '\t']), key.trim(), value.trim());
        if !is_nested {
            outer = key;
        }
        if let Some(values) = values.as_mut().filter(|_| !value.is_empty()) {
            let key = if is_nested { format!("{outer}.{key}") } else { key.to_owned() };
            values.insert(key, value.to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[default]\nregion = us-east-1\n[ profile  lab ]\nregion=eu-west-1\n\
                          s3 =\n  endpoint_url = http://nested\nendpoint_url = http://store\n# region = x\n\
                          [profile near]\nservices = here\n[services here]\ns3 =\n  endpoint_url = http://near\n\
                          [profile sso]\nsso_session = work\nsso_account_id = 1\n[profile role]\nrole_arn = arn:r\n\
                          source_profile = lab\n[profile web]\nrole_arn = arn:w\nweb_identity_token_file = /t\n\
                          [profile both]\nsso_session = work\ncredential_process = tool --x=1\n\
                          [profile keys]\naws_access_key_id = C\naws_secret_access_key = D\n";
    const CREDENTIALS: &str = "[lab]\naws_access_key_id = AK\naws_secret_access_key=SK=with=signs\n\n[role]\n\
                               aws_access_key_id = other\n[other]\naws_session_token=T\n";

    fn profile(name: &str) -> Profile {
        Profile { is_chosen: true, ..Profile::of(CONFIG, CREDENTIALS, name) }
    }

    #[test]
    fn a_profile_is_found_in_both_files() {
        let lab = profile("lab");
        assert_eq!((lab.get("region"), lab.endpoint()), (Some("eu-west-1"), Some("http://store")));
        let keys = [(Key::AccessKeyId, "AK"), (Key::SecretAccessKey, "SK=with=signs")];
        let keys = keys.map(|(key, value)| (key, value.to_owned()));
        assert_eq!(lab.source().unwrap(), Source::Options(keys.into()));
        assert_eq!(profile("default").get("region"), Some("us-east-1"));
        assert_eq!(profile("default").source().unwrap(), Source::Elsewhere);
        assert_eq!(profile("near").endpoint(), Some("http://near"));
        assert_eq!(Profile::of("", "no sections = here\n]", "default").source().unwrap(), Source::Elsewhere);
    }

    #[test]
    fn a_profile_gives_its_own_credentials_or_an_error() {
        let keys = [(Key::RoleArn, "arn:w".to_owned()), (Key::WebIdentityTokenFile, "/t".to_owned())];
        assert_eq!(profile("web").source().unwrap(), Source::Options(keys.into()));
        assert_eq!(profile("both").source().unwrap(), Source::Process("tool --x=1".into()));
        assert!(matches!(profile("keys").source().unwrap(), Source::Options(_)));
        for (name, words) in [
            ("sso", &["signs in with SSO", "aws sso login --profile sso", "export-credentials --profile sso"][..]),
            ("role", &["assumes a role", "credential_process = aws configure export-credentials --profile role"]),
            ("none", &["AWS_PROFILE", "\"none\"", "does not exist"]),
        ] {
            let e = profile(name).source().unwrap_err().to_string();
            words.iter().for_each(|word| assert!(e.contains(word), "{name}: no {word:?} in {e}"));
        }
    }
}

//! The files of AWS's own tools: `~/.aws/credentials` and `~/.aws/config`. object_store does not read them: it reads
//! only the environment.
//!
//! The names and locations are those of "Shared config and credentials files" in the AWS SDKs and Tools Reference
//! Guide.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use object_store::StaticCredentialProvider;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key, AwsCredential, AwsCredentialProvider};

use super::process::ProcessCredentials;
use vidrec_format::error::{Error, Result};

type Section = BTreeMap<String, String>;

/// The settings of the profile in use.
#[derive(Default)]
pub(crate) struct Profile {
    name: String,
    /// The file of the configuration, for errors.
    file: PathBuf,
    /// Whether the environment names a profile that does not exist.
    is_missing: bool,
    config: Section,
    credentials: Section,
    /// The endpoint of S3, if the profile has a section of services.
    endpoint_of_s3: Option<String>,
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
        let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
        let path = |name, default| variable(name).map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(default)));
        let text = |path: &PathBuf| match std::fs::read_to_string(path) {
            Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                Ok(String::new())
            }
            read => read.map_err(|e| Error::io("read the configuration of AWS's tools", path, e)),
        };
        let file = path("AWS_CONFIG_FILE", ".aws/config").unwrap_or_default();
        let credentials = path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials").unwrap_or_default();
        let chosen = variable("AWS_PROFILE");
        let profile = Self::of(&text(&file)?, &text(&credentials)?, chosen.as_deref().unwrap_or("default"));
        Ok(Profile { file, is_missing: profile.is_missing && chosen.is_some(), ..profile })
    }

    pub(super) fn of(config: &str, credentials: &str, name: &str) -> Self {
        // Version 1 of the tools allowed both names for the default profile.
        let section = section_of(config, &format!("profile {name}"));
        let section = section.or_else(|| section_of(config, name).filter(|_| name == "default"));
        let credentials = section_of(credentials, name);
        let is_missing = section.is_none() && credentials.is_none();
        let (section, credentials) = (section.unwrap_or_default(), credentials.unwrap_or_default());
        let services = section.get("services").and_then(|name| section_of(config, &format!("services {name}")));
        let endpoint_of_s3 = services.and_then(|mut services| services.remove("s3.endpoint_url"));
        Profile {
            name: name.to_owned(),
            is_missing,
            config: section,
            credentials,
            endpoint_of_s3,
            ..Profile::default()
        }
    }

    /// Adds the settings of the profile that a client does not have yet. `options` is a client with nothing but the
    /// user's options. Credentials always come from one source as a whole.
    pub fn complete(&self, mut builder: AmazonS3Builder, options: &AmazonS3Builder) -> Result<AmazonS3Builder> {
        let is_set = |builder: &AmazonS3Builder, key| builder.get_config_value(&key).is_some();
        if let Some(region) = self.get("region").filter(|_| !is_set(&builder, Key::Region)) {
            builder = builder.with_config(Key::Region, region);
        }
        if let Some(endpoint) = self.endpoint_of_s3.as_deref().or_else(|| self.get("endpoint_url"))
            && !is_set(&builder, Key::Endpoint)
            && !is_set(&builder, Key::S3Endpoint)
        {
            builder = builder.with_config(Key::Endpoint, endpoint);
        }
        // A session token of the environment does not belong to keys of the options.
        let of_options = |key| options.get_config_value(&key);
        let keys = keys(of_options(Key::AccessKeyId), of_options(Key::SecretAccessKey), of_options(Key::Token));
        if let Some(keys) = keys.map_err(|what| Error::usage(format!("the storage options have no {what}")))? {
            return Ok(builder.with_credentials(keys));
        }
        let has_keys = is_set(&builder, Key::AccessKeyId) || is_set(&builder, Key::SecretAccessKey);
        let has_role = is_set(&builder, Key::WebIdentityTokenFile) && is_set(&builder, Key::RoleArn);
        let is_unsigned = builder.get_config_value(&Key::SkipSignature).is_some_and(|value| value == "true");
        if has_keys || has_role || is_unsigned {
            return Ok(builder);
        }
        Ok(match self.credentials()? {
            Some(credentials) => builder.with_credentials(credentials),
            None => builder,
        })
    }

    /// A value of the profile. The credentials file takes precedence over the config file.
    fn get(&self, key: &str) -> Option<&str> {
        self.credentials.get(key).or_else(|| self.config.get(key)).map(String::as_str)
    }

    /// The file of certificate authorities to trust, beside those of the system.
    pub fn ca_bundle(&self) -> Option<PathBuf> {
        variable("AWS_CA_BUNDLE").or_else(|| self.get("ca_bundle").map(str::to_owned)).map(PathBuf::from)
    }

    /// The profile's credentials; `None` if the files contain none. The order is that of AWS's tools: roles, SSO, keys of
    /// the credentials file, a command, keys of the config file.
    pub(super) fn credentials(&self) -> Result<Option<AwsCredentialProvider>> {
        let name = &self.name;
        if self.is_missing {
            let e = Error::usage(format!("AWS_PROFILE names the profile {name:?}, which does not exist"));
            return Err(e
                .file(&self.file)
                .help("choose a profile from ~/.aws/config or ~/.aws/credentials, or unset AWS_PROFILE"));
        }
        let keys_of = |section: &Section| {
            let [id, secret, token] = ["access_key_id", "secret_access_key", "session_token"]
                .map(|key| section.get(&format!("aws_{key}")).cloned());
            let half = |what| Error::usage(format!("the profile {name:?} has no aws_{what}")).file(&self.file);
            keys(id, secret, token).map_err(half)
        };
        let process = || {
            let command = self.get("credential_process")?;
            Some(Arc::new(ProcessCredentials::new(name, command)) as AwsCredentialProvider)
        };
        if let Some((_, what)) = OF_THE_TOOLS.iter().find(|(key, _)| self.get(key).is_some()) {
            // A command can call AWS's own tools, so it is the way around a key that only they support.
            return process().map(Some).ok_or_else(|| self.of_the_tools(what));
        }
        match keys_of(&self.credentials)?.or_else(process) {
            Some(found) => Ok(Some(found)),
            None => keys_of(&self.config),
        }
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

/// Keys of one source, or the name of the half that is missing. Without both halves there are none.
fn keys(
    id: Option<String>,
    secret: Option<String>,
    token: Option<String>,
) -> Result<Option<AwsCredentialProvider>, &'static str> {
    let (key_id, secret_key) = match (id, secret) {
        (Some(id), Some(secret)) => (id, secret),
        (None, None) => return Ok(None),
        (found, _) => return Err(if found.is_some() { "secret_access_key" } else { "access_key_id" }),
    };
    Ok(Some(Arc::new(StaticCredentialProvider::new(AwsCredential { key_id, secret_key, token }))))
}

/// The values of a section, or `None` if it does not exist. Values of a nested section are named `outer.inner`.
fn section_of(text: &str, section: &str) -> Option<Section> {
    let heading = |line: &str| {
        let name = line.trim().strip_prefix('[')?.split(']').next()?.replace(['"', '\''], "");
        Some(name.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let mut lines = text.lines();
    lines.find(|line| heading(line).is_some_and(|name| name == section))?;
    let mut outer = "";
    let values = lines.take_while(|line| heading(line).is_none()).filter_map(|line| {
        let (key, value) = line.split_once('=').filter(|_| !line.trim_start().starts_with(['#', ';']))?;
        let (is_nested, key, value) = (line.starts_with([' ', '\t']), key.trim(), value.trim());
        outer = if is_nested { outer } else { key };
        let key = if is_nested { format!("{outer}.{key}") } else { key.to_owned() };
        (!value.is_empty()).then(|| (key, value.to_owned()))
    });
    Some(values.collect())
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
                               aws_access_key_id = other\n[other]\naws_secret_access_key=T\n";

    fn profile(name: &str) -> Profile {
        Profile::of(CONFIG, CREDENTIALS, name)
    }

    fn credential(profile: &Profile) -> Option<Arc<AwsCredential>> {
        let found = profile.credentials().unwrap()?;
        Some(crate::remote::runtime::handle().unwrap().block_on(found.get_credential()).unwrap())
    }

    fn endpoint(name: &str, given: AmazonS3Builder) -> Option<String> {
        let unsigned = given.with_config(Key::SkipSignature, "true");
        profile(name).complete(unsigned, &AmazonS3Builder::new()).unwrap().get_config_value(&Key::Endpoint)
    }

    #[test]
    fn a_profile_is_found_in_both_files() {
        let lab = profile("lab");
        assert_eq!(lab.get("region"), Some("eu-west-1"));
        let keys = credential(&lab).unwrap();
        assert_eq!((&*keys.key_id, &*keys.secret_key, keys.token.as_deref()), ("AK", "SK=with=signs", None));
        assert_eq!(profile("default").get("region"), Some("us-east-1"));
        assert!(credential(&profile("default")).is_none());
        assert_eq!(endpoint("lab", AmazonS3Builder::new()).as_deref(), Some("http://store"));
        assert_eq!(endpoint("near", AmazonS3Builder::new()).as_deref(), Some("http://near"));
        let given = AmazonS3Builder::new().with_endpoint("http://given");
        assert_eq!(endpoint("near", given).as_deref(), Some("http://given"));
        let empty = Profile { is_missing: false, ..Profile::of("", "no sections = here\n]", "default") };
        assert!(credential(&empty).is_none());
    }

    #[test]
    fn a_profile_gives_its_own_credentials_or_an_error() {
        assert!(format!("{:?}", profile("both").credentials()).contains("ProcessCredentials { profile: \"both\""));
        assert_eq!(credential(&profile("keys")).unwrap().key_id, "C");
        for (name, words) in [
            ("sso", &["signs in with SSO", "aws sso login --profile sso", "export-credentials --profile sso"][..]),
            ("role", &["assumes a role", "credential_process = aws configure export-credentials --profile role"]),
            ("web", &["assumes a role", "export-credentials --profile web"]),
            ("none", &["AWS_PROFILE", "\"none\"", "does not exist"]),
            ("other", &["\"other\" has no aws_access_key_id"]),
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
        assert!(e.contains("no secret_access_key"), "{e}");
    }
}

//! The files of AWS's own tools: `~/.aws/credentials` and `~/.aws/config`, of which object_store reads only the
//! environment.
//!
//! Names and places as in the AWS SDKs and Tools Reference Guide, "Shared config and credentials files".

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the files say about the profile in use, as storage options.
pub(super) fn options() -> BTreeMap<&'static str, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let home = || variable("HOME").or_else(|| variable("USERPROFILE"));
    let file = |name: &str, default: &str| {
        let path = variable(name).map(PathBuf::from).or_else(|| Some(PathBuf::from(home()?).join(default)))?;
        // The files are optional, and what is missing is asked for elsewhere.
        std::fs::read_to_string(path).ok()
    };
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".into());
    let config = file("AWS_CONFIG_FILE", ".aws/config").unwrap_or_default();
    let credentials = file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials").unwrap_or_default();
    of_profile(&config, &credentials, &profile)
}

fn of_profile(config: &str, credentials: &str, profile: &str) -> BTreeMap<&'static str, String> {
    let section = if profile == "default" { profile.to_owned() } else { format!("profile {profile}") };
    let mut found = BTreeMap::new();
    // What credentials say comes before what the config says.
    for (text, section) in [(config, &*section), (credentials, profile)] {
        for (key, value) in values(text, section) {
            let name = match key {
                "aws_access_key_id" => "access_key_id",
                "aws_secret_access_key" => "secret_access_key",
                "aws_session_token" => "session_token",
                "region" => "region",
                "endpoint_url" => "endpoint",
                _ => continue,
            };
            found.insert(name, value.to_owned());
        }
    }
    found
}

/// The values of a section, without those nested in it, which are indented.
fn values<'a>(text: &'a str, section: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut inside = false;
    text.lines().filter_map(move |line| {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = name.split_whitespace().eq(section.split_whitespace());
            return None;
        }
        let is_value = inside && !line.starts_with([' ', '\t', '#', ';']);
        let (key, value) = line.split_once('=').filter(|_| is_value)?;
        Some((key.trim(), value.trim())).filter(|(_, value)| !value.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_in_both_files() {
        let config = "[default]\nregion = us-east-1\n[ profile  lab ]\nregion=eu-west-1\n\
                      s3 =\n  endpoint_url = http://nested\nendpoint_url = http://store\n# region = x\n";
        let credentials =
            "[lab]\naws_access_key_id = AK\naws_secret_access_key=SK=with=signs\n\n[other]\naws_session_token=T\n";
        let lab = of_profile(config, credentials, "lab");
        let expected = [
            ("access_key_id", "AK"),
            ("endpoint", "http://store"),
            ("region", "eu-west-1"),
            ("secret_access_key", "SK=with=signs"),
        ];
        assert!(lab.iter().map(|(k, v)| (*k, v.as_str())).eq(expected), "{lab:?}");
        assert!(of_profile(config, credentials, "default").into_iter().eq([("region", "us-east-1".to_owned())]));
        assert!(of_profile("", "no sections = here\n]", "lab").is_empty());
    }
}

//! Completes a client with settings from the files of AWS's own tools, where the environment and the options set
//! nothing.

use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};

use super::process::ProcessCredentials;
use super::profile::{Profile, Source};
use vidrec_format::error::Result;

/// Adds the settings of a profile that the client does not have yet. Credentials always come from one source as a
/// whole.
pub(crate) fn complete(mut builder: AmazonS3Builder, profile: &Profile) -> Result<AmazonS3Builder> {
    let is_set = |builder: &AmazonS3Builder, key| builder.get_config_value(&key).is_some();
    if let Some(region) = profile.get("region").filter(|_| !is_set(&builder, Key::Region)) {
        builder = builder.with_config(Key::Region, region);
    }
    if let Some(endpoint) = profile.endpoint()
        && !is_set(&builder, Key::Endpoint)
        && !is_set(&builder, Key::S3Endpoint)
    {
        builder = builder.with_config(Key::Endpoint, endpoint);
    }
    let has_keys = is_set(&builder, Key::AccessKeyId) || is_set(&builder, Key::SecretAccessKey);
    let has_role = is_set(&builder, Key::WebIdentityTokenFile) && is_set(&builder, Key::RoleArn);
    let is_unsigned = builder.get_config_value(&Key::SkipSignature).is_some_and(|value| value == "true");
    if has_keys || has_role || is_unsigned {
        return Ok(builder);
    }
    Ok(match profile.source()? {
        Source::Elsewhere => builder,
        Source::Options(options) => {
            options.into_iter().fold(builder, |builder, (key, value)| builder.with_config(key, value))
        }
        Source::Process(command) => {
            builder.with_credentials(Arc::new(ProcessCredentials::new(profile.name.clone(), command)))
        }
    })
}

/// Builds a client from the environment, without its credentials.
pub(crate) fn without_credentials() -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
        let key = name.starts_with("AWS_").then(|| name.to_ascii_lowercase().parse().ok()).flatten();
        // AWS variables that the client does not know belong to other tools.
        let is_credential = |key: &Key| matches!(key, Key::AccessKeyId | Key::SecretAccessKey | Key::Token);
        if let Some(key) = key.filter(|key| !is_credential(key)) {
            builder = builder.with_config(key, value);
        }
    }
    builder
}

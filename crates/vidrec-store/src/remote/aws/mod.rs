//! Support for AWS's own tools that object_store lacks: their files, and the commands named in these files.

mod complete;
mod expiration;
mod process;
mod profile;

/// Parses the output of a command, and files of profiles.
#[cfg(any(test, vidrec_internals))]
pub(super) fn fuzzing(text: &str) {
    let _ = expiration::parse(text);
    let profile = Profile::of(text, text, "default");
    let _ = (profile.source(), profile.endpoint(), profile.ca_bundle());
    process::ProcessCredentials::new(String::new(), String::new()).is_output(text.as_bytes());
}

pub(super) use complete::{complete, without_credentials};
pub(super) use process::NoCredentials;
pub(super) use profile::Profile;

//! Support for AWS's own tools that object_store lacks: their files, and the commands named in these files.

mod process;
mod profile;

/// Parses the output of a command, and files of profiles.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn fuzzing(text: &str) {
    let profile = Profile::of(text, text, "default");
    let _ = (profile.credentials(), profile.ca_bundle());
    let _ = process::read(text.as_bytes());
}

pub(super) use process::NoCredentials;
pub(super) use profile::Profile;

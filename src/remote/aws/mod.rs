//! What AWS's own tools know and object_store does not: their files, and the commands that these name.

mod complete;
mod expiration;
mod process;
mod profile;

pub(super) use complete::{complete, without_credentials};
pub(super) use process::NoCredentials;
pub(super) use profile::Profile;

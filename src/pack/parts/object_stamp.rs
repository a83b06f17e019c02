//! What identifies a remote video: its length and version when the plan was made.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
#[cfg(feature = "remote")]
use std::sync::Arc;

use serde::{Deserialize, Serialize};

#[cfg(feature = "remote")]
use super::in_order::in_order;
#[cfg(feature = "remote")]
use crate::is_remote;
#[cfg(feature = "remote")]
use crate::remote::{Opening, Remote, check_location};
use crate::{Result, Storage};

/// The number of videos to ask about at a time.
#[cfg(feature = "remote")]
const AT_ONCE: usize = 64;

/// What the server said of a remote video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ObjectStamp {
    Missing,
    Object {
        /// Length.
        bytes: u64,
        /// The ETag; the time of the last change where a server gives none; empty where it gives neither.
        version: String,
    },
}

impl ObjectStamp {
    pub fn bytes(&self) -> u64 {
        match self {
            ObjectStamp::Missing => 0,
            ObjectStamp::Object { bytes, .. } => *bytes,
        }
    }

    /// Asks for one byte, as whoever reads the video does: some servers refuse to say anything without.
    #[cfg(feature = "remote")]
    fn of(remote: &Arc<Remote>, path: &Path) -> Result<Self> {
        match Opening::start_with(remote, path, 1).and_then(Opening::finish) {
            Ok(object) => Ok(ObjectStamp::Object { bytes: object.len(), version: object.version().to_owned() }),
            Err(e) if e.is_missing() => Ok(ObjectStamp::Missing),
            Err(e) => Err(e),
        }
    }
}

impl fmt::Display for ObjectStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectStamp::Missing => f.write_str("no object"),
            ObjectStamp::Object { bytes, version } => write!(f, "{bytes} bytes, version {version}"),
        }
    }
}

/// Asks for the stamps of all remote videos among these, some at a time and each once.
#[cfg(feature = "remote")]
pub(super) fn look<'a>(
    paths: impl Iterator<Item = &'a Path>,
    storage: &Storage,
) -> Result<HashMap<&'a Path, ObjectStamp>> {
    // What is no location fails by itself when it is packed.
    let is_asked = |path: &&Path| is_remote(path) && check_location(path).is_ok();
    let mut remote: Vec<&Path> = paths.filter(is_asked).collect();
    remote.sort_unstable();
    remote.dedup();
    if remote.is_empty() {
        return Ok(HashMap::new());
    }
    let store = Remote::new(&Storage { cache: None, ..storage.clone() })?;
    let stamps = in_order(remote.len(), AT_ONCE, |i| ObjectStamp::of(&store, remote[i]))?;
    Ok(remote.into_iter().zip(stamps).collect())
}

/// This build reads nothing remote.
#[cfg(not(feature = "remote"))]
pub(super) fn look<'a>(_: impl Iterator<Item = &'a Path>, _: &Storage) -> Result<HashMap<&'a Path, ObjectStamp>> {
    Ok(HashMap::new())
}

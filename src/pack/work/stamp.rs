//! Size and time of an input file, which tell that it is still the same.

use std::fmt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::is_remote;
use crate::pack::plan::Job;

/// What tells that an input file is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Length in bytes.
    pub bytes: u64,
    /// Time of the last change in nanoseconds since 1970.
    pub modified_ns: u64,
}

impl Stamp {
    /// That of `path`; `None` if it cannot be looked at, and for remote files, which would take a request each.
    pub fn of(path: &Path) -> Option<Self> {
        if is_remote(path) {
            return None;
        }
        let meta = std::fs::metadata(path).ok()?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Stamp { bytes: meta.len(), modified_ns: u64::try_from(since.as_nanos()).ok()? })
    }
}

/// Those of the files of a video's tracks.
pub(crate) fn track_stamps(job: &Job) -> Vec<Option<Stamp>> {
    job.tracks.iter().flat_map(|row| row.files()).map(Stamp::of).collect()
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, changed {} ns after 1970", self.bytes, self.modified_ns)
    }
}

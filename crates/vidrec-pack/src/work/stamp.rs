//! The size and modification time of an input file, which show whether the file is still the same.

use std::fmt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::plan::Job;
use vidrec_core::store::location::is_remote;

/// The size and modification time of an input file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Length in bytes.
    pub bytes: u64,
    /// Time of the last change in nanoseconds since 1970.
    pub modified_ns: u64,
}

impl Stamp {
    /// Returns the stamp of `path`; `None` if its metadata cannot be read. Also `None` for remote files, because
    /// each would take a request.
    pub fn of(path: &Path) -> Option<Self> {
        if is_remote(path) {
            return None;
        }
        let meta = std::fs::metadata(path).ok()?;
        let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Stamp { bytes: meta.len(), modified_ns: u64::try_from(since.as_nanos()).ok()? })
    }
}

/// Returns the stamps of the files of a video's tracks.
pub(crate) fn track_stamps(job: &Job) -> Vec<Option<Stamp>> {
    job.tracks.iter().flat_map(|row| row.files()).map(Stamp::of).collect()
}

/// An input file that is not what it was: its stamps in words.
pub(crate) struct ChangedFile<'a> {
    pub file: &'a Path,
    pub then: String,
    pub now: String,
}

/// Returns the first file of a video that does not have these stamps.
pub(crate) fn changed_file<'a>(
    job: &'a Job,
    stamp: Option<Stamp>,
    track_stamps: &[Option<Stamp>],
) -> Option<ChangedFile<'a>> {
    let text = |stamp: Option<Stamp>| stamp.map_or("no file".into(), |stamp| stamp.to_string());
    let tracks = job.tracks.iter().flat_map(|row| row.files()).zip(track_stamps.iter().copied());
    let mut files = std::iter::once((&*job.path, stamp)).chain(tracks);
    files.find_map(|(file, then)| {
        let now = Stamp::of(file);
        (now != then).then(|| ChangedFile { file, then: text(then), now: text(now) })
    })
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, changed {} ns after 1970", self.bytes, self.modified_ns)
    }
}

//! The options of an upload.

use std::path::PathBuf;

use serde::Serialize;

use crate::store::disk::private;
use crate::store::storage::{RemoteStats, Storage};

/// Options of [`push`](crate::transfer::upload::push) and of [`write_remote`](crate::transfer::upload::write_remote).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PushOptions {
    /// The options for reaching the storage. Its cache is not used.
    pub storage: Storage,
    /// Replace another, existing data set. Off by default: such a data set is an error.
    pub overwrite: bool,
    /// A local folder with room for the whole output of [`write_remote`](crate::transfer::upload::write_remote). The output is
    /// written first to a folder inside it that no other user can enter. Default `None`: `TMPDIR`, or else the user's cache
    /// folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
}

impl PushOptions {
    /// The folder in which an output is written first: [`scratch`](Self::scratch), or its default.
    #[doc(hidden)]
    pub fn scratch_folder(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(private::for_scratch)
    }
}

/// The report of [`push`](crate::transfer::upload::push). `vidrec push --json` prints the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct PushReport {
    /// The location of the data set.
    pub output: String,
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of shards.
    pub shards: u64,
    /// Total size of the record files, indexes and list of failures in bytes.
    pub bytes: u64,
    /// Bytes of `bytes` that were at the location before, from an interrupted push or another data set.
    pub kept_bytes: u64,
    /// Whether the location had this data set already, so that there was nothing to do.
    pub found: bool,
    /// Objects of a replaced data set that were removed.
    pub removed: u64,
    /// Steps that failed after the data set was published.
    pub notes: Vec<String>,
    /// Counters of requests, retries and so on.
    pub remote: RemoteStats,
}

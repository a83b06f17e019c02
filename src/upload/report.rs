//! What was uploaded.

use serde::Serialize;

use crate::RemoteStats;

/// The report of [`push`](crate::push). `vidrec push --json` prints the same.
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
    /// Bytes of them that were there before, from an interrupted push or another data set.
    pub kept_bytes: u64,
    /// Whether this data set was there already, so that nothing was to be done.
    pub found: bool,
    /// Objects of a replaced data set that were removed.
    pub removed: u64,
    /// What could not be done after the data set was published.
    pub notes: Vec<String>,
    /// Requests, retries and so on.
    pub remote: RemoteStats,
}

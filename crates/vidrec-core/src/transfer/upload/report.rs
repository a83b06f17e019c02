//! The report of a push.

use serde::Serialize;

use crate::store::storage::RemoteStats;

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

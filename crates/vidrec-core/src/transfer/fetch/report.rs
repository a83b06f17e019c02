//! The report of a fetch.

use serde::Serialize;

use crate::store::storage::RemoteStats;

/// The report of [`fetch`](crate::transfer::fetch::fetch()). `vidrec fetch --json` prints the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct FetchReport {
    /// The folder of the copy.
    pub output: String,
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of shards.
    pub shards: u64,
    /// Total size of the record files, indexes and list of failures in bytes.
    pub bytes: u64,
    /// Bytes of `bytes` that were in the folder before, from an interrupted fetch or an earlier copy, and were proven
    /// again.
    pub kept_bytes: u64,
    /// Counters of the network traffic.
    pub remote: RemoteStats,
    /// Parts of a replaced data set that could not be cleaned up, in words. Usually empty. The copy is complete, and
    /// the next write in its folder cleans up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

//! What was fetched.

use serde::Serialize;

use crate::RemoteStats;

/// The report of [`fetch`](crate::fetch). `vidrec fetch --json` prints the same.
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
    /// Bytes of them that were in the folder before, from an interrupted fetch or an earlier copy, and were proven again.
    pub kept_bytes: u64,
    /// What went over the network.
    pub remote: RemoteStats,
    /// What could not be cleaned up of a data set that was replaced, in words. The copy is complete, and the next write or
    /// repair in its folder cleans up. Empty as a rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

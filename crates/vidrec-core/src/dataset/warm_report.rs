//! The report of warming a data set.

use serde::Serialize;

use crate::store::storage::RemoteStats;

/// The report of [`Dataset::warm`](crate::dataset::Dataset::warm). `vidrec cache warm --json` prints the same.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct WarmReport {
    /// Number of clips.
    pub clips: u64,
    /// Bytes of their records, or of all files if the data set is local.
    pub bytes: u64,
    /// Bytes of `bytes` that were in the cache before. Always 0 for local data sets.
    pub kept_bytes: u64,
    /// Number of clips that are not completely in the cache, because it has no room for them.
    pub missing_clips: u64,
    /// Bytes of the records, and of the indexes, that the cache has no room for.
    pub missing_bytes: u64,
    /// The most bytes that the cache may hold. `None` for local data sets.
    pub cache_bytes: Option<u64>,
    /// Counters of what was fetched so far, as in [`Dataset::remote_stats`](crate::dataset::Dataset::remote_stats).
    pub remote: RemoteStats,
}

//! How an output is written.

use crate::dataset::writer::Sharding;

/// How an output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditOptions {
    /// How clips are spread over shards. Default `None`: a shard ends where a shard of the input ends, but a few clips of
    /// each of many shards share one.
    pub shards: Option<Sharding>,
    /// Replace an existing data set. Off by default: an existing data set is an error.
    pub overwrite: bool,
}

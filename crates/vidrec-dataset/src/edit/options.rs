//! How an output is written.

use crate::writer::Sharding;

/// How an output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditOptions {
    /// How clips are spread over shards. Default `None`: a shard ends where the shard of its clips ends in the input.
    pub shards: Option<Sharding>,
    /// Replace an existing data set. Off by default: an existing data set is an error.
    pub overwrite: bool,
}

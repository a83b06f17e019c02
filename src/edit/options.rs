//! How an output is written.

use crate::writer::Sharding;

/// How an output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditOptions {
    /// How clips are spread over shards. Default `None`: a shard ends where the shard that its clips come from ends.
    pub shards: Option<Sharding>,
    /// Replace a data set that is already there. Off by default: then it is an error.
    pub overwrite: bool,
}

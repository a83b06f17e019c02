//! How edits write their outputs.

/// How the clips of an output go to its shards, always in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharding {
    /// A shard ends where the shard that its clips come from ends. The default.
    #[default]
    AsInput,
    /// This many shards with the same number of clips each, give or take one. There are never more shards than clips.
    Count(u32),
    /// A shard ends before the clip that would make its record file longer than this many bytes.
    Bytes(u64),
}

/// How an output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditOptions {
    /// How clips go to shards.
    pub shards: Sharding,
    /// Replace a data set that is already there. Off by default: then it is an error.
    pub overwrite: bool,
}

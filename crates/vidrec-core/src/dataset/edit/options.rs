//! The options and the report of an edit.

use serde::Serialize;

use crate::dataset::writer::Sharding;

/// Options of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EditOptions {
    /// The distribution of clips over shards. Default `None`: a shard ends where a shard of the input ends, but a few clips of
    /// each of many shards share one.
    pub shards: Option<Sharding>,
    /// Replace an existing data set. Off by default: an existing data set is an error.
    pub overwrite: bool,
}

/// The report of an edit. The program prints the same with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EditReport {
    /// The folder of the output.
    pub output: String,
    /// Number of clips written.
    pub clips: u64,
    /// Number of frames written.
    pub frames: u64,
    /// Bytes of record and index files together.
    pub bytes: u64,
    /// Number of shards written.
    pub shards: u64,
    /// Clips of the inputs that are not in this output.
    pub left_out: u64,
    /// Names in a list or a table that the data set does not have, in the order of the list.
    pub not_found: Vec<String>,
    /// Other notes: settings that differ, parts that were not copied.
    pub notes: Vec<String>,
    /// The size of the data set after an append. `None` for other edits, which write all of the data set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<DatasetSize>,
    /// Parts of a replaced data set that could not be cleaned up, in words. Usually empty. The output is complete,
    /// and the next write in its folder cleans up. If there are several outputs, the first report has it
    /// for all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// The size of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DatasetSize {
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
}

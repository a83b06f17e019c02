//! What an edit has written.

use serde::Serialize;

/// What was written. This is also what the program prints with `--json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
    /// What a list or a table names but the data set does not have, in the order of the list.
    pub not_found: Vec<String>,
    /// What else is worth knowing: settings that differ, things that were not copied.
    pub notes: Vec<String>,
    /// Of an append: the data set with what was added. `None` for other edits, which write the whole data set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<WholeSize>,
}

/// The size of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WholeSize {
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
}

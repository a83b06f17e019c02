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
    /// Of a retile: what became of the JPEGs. `None` for other edits, which copy them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retiled: Option<RetileReport>,
    /// What could not be cleaned up of a data set that was replaced, in words. The output is complete, and the next write or
    /// repair in its folder cleans up. Empty as a rule. Of several outputs, the first one has it for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// What a retile has made of JPEGs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RetileReport {
    /// Bytes of all JPEGs before.
    pub jpeg_bytes_before: u64,
    /// Bytes of all JPEGs now.
    pub jpeg_bytes: u64,
    /// Clips that have other JPEGs now. The others stay as they are, because theirs would not be smaller.
    pub changed_clips: u64,
    /// Frames that have tiles now, and had none before.
    pub tiled: u64,
    /// Frames that stay as they are because their JPEGs are not 4:2:0 with 8 bits, or are such as no encoder writes.
    pub unfit: u64,
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

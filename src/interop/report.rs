//! The reports of imports and exports.

use serde::Serialize;

use crate::Dataset;
use crate::disk::WrittenFolder;

/// What an import wrote, and what it skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Total size of the record files and index files in bytes; for an import in place, of the index files.
    pub bytes: u64,
    /// Frames that were rewritten with restart markers.
    pub retiled: u64,
    /// Frames that could not be rewritten with restart markers, because tiles need 4:2:0 and 8 bits.
    pub not_retiled: u64,
    /// Images of another format that were encoded as JPEGs.
    pub reencoded: u64,
    /// What was skipped, and why.
    pub left_out: Vec<LeftOut>,
    /// Notes that are not problems.
    pub notes: Vec<String>,
}

/// Something that an import skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The file, clip or range.
    pub source: String,
    /// Why it was skipped.
    pub error: String,
}

/// What an export wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of files.
    pub files: u64,
    /// Total size of these files in bytes, except for links to existing files.
    pub bytes: u64,
    /// Notes that are not problems.
    pub notes: Vec<String>,
}

impl ExportReport {
    /// The report on all clips of a data set, written to a folder.
    pub(super) fn new(dataset: &Dataset, written: WrittenFolder) -> Self {
        let (clips, frames) = (dataset.len(), dataset.frame_count());
        ExportReport { clips, frames, files: written.files, bytes: written.bytes, notes: Vec::new() }
    }
}

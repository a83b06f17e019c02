//! What an import or an export did.

use serde::Serialize;

use crate::Dataset;
use crate::disk::WrittenFolder;

/// What an import wrote, and what it left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Number of clips.
    pub clips: u64,
    /// Number of frames.
    pub frames: u64,
    /// Bytes of record and index files together; for an import in place, of the index files.
    pub bytes: u64,
    /// Frames that were rewritten with restart markers.
    pub retiled: u64,
    /// Frames that were to be rewritten and are as they were, since tiles need 4:2:0 and 8 bits.
    pub not_retiled: u64,
    /// Pictures of another format that were encoded as JPEGs.
    pub reencoded: u64,
    /// What is not in the data set, and why.
    pub left_out: Vec<LeftOut>,
    /// What is good to know and wrong with nothing.
    pub notes: Vec<String>,
}

/// Something that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The file, clip or stretch.
    pub source: String,
    /// Why.
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
    /// Bytes of these files, but for links to files that were there.
    pub bytes: u64,
    /// What is good to know and wrong with nothing.
    pub notes: Vec<String>,
}

impl ExportReport {
    /// That of all clips, in a folder.
    pub(super) fn new(dataset: &Dataset, written: WrittenFolder) -> Self {
        let (clips, frames) = (dataset.len(), dataset.frame_count());
        ExportReport { clips, frames, files: written.files, bytes: written.bytes, notes: Vec::new() }
    }
}

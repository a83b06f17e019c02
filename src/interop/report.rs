//! The reports of imports and exports.

use serde::Serialize;

use crate::{Dataset, Result};
use vidrec_core::store::disk::WrittenFolder;

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// The number of clips.
    pub clips: u64,
    /// The number of frames.
    pub frames: u64,
    /// The total size of the record files and index files in bytes.
    pub bytes: u64,
    /// The number of frames that were rewritten with restart markers.
    pub retiled: u64,
    /// The number of frames that could not be rewritten with restart markers, because tiles need 4:2:0 and 8 bits.
    pub not_retiled: u64,
    /// The skipped parts, each with its reason.
    pub left_out: Vec<SkippedClip>,
    /// The leftovers of a replaced data set that could not be removed, in words.
    ///
    /// The new data set is complete, and the next write in its folder removes them. Normally empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// Something that an import skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedClip {
    /// The file, clip or range.
    pub source: String,
    /// Why it was skipped.
    pub error: String,
}

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// The number of clips.
    pub clips: u64,
    /// The number of frames.
    pub frames: u64,
    /// The number of files.
    pub files: u64,
    /// The total size of these files in bytes, without links to existing files.
    pub bytes: u64,
    /// The names of the data set's tracks that are not in the export, because the format has no room for tracks.
    pub tracks_left_out: Vec<String>,
    /// Notes that are not problems.
    pub notes: Vec<String>,
}

impl ExportReport {
    /// Creates the report on all clips of a data set that were written, without their tracks, to a folder.
    pub(super) fn without_tracks(dataset: &Dataset, written: WrittenFolder) -> Result<Self> {
        let tracks_left_out = dataset.tracks()?.into_iter().map(|track| track.name).collect();
        let (clips, frames) = (dataset.len(), dataset.frame_count());
        Ok(ExportReport {
            clips,
            frames,
            files: written.files,
            bytes: written.bytes,
            tracks_left_out,
            notes: Vec::new(),
        })
    }
}

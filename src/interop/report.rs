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
    /// The total size of the record files and index files in bytes. For an import in place, of the index files.
    pub bytes: u64,
    /// The number of frames that were rewritten with restart markers.
    pub retiled: u64,
    /// The number of frames that could not be rewritten with restart markers, because tiles need 4:2:0 and 8 bits.
    pub not_retiled: u64,
    /// The number of images of another format that were encoded as JPEGs.
    pub reencoded: u64,
    /// The skipped parts, each with its reason.
    pub left_out: Vec<LeftOut>,
    /// Notes that are not problems.
    pub notes: Vec<String>,
    /// The leftovers of a replaced data set that could not be removed, in words.
    ///
    /// The new data set is complete, and the next write in its folder removes them. Normally empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

/// Something that an import skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
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
    /// Creates the report on all clips of a data set that were written to a folder.
    pub(super) fn new(dataset: &Dataset, written: WrittenFolder) -> Self {
        let (clips, frames) = (dataset.len(), dataset.frame_count());
        ExportReport { clips, frames, files: written.files, bytes: written.bytes, ..ExportReport::default() }
    }

    /// Counts this many clips as not exported, because they have no frames, and says so in a note.
    pub(super) fn without_frames(mut self, clips: u64) -> Self {
        if clips > 0 {
            self.clips -= clips;
            self.notes.push(format!("{clips} clips without frames are not in the export, which has no room for them"));
        }
        self
    }

    /// Returns a note for the user about tracks that are not in the export; `None` if there are none.
    ///
    /// ```
    /// let report = vidrec::interop::ExportReport { tracks_left_out: vec!["action".into()], ..Default::default() };
    /// let note = report.left_out_note("for-mxnet").unwrap();
    /// assert_eq!(note, "tracks are not in for-mxnet, because the format has no room for them: action");
    /// ```
    pub fn left_out_note(&self, export: &str) -> Option<String> {
        let tracks = self.tracks_left_out.join(", ");
        let note = format!("tracks are not in {export}, because the format has no room for them: {tracks}");
        (!self.tracks_left_out.is_empty()).then_some(note)
    }
}

/// Returns the names of all tracks of a data set, for formats that have no room for them.
pub(super) fn track_names(dataset: &Dataset) -> Result<Vec<String>> {
    Ok(dataset.tracks()?.into_iter().map(|track| track.name).collect())
}

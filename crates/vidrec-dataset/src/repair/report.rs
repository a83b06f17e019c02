//! The options and the report of [`repair`](crate::repair::repair()).

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, json};

use vidrec_format::json_object::JsonObject;

/// Options of [`repair`](crate::repair::repair()).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairOptions {
    /// Write the intact clips to this folder as a new data set. By default, the data set itself is repaired, which is
    /// possible as long as its record files are intact.
    pub output: Option<PathBuf>,
    /// Only find out what can be saved, and write nothing.
    pub dry_run: bool,
    /// Save only clips that a checksum proves to be intact.
    pub proven_only: bool,
    /// Replace an existing data set in `output`.
    pub overwrite: bool,
}

/// The report of [`repair`](crate::repair::repair()). `vidrec repair --json` prints the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Whether the data set was intact.
    pub whole: bool,
    /// The number of clips that the data set had, as far as it is known.
    pub clips: u64,
    /// Clips with all their frames. They are in the repaired data set.
    pub salvaged: u64,
    /// Lost clips, in order.
    pub lost: Vec<LostClip>,
    /// Salvaged clips that lost something other than their images and label, in order.
    pub partly_lost: Vec<PartlyLost>,
    /// What is wrong with the files.
    pub damage: Vec<String>,
    /// Whether nothing was written because clips are lost or record files are damaged. A repair then needs an output
    /// folder, or a new import of the files in `needs_import`.
    pub needs_output: bool,
    /// Record files of another program whose index is lost, completely or in part, so that nothing says which records
    /// form a clip. `vidrec import mxnet` rebuilds the index.
    pub needs_import: Vec<String>,
    /// What was written. Empty after a dry run, or if the data set was intact.
    pub written: Vec<String>,
    /// Old files that could not be cleaned up, in words. Usually empty. The data set is complete, and the next write
    /// or repair in its folder cleans up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

impl RepairReport {
    /// Whether everything in the data set was saved or was intact.
    pub fn lost_nothing(&self) -> bool {
        self.lost.is_empty() && self.partly_lost.is_empty() && self.needs_import.is_empty()
    }
}

/// A lost clip, or several consecutive clips of which nothing is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostClip {
    /// Name of the shard's record file.
    pub shard: String,
    /// Ordinal of the clip in its shard.
    pub clip: u64,
    /// The number of clips, starting with that one.
    pub clips: u64,
    /// Its source, if still known.
    pub source: Option<String>,
    /// Its label, if it has one and it is still known.
    pub label: Option<u32>,
    /// Its damaged or missing frames, if known.
    pub frames: Vec<u32>,
    /// Why it is lost.
    pub reason: String,
}

/// A clip that was saved without some of its metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartlyLost {
    /// Name of the shard's record file.
    pub shard: String,
    /// Ordinal of the clip in its shard.
    pub clip: u64,
    /// Its source, if still known.
    pub source: Option<String>,
    /// What is lost. The clip's attribute `repair` says the same.
    pub repair: JsonObject,
}

/// What a salvaged clip has lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Source and class. If there are class names, the label tells the class again.
    pub names: bool,
    pub attributes: bool,
    /// All presentation times and source indexes, and whether the clip is short.
    pub times: bool,
    /// Frames whose time and source index are lost.
    pub frame_times: Vec<u32>,
    /// No checksum proves the images or the label.
    pub unproven: bool,
    /// Names of lost tracks; `*` for all, if their names are lost.
    pub tracks: Vec<String>,
}

impl Losses {
    /// As an object; empty if nothing is lost.
    pub fn to_json(&self) -> JsonObject {
        let mut lost = Vec::new();
        for (is_lost, what) in [
            (self.names, "source"),
            (self.names || self.attributes, "attributes"),
            (self.times, "times"),
            (self.times, "short"),
        ] {
            lost.extend(is_lost.then_some(what));
        }
        let mut object = Map::new();
        if !lost.is_empty() {
            object.insert("lost".into(), json!(lost));
        }
        if !self.frame_times.is_empty() {
            object.insert("frames_without_time".into(), json!(self.frame_times));
        }
        if !self.tracks.is_empty() {
            object.insert("tracks".into(), json!(self.tracks));
        }
        if self.unproven {
            object.insert("unproven".into(), true.into());
        }
        JsonObject(object)
    }
}

//! What [`repair`](crate::repair) is asked and what it answers.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value, json};

/// How [`repair`](crate::repair) works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairOptions {
    /// Write what is intact to this folder, as a new data set. Off by default: then the data set itself is repaired,
    /// which is possible as long as its record files are whole.
    pub output: Option<PathBuf>,
    /// Only find out what can be saved.
    pub dry_run: bool,
    /// Leave out clips that no checksum proves.
    pub proven_only: bool,
    /// Replace a data set that is in `output` already.
    pub overwrite: bool,
}

/// What [`repair`](crate::repair) found and did. This is also what `vidrec repair --json` prints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// Whether nothing was wrong.
    pub whole: bool,
    /// Clips that there were, as far as anything says.
    pub clips: u64,
    /// Clips with all their frames, which are in the repaired data set.
    pub salvaged: u64,
    /// Clips that are lost, in order.
    pub lost: Vec<LostClip>,
    /// Clips among the salvaged of which something beside the pictures and the label is lost, in order.
    pub partly_lost: Vec<PartlyLost>,
    /// What is wrong with the files.
    pub damage: Vec<String>,
    /// Whether nothing was written because clips are lost or record files are damaged: then it takes an output folder, or
    /// for the files in `needs_import` that.
    pub needs_output: bool,
    /// Record files of another program of which the index is lost, whole or in part, so that nothing says what is a clip:
    /// `vidrec import mxnet` makes the index anew.
    pub needs_import: Vec<String>,
    /// What was written; nothing after a dry run, or when nothing was wrong.
    pub written: Vec<String>,
}

impl RepairReport {
    /// Whether everything that the data set held was saved, or was never in danger.
    pub fn lost_nothing(&self) -> bool {
        self.lost.is_empty() && self.partly_lost.is_empty() && self.needs_import.is_empty()
    }
}

/// A clip that is lost, or several of which nothing is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostClip {
    /// Name of the shard's record file.
    pub shard: String,
    /// Ordinal of the clip in its shard.
    pub clip: u64,
    /// How many clips, from that one on.
    pub clips: u64,
    /// Its source, if that is still known.
    pub source: Option<String>,
    /// Its label, if it has one that is still known.
    pub label: Option<u32>,
    /// Which of its frames are damaged or missing, if that is known.
    pub frames: Vec<u32>,
    /// Why it is lost.
    pub reason: String,
}

/// A clip that was saved without some of what was known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartlyLost {
    /// Name of the shard's record file.
    pub shard: String,
    /// Ordinal of the clip in its shard.
    pub clip: u64,
    /// Its source, if that is still known.
    pub source: Option<String>,
    /// What is lost: also in the clip's attributes, under `repair`.
    pub repair: Value,
}

/// What is lost of a clip that was salvaged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Source and class, which is known again by the label where there are class names.
    pub names: bool,
    pub attributes: bool,
    /// All presentation times, source indexes and whether the clip is short.
    pub times: bool,
    /// Frames whose time and source index are lost.
    pub frame_times: Vec<u32>,
    /// No checksum proves the pictures or the label.
    pub unproven: bool,
}

impl Losses {
    /// As an object; empty if nothing is lost.
    pub fn to_json(&self) -> Map<String, Value> {
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
        if self.unproven {
            object.insert("unproven".into(), true.into());
        }
        object
    }
}

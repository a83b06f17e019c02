//! The options and the report of [`repair`](crate::dataset::repair::repair()).

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

/// Options of [`repair`](crate::dataset::repair::repair()).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairOptions {
    /// Write the intact clips to this folder as a new data set. By default, only the report is made.
    pub output: Option<PathBuf>,
    /// Replace an existing data set in `output`.
    pub overwrite: bool,
}

/// The report of [`repair`](crate::dataset::repair::repair()). `vidrec repair --json` prints the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// The number of clips that the data set had, as far as it is known.
    pub clips: u64,
    /// Clips with all their frames. They are in the new data set, if there is one.
    pub saved: u64,
    /// Lost clips, in order.
    pub lost: Vec<DamagedClip>,
    /// Saved clips that lost something other than their images and label, in order.
    pub partly_lost: Vec<DamagedClip>,
    /// What is wrong with whole files.
    pub damage: Vec<String>,
    /// The folder of the new data set. `None` if nothing was written.
    pub output: Option<PathBuf>,
    /// Files of a replaced data set that could not be cleaned up, in words. Usually empty. The new data set is
    /// complete, and the next write in its folder cleans up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<String>,
}

impl RepairReport {
    /// Whether all clips can be saved, with everything that belongs to them.
    pub fn lost_nothing(&self) -> bool {
        self.lost.is_empty() && self.partly_lost.is_empty() && (self.clips > 0 || self.damage.is_empty())
    }
}

/// A clip of which something is lost, or several consecutive clips of which nothing is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamagedClip {
    /// Name of the shard's record file.
    pub shard: String,
    /// Ordinal of the clip in its shard.
    pub clip: u64,
    /// The number of clips, starting with that one.
    pub clips: u64,
    /// Its source; empty if it is not known any more.
    pub source: String,
    /// Why the clip is lost, in words; or for a saved clip an object that says what of it is lost, as its attribute `repair`
    /// does.
    pub what: Value,
}

/// What a saved clip has lost.
#[derive(Debug, Default, Serialize)]
pub(super) struct Losses {
    /// `source` (with the class, which the label tells again if there are class names), `attributes`, and `times`: all
    /// presentation times and source indexes, and whether the clip is short.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<&'static str>,
    /// Names of lost tracks; `*` for all, if their names are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<String>,
    /// No checksum proves the images or the label.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
}

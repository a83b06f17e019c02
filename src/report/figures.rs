//! All figures about some data sets: what `vidrec report --json` prints.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compare::Comparison;
use super::distribution::Distribution;
use crate::check::FindingKind;
use crate::{Fingerprint, JsonObject, Stats};

/// The figures that [`report`](super::report()) returns. `vidrec report --json` prints the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Title of the page.
    pub title: String,
    /// Bytes of the page; 0 if none was written.
    pub page_bytes: u64,
    /// What the page shows; `None` if none was written.
    pub shown: Option<Shown>,
    /// The data sets, in the order in which they were given.
    pub sets: Vec<SetFigures>,
    /// How their clips are spread, in bins that all share.
    pub distributions: Vec<Distribution>,
    /// How each data set differs from the first.
    pub comparisons: Vec<Comparison>,
    /// What was checked; `None` if nothing was.
    pub checked: Option<Checked>,
    /// The number of findings of each kind among the clips that were checked; `None` if none was.
    pub findings: Option<BTreeMap<FindingKind, u64>>,
    /// What a reader has to know: which clips are shown, at which size, and whether they were checked.
    pub notes: Vec<String>,
}

/// A data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetFigures {
    /// What the page calls it.
    pub name: String,
    /// Bytes of its record files.
    pub bytes: u64,
    /// What identifies it.
    pub fingerprint: Fingerprint,
    /// The program that wrote it.
    pub tool: String,
    /// Versions of FFmpeg's libraries, if video was decoded.
    pub ffmpeg: Option<String>,
    /// The options that determined the bytes.
    pub settings: JsonObject,
    /// The number of consecutive clips that are draws of one video.
    pub draws: u32,
    /// What `vidrec stats` says.
    pub stats: Stats,
}

/// What was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// Number of clips: all, or those that the page shows.
    pub clips: u64,
    /// Number of clips of all data sets.
    pub of_clips: u64,
    /// Number of their frames that were decoded.
    pub frames: u64,
}

/// What a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Shown {
    /// Number of clips.
    pub clips: u64,
    /// Number of clips of all data sets.
    pub of_clips: u64,
    /// Height of their frames in pixels, at most.
    pub height: u32,
    /// Frames of each clip, at most.
    pub frames: u32,
    /// JPEG quality.
    pub quality: u8,
}

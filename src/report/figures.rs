//! Data sets, and all figures about them: what `vidrec browse --export FILE --json` prints.

use std::collections::BTreeMap;

use serde::Serialize;

use super::check::FindingKind;
use crate::{Dataset, Fingerprint, JsonObject, Result, Stats, stats_of};

/// A data set, and its name on the page.
#[derive(Debug, Clone)]
pub struct NamedSet {
    /// The name of the data set on the page, such as its path.
    pub name: String,
    /// The data set.
    pub set: Dataset,
}

/// The figures that [`report`](super::report()) returns. `vidrec browse --export FILE --json` prints the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// The size of the page in bytes; 0 if none was written.
    pub page_bytes: u64,
    /// The extent of what the page shows; `None` if no page was written.
    pub shown: Option<PageExtent>,
    /// The data sets, in the order in which they were given.
    pub sets: Vec<SetFigures>,
    /// The extent of the check; `None` if nothing was checked.
    pub checked: Option<Checked>,
    /// The number of findings of each kind among the clips that were checked; `None` if none was.
    pub findings: Option<BTreeMap<FindingKind, u64>>,
    /// Notes for the reader: which clips are shown, at which size, and whether they were checked.
    pub notes: Vec<String>,
}

/// A data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetFigures {
    /// The name of the data set on the page.
    pub name: String,
    /// The size of its record files in bytes.
    pub bytes: u64,
    /// The fingerprint that identifies it.
    pub fingerprint: Fingerprint,
    /// The program that wrote it.
    pub tool: String,
    /// The versions of FFmpeg's libraries, if video was decoded.
    pub ffmpeg: Option<String>,
    /// The options that determined the bytes.
    pub settings: JsonObject,
    /// The number of consecutive clips that are draws of one video.
    pub draws: u32,
    /// The statistics of `vidrec inspect --stats`, with distributions in bins that all data sets share.
    pub stats: Stats,
}

/// The extent of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// The number of checked clips: all, or those that the page shows.
    pub clips: u64,
    /// The number of clips of all data sets.
    pub of_clips: u64,
    /// The number of decoded frames of these clips.
    pub frames: u64,
}

/// The extent of what a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PageExtent {
    /// The number of clips.
    pub clips: u64,
    /// The number of clips of all data sets.
    pub of_clips: u64,
    /// The largest height of their frames in pixels.
    pub height: u32,
    /// The most frames shown of each clip.
    pub frames: u32,
    /// The JPEG quality of the strips.
    pub quality: u8,
}

/// Returns the figures of data sets, with distributions in bins that all of them share.
pub(super) fn all_figures(sets: &[NamedSet]) -> Result<Vec<SetFigures>> {
    let stats = stats_of(&sets.iter().map(|set| set.set.clone()).collect::<Vec<_>>())?;
    let figures = |(NamedSet { name, set }, stats): (&NamedSet, Stats)| {
        let json = set.to_json();
        SetFigures {
            name: name.clone(),
            bytes: json.bytes,
            fingerprint: set.fingerprint(),
            tool: json.tool,
            ffmpeg: json.ffmpeg,
            settings: json.settings,
            draws: set.draws(),
            stats,
        }
    };
    Ok(sets.iter().zip(stats).map(figures).collect())
}

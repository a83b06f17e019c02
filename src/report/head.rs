//! Collects the data of a page, besides its clips, for its script.

use std::collections::BTreeMap;

use serde::Serialize;

use super::class_balance::ClassBalance;
use super::figures::{Checked, Report, SetFigures};
use super::findings::Group;
use crate::report::check::CheckReport;
use vidrec_core::dataset::Distribution;
use vidrec_format::json_object::JsonObject;

/// Everything on the page except its clips.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    title: &'a str,
    /// Identifies the page where the browser stores flags.
    key: String,
    sets: Vec<PageSet<'a>>,
    classes: ClassBalance<'a>,
    checked: Option<Checked>,
    findings: Option<Vec<Group<'a>>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct PageSet<'a> {
    name: &'a str,
    clips: u64,
    frames: u64,
    shards: u64,
    seconds: f64,
    bytes: u64,
    epoch_bytes: u64,
    epoch_rgb_bytes: u64,
    classes: usize,
    digest: &'a str,
    tool: &'a str,
    ffmpeg: Option<&'a str>,
    draws: u32,
    short_clips: u64,
    repeated_frames: u64,
    repaired_clips: u64,
    video_notes: &'a BTreeMap<String, (u64, u64)>,
    distributions: &'a [Distribution],
    settings: &'a JsonObject,
}

impl<'a> PageSet<'a> {
    fn of(set: &'a SetFigures) -> Self {
        let stats = &set.stats;
        PageSet {
            name: &set.name,
            clips: stats.clips,
            frames: stats.frames,
            shards: stats.shards,
            seconds: stats.seconds,
            bytes: set.bytes,
            epoch_bytes: stats.epoch_bytes,
            epoch_rgb_bytes: stats.epoch_rgb_bytes,
            classes: stats.classes.iter().filter(|class| class.label.is_some() && class.clips > 0).count(),
            digest: &set.fingerprint.digest,
            tool: &set.tool,
            ffmpeg: set.ffmpeg.as_deref(),
            draws: set.draws,
            short_clips: stats.short_clips,
            repeated_frames: stats.repeated_frames,
            repaired_clips: stats.repaired_clips,
            video_notes: &stats.video_notes,
            distributions: &stats.distributions,
            settings: &set.settings,
        }
    }
}

impl<'a> Head<'a> {
    /// Creates the data with at most `most` findings of each kind.
    pub fn of(report: &'a Report, found: Option<&'a CheckReport>, most: usize) -> Self {
        let digests: Vec<&str> = report.sets.iter().map(|set| set.fingerprint.digest.as_str()).collect();
        Head {
            title: &report.title,
            key: digests.join("+"),
            sets: report.sets.iter().map(PageSet::of).collect(),
            classes: ClassBalance::of(&report.sets),
            checked: report.checked,
            findings: found.map(|found| Group::all(found, most)),
            notes: &report.notes,
        }
    }
}

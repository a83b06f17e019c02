//! The contents of `plan.json`.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::options::PackOptions;
use crate::plan::{ManifestColumns, PassedOver};
use crate::track::PlannedTrack;
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::meta::Meta;
use vidrec_format::names;

/// The form of the files in a plan's folder that this version writes and reads.
pub(super) const FORM: u32 = 1;

/// A plan without its videos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PlanJson {
    pub form: u32,
    /// The version of vidrec that must pack the parts.
    pub tool: String,
    /// The versions of FFmpeg's libraries that must decode.
    pub ffmpeg: Option<String>,
    /// The options that determine the bytes, as `dataset.json` will have them.
    pub settings: JsonObject,
    /// What the clips are packed from, as `dataset.json` will have it.
    pub packed_from: JsonObject,
    /// All options that decide what a video becomes, or whether a part fails.
    pub options: JsonObject,
    pub classes: Vec<String>,
    pub videos: u64,
    /// The name of the list of videos, if it is not `jobs.jsonl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<String>,
    /// The parts in order, one after the other.
    pub parts: Vec<PlannedPart>,
    /// Whether only videos that failed before are packed. The others are copied from an existing data set.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub retries: bool,
    pub passed_over: Vec<PassedOver>,
    pub manifests: Vec<ManifestColumns>,
    pub notes: Vec<String>,
    /// The type and shape of each track.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<PlannedTrack>,
    /// The number of channels of all sound, if the first video with sound decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<u32>,
}

/// A range of the videos, and of the lines of `jobs.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlannedPart {
    /// The place of its first video.
    pub first: u64,
    pub videos: u64,
    /// The offset at which its lines begin.
    pub offset: u64,
    /// The number of bytes of its lines.
    pub bytes: u64,
    /// SHA-256 of its lines, in hexadecimal digits.
    pub sha256: String,
    /// Its expected cost, in bytes of video.
    pub cost: u64,
}

impl PlanJson {
    /// Checks that the parts follow one another and include all videos.
    pub fn check(&self) -> Result<()> {
        if self.form != FORM {
            return Err(Error::usage("another version of vidrec made the plan")
                .expected(format!("form {FORM}"))
                .found(format!("form {}", self.form))
                .help(format!("use {}, which made it, or plan again", self.tool)));
        }
        let is_name = |name: &String| names::stem(name) == "jobs" && name.ends_with(".jsonl");
        if !self.jobs.as_ref().is_none_or(is_name) {
            return Err(Error::usage("the plan names a different file as the list of its videos").found(self.jobs()));
        }
        let (mut videos, mut bytes) = (0u64, 0u64);
        for part in &self.parts {
            if part.first != videos || part.offset != bytes || part.videos == 0 {
                return Err(Error::usage("the parts of the plan do not follow one another"));
            }
            let sums = videos.checked_add(part.videos).zip(bytes.checked_add(part.bytes));
            (videos, bytes) = sums.ok_or_else(|| Error::usage("the parts of the plan are too large"))?;
        }
        if videos != self.videos || self.parts.is_empty() || self.parts.len() > u32::MAX as usize {
            return Err(Error::usage("the parts of the plan do not contain all of its videos"));
        }
        Ok(())
    }

    /// Returns the options, with the default resources.
    pub fn options(&self) -> Result<PackOptions> {
        PackOptions::from_map(self.options.0.clone())
    }

    /// Returns the name of the list of videos.
    pub fn jobs(&self) -> &str {
        self.jobs.as_deref().unwrap_or(names::PLANNED_JOBS)
    }

    /// Returns what the data set says about itself.
    pub fn meta(&self, draws: u32) -> Meta {
        Meta {
            classes: self.classes.clone(),
            tool: self.tool.clone(),
            ffmpeg: self.ffmpeg.clone(),
            settings: self.settings.clone(),
            packed_from: Some(self.packed_from.clone()),
            draws: Some(draws).filter(|&draws| draws > 1),
            ..Meta::default()
        }
    }
}

//! The contents of `plan.json`, and the lines of the list of its videos.

use std::collections::HashMap;
use std::fmt;
use std::ops::Not;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::options::PackOptions;
use crate::plan::{Job, ManifestColumns, PassedOver};
use crate::track::PlannedTrack;
use crate::work::{ChangedFile, Stamp, changed_file};
use vidrec_core::store::location::is_remote;
use vidrec_core::store::remote::{ListedObject, Opening, Remote, check_location};
use vidrec_core::store::storage::Storage;
use vidrec_core::threads::in_order;
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name;
use vidrec_format::json_object::JsonObject;
use vidrec_format::meta::Meta;

/// The form of the files in a plan's folder that this version writes and reads.
pub(super) const FORM: u32 = 2;

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
    /// The inputs that the clips are packed from, as `dataset.json` will have it.
    pub packed_from: JsonObject,
    /// All options that decide what a video becomes, or whether a part fails.
    pub options: JsonObject,
    pub classes: Vec<String>,
    pub videos: u64,
    /// The name of the list of videos.
    pub jobs: String,
    /// The parts in order, one after the other. Each becomes a shard.
    pub parts: Vec<PlannedPart>,
    /// Whether the list of videos says what identifies their files.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub stamps: bool,
    /// Whether only the shards of videos that failed before are packed. The others are in an existing data set.
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
}

/// A difference between the plan of a pack and the one that resumes it.
pub(super) struct Difference {
    pub what: String,
    pub then: String,
    pub now: String,
}

fn first_difference(all: impl IntoIterator<Item = (String, String, String)>) -> Option<Difference> {
    let found = all.into_iter().find(|(_, then, now)| then != now);
    found.map(|(what, then, now)| Difference { what, then, now })
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
        let is_name = |name: &String| file_name::stem(name) == "jobs" && name.ends_with(".jsonl");
        if !is_name(&self.jobs) {
            return Err(Error::usage("the plan names a different file as the list of its videos").found(&self.jobs));
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

    /// Returns the first difference between what determines the bytes of this plan and of `now`. The lists of videos are
    /// only compared by their digests.
    pub fn difference(&self, now: &Self) -> Option<Difference> {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".into());
        let task = |json: &Self| match (json.retries, json.stamps) {
            (true, _) => "retry what failed".to_owned(),
            (_, true) => "pack the parts of a plan".to_owned(),
            _ => "pack all".to_owned(),
        };
        let lists = |json: &Self| json.parts.iter().map(|part| part.sha256.get(..16).unwrap_or_default()).collect();
        first_difference([
            ("the version of vidrec".into(), self.tool.clone(), now.tool.clone()),
            ("FFmpeg".into(), text(&self.ffmpeg), text(&now.ffmpeg)),
            ("the task".into(), task(self), task(now)),
        ])
        .or_else(|| self.other_setting(now))
        .or_else(|| self.other_class(now))
        .or_else(|| {
            first_difference([
                ("the number of videos".into(), self.videos.to_string(), now.videos.to_string()),
                ("the list of videos".into(), lists(self), lists(now)),
            ])
        })
    }

    fn other_setting(&self, now: &Self) -> Option<Difference> {
        let text = |value: Option<&Value>| value.map_or("not set".into(), Value::to_string);
        let (then, now) = (&self.settings.0, &now.settings.0);
        let keys = then.keys().chain(now.keys().filter(|key| !then.contains_key(*key)));
        first_difference(keys.map(|key| (format!("the setting \"{key}\""), text(then.get(key)), text(now.get(key)))))
    }

    fn other_class(&self, now: &Self) -> Option<Difference> {
        let class = |json: &Self, i: usize| json.classes.get(i).map_or("none".into(), |class| format!("\"{class}\""));
        let most = self.classes.len().max(now.classes.len());
        first_difference((0..most).map(|i| (format!("class {i}"), class(self, i), class(now, i))))
    }

    /// Returns the options, with the default resources.
    pub fn options(&self) -> Result<PackOptions> {
        PackOptions::from_map(self.options.0.clone())
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

/// The number of videos to ask about at a time.
const AT_ONCE: usize = 64;

/// A line of `jobs.jsonl`.
#[derive(Serialize, Deserialize)]
pub(super) struct PlannedJob {
    /// The identities of the files when the plan was made. A pack on one machine reads the files as it finds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<InputStamps>,
    pub job: Job,
}

/// The identities of the files of a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct InputStamps {
    /// The size and time of the file. Absent if the file could not be looked at.
    pub video: Option<Stamp>,
    /// For a remote video, the answer of the server. Absent if the server was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectStamp>,
    /// The stamps of the files of its tracks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<Option<Stamp>>,
}

impl InputStamps {
    /// Returns the first file of a video that has changed.
    pub fn changed<'a>(&self, job: &'a Job) -> Option<ChangedFile<'a>> {
        changed_file(job, self.video, &self.tracks)
    }
}

/// The server's answer about a remote video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ObjectStamp {
    Missing,
    Object {
        /// Its length.
        bytes: u64,
        /// Its ETag, or else the time of its last change, or else an empty text.
        version: String,
    },
}

impl From<ListedObject> for ObjectStamp {
    fn from(ListedObject { bytes, version, .. }: ListedObject) -> Self {
        ObjectStamp::Object { bytes, version }
    }
}

impl ObjectStamp {
    pub fn bytes(&self) -> u64 {
        match self {
            ObjectStamp::Missing => 0,
            ObjectStamp::Object { bytes, .. } => *bytes,
        }
    }

    /// Requests one byte, as a reader of the video does, because some servers refuse requests for no data.
    fn of(remote: &Arc<Remote>, path: &Path) -> Result<Self> {
        match Opening::start_with(remote, path, 1).and_then(Opening::finish) {
            Ok(object) => Ok(ObjectStamp::Object { bytes: object.len(), version: object.version().to_owned() }),
            Err(e) if e.is_missing() => Ok(ObjectStamp::Missing),
            Err(e) => Err(e),
        }
    }
}

impl fmt::Display for ObjectStamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectStamp::Missing => f.write_str("no object"),
            ObjectStamp::Object { bytes, version } => write!(f, "{bytes} bytes, version {version}"),
        }
    }
}

/// Requests the stamps of all remote videos among these paths, each once and several at a time.
pub(super) fn look<'a>(
    paths: impl Iterator<Item = &'a Path>,
    storage: &Storage,
) -> Result<HashMap<&'a Path, ObjectStamp>> {
    // A path that is not a valid location fails when it is packed.
    let is_asked = |path: &&Path| is_remote(path) && check_location(path).is_ok();
    let mut remote: Vec<&Path> = paths.filter(is_asked).collect();
    remote.sort_unstable();
    remote.dedup();
    if remote.is_empty() {
        return Ok(HashMap::new());
    }
    let store = Remote::new(&Storage { cache: None, ..storage.clone() })?;
    let stamps = in_order(remote.len(), AT_ONCE, |i| ObjectStamp::of(&store, remote[i]))?;
    Ok(remote.into_iter().zip(stamps).collect())
}

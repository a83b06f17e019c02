//! An existing plan.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::{Not, Range};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::place::{PLAN, Place};
use super::receipt::Receipt;
use crate::options::{PackOptions, TOOL};
use crate::plan::{IgnoredFiles, Job, ManifestColumns, PackPlan};
use crate::track::PlannedTrack;
use crate::video::{self, FrameSize};
use crate::work::{FrameChoice, InputStamps, look};
use vidrec_core::dataset::writer::Sharding;
use vidrec_core::dataset::{OpenOptions, Source, listing};
use vidrec_core::store::storage::Storage;
use vidrec_core::threads::in_order;
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name;
use vidrec_format::json_object::JsonObject;
use vidrec_format::meta::Meta;
use vidrec_format::sampler::RateRule;

/// A pack that was divided into parts. See [`write_plan`](super::write_plan).
#[derive(Debug, Clone)]
pub struct PartsPlan {
    pub(super) place: Place,
    pub(super) json: PlanJson,
    /// SHA-256 of `plan.json`.
    pub(super) digest: String,
}

impl PartsPlan {
    /// Opens the plan of the data set in a folder, without reading its list of videos.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is no plan, or one of another version.
    /// [`Io`](vidrec_format::error::ErrorKind::Io): it cannot be read.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::open_at(dir, &Storage::default())
    }

    /// Opens the plan of a data set in a folder or in object storage, such as `s3://bucket/train`.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    ///
    /// ```no_run
    /// use vidrec::Storage;
    /// use vidrec::pack::{PartOptions, PartsPlan};
    ///
    /// let storage = Storage { options: [("region".into(), "eu-west-1".into())].into(), ..Storage::default() };
    /// let plan = PartsPlan::open_at("s3://bucket/train", &storage)?;
    /// plan.pack(0, &PartOptions::default(), &mut vidrec::no_progress)?;
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    pub fn open_at(location: impl AsRef<Path>, storage: &Storage) -> Result<Self> {
        Self::open_place(Place::of(location.as_ref(), storage)?)
    }

    pub(super) fn open_place(place: Place) -> Result<Self> {
        let none = || {
            let e = Error::usage("there is no plan here").file(&place.out).expected(format!("a file {PLAN}"));
            e.help("a plan is complete when this file exists, and goes when its parts are published").hint(Hint::Plan)
        };
        let bytes = place.read(PLAN)?.ok_or_else(none)?;
        let json: PlanJson = serde_json::from_slice(&bytes).map_err(|e| {
            Error::usage("this version of vidrec did not write this plan").file(place.path(PLAN)).found(e)
        })?;
        json.check().map_err(|e| e.file(place.path(PLAN)))?;
        Ok(PartsPlan { digest: hex(&Sha256::digest(&bytes)), place, json })
    }

    /// The number of parts. They are numbered from 0.
    pub fn parts(&self) -> u32 {
        self.json.parts.len() as u32
    }

    /// The number of videos in all parts.
    pub fn videos(&self) -> u64 {
        self.json.videos
    }

    pub(super) fn part(&self, part: u32) -> Result<&PlannedPart> {
        self.json.parts.get(part as usize).ok_or_else(|| {
            Error::usage(format!("the plan has no part {part}"))
                .file(&self.place.out)
                .expected(format!("a number from 0 to {}", self.parts() - 1))
        })
    }

    /// Refuses a program or decoders that could produce other bytes than those of the plan.
    pub(super) fn check_versions(&self) -> Result<()> {
        let other = |what: &str, then: &str, now: &str| {
            let e = Error::usage(format!("the plan was made with a different {what}, which may give different bytes"));
            e.file(&self.place.out).expected(then).found(now).help("use the same one on all machines, or plan again")
        };
        if self.json.tool != TOOL {
            return Err(other("version of vidrec", &self.json.tool, TOOL));
        }
        let (then, now) = (self.json.ffmpeg.as_deref().unwrap_or("none"), video::ffmpeg_version());
        if then != now { Err(other("FFmpeg", then, &now)) } else { Ok(()) }
    }

    /// Returns the receipt of a part, or `None` if the part is not done.
    pub(super) fn receipt(&self, part: u32) -> Result<Option<Receipt>> {
        let mut receipt = Receipt::read(&self.place, &self.digest, part)?;
        if let Some(receipt) = &mut receipt {
            receipt.report.videos = self.part(part)?.videos;
        }
        Ok(receipt)
    }

    /// Returns the receipts of all parts, in order.
    pub(super) fn receipts(&self) -> Result<Vec<Option<Receipt>>> {
        in_order(self.json.parts.len(), self.place.at_once(), |part| self.receipt(part as u32))
    }

    /// Returns the videos of a part, which must be unchanged since the plan was made.
    pub(super) fn jobs(&self, part: u32, storage: &Storage) -> Result<Vec<Job>> {
        let jobs = self.planned_jobs(part)?;
        for PlannedJob { stamps, job } in &jobs {
            if let Some((file, [then, now])) = stamps.as_ref().and_then(|stamps| stamps.changed(job)) {
                let e = is_another(file, then, now);
                return Err(e.help("copy videos with their times (cp -p, rsync -t), or plan again"));
            }
        }
        check_objects(&jobs, storage)?;
        Ok(jobs.into_iter().map(|planned| planned.job).collect())
    }

    /// Whether the plan says what identifies the files of its videos.
    pub(super) fn has_stamps(&self) -> bool {
        self.json.stamps
    }

    /// The places of the videos of a part.
    pub(super) fn range(&self, part: u32) -> Result<Range<u64>> {
        self.part(part).map(|planned| planned.first..planned.first + planned.videos)
    }

    /// Returns the first video that is not at its place in `jobs`.
    pub(super) fn first_other(&self, jobs: &[Job]) -> Result<Option<Difference>> {
        for part in 0..self.parts() {
            for (place, then) in (self.range(part)?.start..).zip(self.sources(part)?) {
                let now = usize::try_from(place).ok().and_then(|place| jobs.get(place));
                let now = now.map_or("none", |job| job.source.as_str());
                if now != then {
                    return Ok(Some(Difference { what: format!("video {place}"), then, now: now.to_owned() }));
                }
            }
        }
        Ok(None)
    }

    /// Returns the sources of the videos of a part.
    pub(super) fn sources(&self, part: u32) -> Result<impl Iterator<Item = String>> {
        Ok(self.planned_jobs(part)?.into_iter().map(|planned| planned.job.source))
    }

    fn planned_jobs(&self, part: u32) -> Result<Vec<PlannedJob>> {
        let planned = self.part(part)?;
        let bytes = self.place.read_range(&self.json.jobs, planned.offset, planned.bytes)?;
        let place = |e: Error| e.file(self.place.path(&self.json.jobs));
        if hex(&Sha256::digest(&bytes)) != planned.sha256 {
            let e = Error::usage(format!("the list of videos of part {part} is not the one that was planned"));
            return Err(place(e.expected(format!("lines with SHA-256 {}", planned.sha256)).help("plan again")));
        }
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let jobs = lines.map(|line| {
            serde_json::from_slice(line)
                .map_err(|e| place(Error::usage("a line in the list of videos does not describe a video").found(e)))
        });
        let jobs: Vec<PlannedJob> = jobs.collect::<Result<_>>()?;
        if jobs.len() as u64 != planned.videos {
            return Err(place(Error::usage("the number of videos differs").expected(planned.videos).found(jobs.len())));
        }
        Ok(jobs)
    }
}

/// Checks that the remote videos are those that were planned.
fn check_objects(jobs: &[PlannedJob], storage: &Storage) -> Result<()> {
    let asked =
        || jobs.iter().filter_map(|planned| Some((&*planned.job.path, planned.stamps.as_ref()?.object.as_ref()?)));
    let now = look(asked().map(|(path, _)| path), storage)?;
    for (path, then) in asked() {
        if let Some(now) = now.get(path).filter(|now| *now != then) {
            return Err(is_another(path, then, now).help("plan again"));
        }
    }
    Ok(())
}

fn is_another(file: &Path, then: impl Display, now: impl Display) -> Error {
    let e = Error::usage("the file has changed since the pack was planned").file(file);
    e.expected(then).found(now)
}

/// The progress of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanStatus {
    /// The number of parts.
    pub parts: u32,
    /// The number of parts that are done: their receipts exist.
    pub done: u32,
    /// The parts that are not done, in order. Attempts may be working on them.
    pub missing: Vec<u32>,
    /// The number of videos.
    pub videos: u64,
    /// The number of videos of the parts that are done.
    pub videos_done: u64,
    /// The number of videos that one attempt packs in a second, measured over the parts that are done. `None`
    /// before the first.
    pub videos_per_second: Option<f64>,
}

/// Checks how far the plan at a location has come. It changes nothing. Of a plan that has become a data set, all parts are
/// done.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io): the location cannot be read.
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is no plan, or a receipt is of another one.
pub fn plan_status(location: impl AsRef<Path>, storage: &Storage) -> Result<PlanStatus> {
    let location = location.as_ref();
    let none = match PartsPlan::open_at(location, storage) {
        Err(e) if e.hints().contains(&Hint::Plan) => e,
        plan => return plan?.status(),
    };
    let options: OpenOptions = storage.clone().into();
    let listing = Source::of(location, &options).and_then(|source| listing::read(&location.join(FILE_NAME), &source));
    let published = listing.map_err(|_| none)?;
    let failed = published.failures.map_or(0, |failures| failures.count);
    let videos = (published.clips / u64::from(published.draws.unwrap_or(1).max(1))).saturating_add(failed);
    let parts = published.shards.len() as u32;
    Ok(PlanStatus { parts, done: parts, missing: Vec::new(), videos, videos_done: videos, videos_per_second: None })
}

impl PartsPlan {
    fn status(&self) -> Result<PlanStatus> {
        let receipts = self.receipts()?;
        let missing: Vec<u32> =
            (0..).zip(&receipts).filter(|(_, receipt)| receipt.is_none()).map(|(part, _)| part).collect();
        let seconds: f64 = receipts.iter().flatten().map(|receipt| receipt.report.seconds).sum();
        let videos_done: u64 = receipts.iter().flatten().map(|receipt| receipt.report.videos()).sum();
        Ok(PlanStatus {
            parts: self.parts(),
            done: self.parts() - missing.len() as u32,
            missing,
            videos: self.videos(),
            videos_done,
            videos_per_second: (seconds > 0.0).then(|| videos_done as f64 / seconds),
        })
    }
}

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
    pub passed_over: Vec<IgnoredFiles>,
    pub manifests: Vec<ManifestColumns>,
    pub notes: Vec<String>,
    /// The type and shape of each track.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<PlannedTrack>,
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

/// Returns the first named value that is another one in `now`, or that only one of them has.
fn first_difference(then: Vec<(String, Value)>, now: Vec<(String, Value)>) -> Option<Difference> {
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.clone(),
        value => value.map_or("none".into(), Value::to_string),
    };
    let [then_by_name, now_by_name] =
        [&then, &now].map(|all| all.iter().map(|(n, v)| (n, v)).collect::<HashMap<_, _>>());
    then.iter().chain(&now).find_map(|(name, _)| {
        let (then, now) = (then_by_name.get(name), now_by_name.get(name));
        let difference = || Difference { what: name.clone(), then: text(then.copied()), now: text(now.copied()) };
        (then != now).then(difference)
    })
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
        first_difference(self.versions_and_settings(), now.versions_and_settings())
            .or_else(|| first_difference(self.lists(), now.lists()))
    }

    fn versions_and_settings(&self) -> Vec<(String, Value)> {
        let task = match (self.retries, self.stamps) {
            (true, _) => "retry what failed",
            (_, true) => "pack the parts of a plan",
            _ => "pack all",
        };
        let versions = [
            ("the version of vidrec", Value::from(&*self.tool)),
            ("FFmpeg", self.ffmpeg.as_deref().into()),
            ("the task", task.into()),
        ];
        let settings = self.settings.0.iter().map(|(name, value)| (format!("the setting {name:?}"), value.clone()));
        let classes =
            self.classes.iter().enumerate().map(|(i, class)| (format!("class {i}"), format!("{class:?}").into()));
        versions.map(|(what, value)| (what.to_owned(), value)).into_iter().chain(settings).chain(classes).collect()
    }

    fn lists(&self) -> Vec<(String, Value)> {
        let lists: String = self.parts.iter().map(|part| part.sha256.get(..16).unwrap_or_default()).collect();
        vec![("the number of videos".into(), self.videos.into()), ("the list of videos".into(), lists.into())]
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

/// A line of `jobs.jsonl`.
#[derive(Serialize, Deserialize)]
pub(super) struct PlannedJob {
    /// Only if other machines pack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<InputStamps>,
    pub job: Job,
}

/// About how many bytes a shard has.
const STORED_BYTES: u64 = 256_000_000;

/// About how many bytes of compressed video are decoded for a shard at most, which takes two cores about a minute.
const VIDEO_BYTES: u64 = 768_000_000;

/// The cost of opening a video and storing its frames, in bytes of compressed video.
const BYTES_TO_OPEN: u64 = 128 << 10;

/// The most shards of a pack that does not ask for a number. Each costs a reader a few open files.
const MOST: u64 = 4096;

/// The number of videos whose size is looked up.
const LOOKED_UP: u32 = 32;

/// The size of a video that is not a file on this machine.
const UNKNOWN_BYTES: u64 = 4 << 20;

/// Bytes of compressed video for each second, and frames.
const BYTES_PER_SECOND: u64 = 500_000;
const FRAMES_PER_SECOND: f64 = 30.0;

/// Returns the number of shards, at least one, and at most one for each of `videos`.
pub(super) fn shards_of(plan: &PackPlan, videos: u64, options: &PackOptions) -> u32 {
    let shards = match options.limits.shards {
        Some(Sharding::Count(shards)) => shards.into(),
        Some(Sharding::Each(each)) => videos.div_ceil(each.max(1)),
        Some(Sharding::Bytes(bytes)) => videos.div_ceil((bytes / VideoCost::mean(plan, options).stored).max(1)),
        None => {
            let cost = VideoCost::mean(plan, options);
            let each = (STORED_BYTES / cost.stored).min(VIDEO_BYTES / cost.decoded);
            videos.div_ceil(each.max(1)).min(MOST)
        }
    };
    u32::try_from(shards.clamp(1, videos.max(1))).unwrap_or(u32::MAX)
}

/// The cost of a video, in bytes.
struct VideoCost {
    stored: u64,
    decoded: u64,
}

impl VideoCost {
    /// Returns the mean over a few of the videos.
    fn mean(plan: &PackPlan, options: &PackOptions) -> Self {
        let n = u32::try_from(plan.jobs.len()).unwrap_or(u32::MAX);
        let chosen: Vec<&Job> =
            vidrec_format::sampler::uniform(n, LOOKED_UP.min(n)).into_iter().map(|i| &plan.jobs[i as usize]).collect();
        let mut clips: HashMap<&Path, u64> = chosen.iter().map(|job| (&*job.path, 0)).collect();
        for job in &plan.jobs {
            if let Some(clips) = clips.get_mut(&*job.path) {
                *clips += 1;
            }
        }
        let bytes = |job: &&Job| match std::fs::metadata(&job.path) {
            Ok(meta) if meta.is_file() => meta.len() / clips[&*job.path].max(1),
            _ => UNKNOWN_BYTES,
        };
        let sum: u64 = chosen.iter().map(bytes).fold(0, u64::saturating_add);
        let mean = sum.checked_div(chosen.len() as u64).unwrap_or(UNKNOWN_BYTES);
        let stored = frames(options, mean) * frame_bytes(options) * f64::from(options.frames.draws);
        VideoCost { stored: (stored as u64).max(1), decoded: mean.saturating_add(BYTES_TO_OPEN) }
    }
}

/// The number of frames of a clip of a video of so many bytes.
fn frames(options: &PackOptions, bytes: u64) -> f64 {
    if options.input.images {
        return 1.0;
    }
    let seconds = (bytes as f64 / BYTES_PER_SECOND as f64).max(1.0);
    let frames = match options.frames.frames {
        FrameChoice::Count(frames) => return frames.into(),
        FrameChoice::At(RateRule::Fps(rate)) => {
            let (num, den) = rate.frame_seconds();
            seconds * f64::from(den) / f64::from(num)
        }
        FrameChoice::At(RateRule::Every(step)) => seconds * FRAMES_PER_SECOND / f64::from(step.max(1)),
        FrameChoice::At(RateRule::KeyFrames) => seconds,
        FrameChoice::At(_) => seconds * FRAMES_PER_SECOND,
    };
    options.frames.max_frames.map_or(frames, |most| frames.min(most.into())).max(1.0)
}

/// The number of bytes of a stored frame: 2 bits for each pixel at the usual quality.
fn frame_bytes(options: &PackOptions) -> f64 {
    let pixels = match options.pictures.size {
        FrameSize::ShortSide(side) | FrameSize::ShortSideAlways(side) => f64::from(side) * f64::from(side) * 16.0 / 9.0,
        FrameSize::Exact { width, height } => f64::from(width) * f64::from(height),
        FrameSize::Original => 1280.0 * 720.0,
    };
    let bits = match options.pictures.quality {
        ..80 => 1.0,
        80..95 => 2.0,
        95.. => 3.0,
    };
    (pixels * bits / 8.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of shards of so many videos, each a file of so many bytes.
    fn shards_of(videos: u64, bytes: u64, options: &str) -> u32 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.mp4");
        std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
        let job = PackPlan::from_inputs(&[path], &crate::InputOptions::default()).unwrap().jobs.remove(0);
        // Each video is a file of its own, which is looked up by its metadata alone.
        let copy = |i: u64| {
            let path = dir.path().join(format!("{i}.mp4"));
            std::fs::hard_link(&job.path, &path).unwrap();
            Job { path, ..job.clone() }
        };
        let plan = PackPlan { jobs: (0..videos).map(copy).collect(), ..PackPlan::default() };
        super::shards_of(&plan, videos, &PackOptions::from_json(options).unwrap())
    }

    #[test]
    fn a_shard_has_some_256_mb_or_takes_some_45_seconds() {
        assert_eq!(shards_of(0, 0, "{}"), 1);
        assert_eq!(shards_of(500, 300_000, "{}"), 1, "small sets have one shard");
        assert_eq!(shards_of(2000, 300_000, r#"{"frames": 16}"#), 4, "2000 clips of 16 frames of 29 kB");
        assert_eq!(shards_of(300, 5_000_000, "{}"), 3, "HD takes two cores a fifth of a second each");
        assert_eq!(shards_of(3, 4_000_000_000, r#"{"frames": "all"}"#), 3, "a long video has a shard of its own");
        assert_eq!(shards_of(9, 0, r#"{"shards": 20}"#), 9, "never more than videos");
        assert_eq!(shards_of(9, 0, r#"{"shards": "each:4"}"#), 3);
        assert_eq!(shards_of(9, 0, r#"{"shards": "600KB"}"#), 5, "two clips of 8 frames");
    }
}

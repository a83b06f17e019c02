//! From inputs to a plan in a folder or in object storage.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::cost::{self, Division};
use super::object_stamp::{self, ObjectStamp};
use super::place::Place;
use super::plan::PlannedJob;
use super::plan_json::{FORM, PlanJson, PlannedPart};
use crate::channels::channels;
use crate::options::{PackOptions, TOOL};
use crate::plan::{Job, PackPlan};
use crate::run::IfExists;
use crate::video;
use crate::work::{MaxFailures, Stamp, track_stamps};
use vidrec_dataset::writer::Sharding;
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_store::disk::{AtomicFile, whole_folder};
use vidrec_store::location::is_remote;
use vidrec_store::storage::Storage;

/// What [`write_plan`] wrote.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrittenPlan {
    /// The number of videos and segments of videos.
    pub videos: u64,
    /// The number of files and folders that they are in.
    pub files: u64,
    /// The number of parts, at most that of the videos.
    pub parts: u32,
    /// The number of videos of the smallest and of the largest part.
    pub part_videos: (u64, u64),
    /// The bytes of all these files that could be looked at.
    pub bytes: u64,
    /// The number of videos that could not be looked at. Each fails if it is still missing when its part is
    /// packed.
    pub missing: u64,
}

/// Divides a pack into parts, which any number of machines may pack, and writes the plan into `dir`.
///
/// `dir` is a folder, or a location in object storage, which `options.input.storage` says how to reach.
///
/// Parts have about the same expected cost. It depends on the sizes of the files and, for segments, on their share
/// of the video: of its `duration` in the manifest, or of the time up to the end of its last segment. The plan fixes everything that determines the bytes: order, labels,
/// classes, options, the size and time of each file, the versions of vidrec and FFmpeg, and where parts begin. So
/// the data set that [`PartsPlan::publish`](super::PartsPlan::publish) makes has the same bytes wherever its parts
/// were packed.
///
/// If the same plan exists already, nothing changes. `options.resources` are not part of a plan.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): another plan exists, or an option excludes parts.
/// [`Io`](vidrec_format::error::ErrorKind::Io): a file cannot be read or written.
///
/// ```no_run
/// # mod vidrec {
/// #     pub use vidrec_pack as pack;
/// #     pub use vidrec_format::error::Error;
/// #     pub use vidrec_format::progress::no_progress;
/// # }
/// use vidrec::pack::{PackOptions, PackPlan, PartOptions, PublishOptions, PartsPlan, write_plan};
///
/// let options = PackOptions::default();
/// write_plan(&PackPlan::from_inputs(&["videos"], &options.input)?, "plan", 100, &options)?;
///
/// // On any machine, for each part:
/// PartsPlan::open("plan")?.pack(0, &PartOptions::default(), &mut vidrec::no_progress)?;
///
/// // When all are done:
/// PartsPlan::open("plan")?.publish(&PublishOptions::default(), &mut vidrec::no_progress)?;
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn write_plan(plan: &PackPlan, dir: impl AsRef<Path>, parts: u32, options: &PackOptions) -> Result<WrittenPlan> {
    write_plan_in(plan, &Place::open(dir.as_ref(), &options.input.storage)?, None, parts, options)
}

/// Writes the plan into a place. If that is not on a file system, the list of videos is first written in
/// `scratch`.
pub(super) fn write_plan_in(
    plan: &PackPlan,
    place: &Place,
    scratch: Option<&Path>,
    parts: u32,
    options: &PackOptions,
) -> Result<WrittenPlan> {
    options.check()?;
    check(parts, options)?;
    if !plan.copies.is_empty() {
        let e =
            Error::usage("other machines need the values of the LeRobot data set, which are only in object storage");
        let e = e.file(plan.inputs.first().map_or("", String::as_str));
        return Err(e.help("copy its folders meta and data to where all machines read them, and pack that copy with the location as root"));
    }
    video::init();
    let (lock, draft) = place.draft(scratch)?;
    let written = write_locked(plan, place, &draft, parts, options);
    drop(lock);
    // If the plan is in object storage, these folders on this machine are of no further use.
    draft.ancestors().skip(1).take(2).for_each(whole_folder::remove_if_empty);
    written
}

fn write_locked(
    plan: &PackPlan,
    place: &Place,
    draft: &Path,
    parts: u32,
    options: &PackOptions,
) -> Result<WrittenPlan> {
    let stamps = Stamps::of(plan, &options.input.storage)?;
    let sums = Sums::of(plan, &stamps)?;
    let (mut jobs, parts) = write_jobs(draft, plan, &stamps, Division::new(sums.videos, sums.cost, parts))?;
    let json = PlanJson {
        form: FORM,
        tool: TOOL.into(),
        ffmpeg: Some(video::ffmpeg_version()),
        settings: settings(options, parts.len())?,
        packed_from: options.packed_from(&plan.inputs)?,
        options: planned(options, sums.videos)?,
        classes: plan.classes.clone(),
        videos: sums.videos,
        jobs: place.name_of(&mut jobs)?,
        parts,
        retries: options.run.if_exists == IfExists::RetryFailed,
        passed_over: plan.passed_over.clone(),
        manifests: plan.manifests.clone(),
        notes: plan.notes.clone(),
        tracks: plan.tracks.clone(),
        channels: channels(plan, options, None)?,
    };
    place.put_plan((json.jobs(), jobs), &json)?;
    let sizes = json.parts.iter().map(|part| part.videos);
    Ok(WrittenPlan {
        videos: json.videos,
        files: sums.files,
        parts: json.parts.len() as u32,
        part_videos: (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0)),
        bytes: sums.bytes,
        missing: sums.missing,
    })
}

/// The stamps that identify the videos of a plan that are in memory.
struct Stamps<'a> {
    /// The stamp of each video that is a file.
    files: Vec<Option<Stamp>>,
    /// The stamps of the remote videos.
    objects: HashMap<&'a Path, ObjectStamp>,
    /// The end of the last segment of each video that has segments, in microseconds.
    last_ends: HashMap<&'a Path, u64>,
}

/// Takes a video with its stamps.
type TakeVideo<'a> = dyn FnMut(&Job, Option<Stamp>, Option<ObjectStamp>) -> Result<()> + 'a;

impl<'a> Stamps<'a> {
    fn of(plan: &'a PackPlan, storage: &Storage) -> Result<Self> {
        let files = plan.jobs.iter().map(|job| Stamp::of(&job.path)).collect();
        let mut last_ends: HashMap<&Path, u64> = HashMap::new();
        for (job, end) in plan.jobs.iter().filter_map(|job| Some((job, job.segment?.end_us?))) {
            let last = last_ends.entry(&job.path).or_default();
            *last = end.max(*last);
        }
        let objects = object_stamp::look(plan.jobs.iter().map(|job| &*job.path), storage)?;
        Ok(Stamps { files, objects, last_ends })
    }

    /// The expected cost of a video of so many bytes.
    fn cost(&self, job: &Job, bytes: u64) -> u64 {
        cost::of(job, bytes, self.last_ends.get(&*job.path).copied())
    }

    /// Passes all videos of a plan to `take`, in order, with their stamps.
    fn each(&self, plan: &PackPlan, take: &mut TakeVideo<'_>) -> Result<()> {
        if let Some(listed) = &plan.listed {
            return listed.each(&mut |job, object| take(&job, None, Some(object.into())));
        }
        let mut jobs = plan.jobs.iter().zip(&self.files);
        jobs.try_for_each(|(job, stamp)| take(job, *stamp, self.objects.get(&*job.path).cloned()))
    }
}

/// The number of bytes of a video, or 0 if it is not known.
fn bytes(stamp: Option<Stamp>, object: Option<&ObjectStamp>) -> u64 {
    stamp.map_or_else(|| object.map_or(0, ObjectStamp::bytes), |stamp| stamp.bytes)
}

/// Sums over all videos of a plan.
#[derive(Default)]
struct Sums {
    /// The videos and segments of videos.
    videos: u64,
    files: u64,
    /// The bytes of all files.
    bytes: u64,
    /// The videos that could not be looked at.
    missing: u64,
    cost: u128,
}

impl Sums {
    fn of(plan: &PackPlan, stamps: &Stamps<'_>) -> Result<Self> {
        let (mut sums, mut with_segments) = (Sums::default(), HashSet::new());
        stamps.each(plan, &mut |job, stamp, object| {
            let bytes = bytes(stamp, object.as_ref());
            sums.videos += 1;
            sums.cost += u128::from(stamps.cost(job, bytes));
            if job.segment.is_none() || !with_segments.contains(&job.path) {
                sums.files += 1;
                sums.bytes = sums.bytes.saturating_add(bytes);
                if job.segment.is_some() {
                    with_segments.insert(job.path.clone());
                }
            }
            sums.missing += u64::from(object == Some(ObjectStamp::Missing) || (stamp.is_none() && job.is_missing()));
            Ok(())
        })?;
        Ok(sums)
    }
}

fn check(parts: u32, options: &PackOptions) -> Result<()> {
    if parts == 0 {
        return Err(Error::usage("a plan needs at least one part"));
    }
    if let Sharding::Count(_) = options.limits.shards {
        return Err(Error::usage(
            "a plan cannot have a fixed number of shards, because its parts are packed separately",
        )
        .help("each part has its own shard; choose the number of parts"));
    }
    Ok(())
}

/// The options that decide what a video becomes, or whether a part fails. A share of failures is one of all videos.
fn planned(options: &PackOptions, videos: u64) -> Result<JsonObject> {
    let mut options = options.clone();
    options.limits.max_failures = options.limits.max_failures.map(|most| MaxFailures::Count(most.count(videos)));
    options.to_map().map(JsonObject)
}

fn settings(options: &PackOptions, parts: usize) -> Result<JsonObject> {
    let mut settings = options.settings()?;
    settings.insert("parts", parts)?;
    Ok(settings)
}

/// Writes the list of videos under a temporary name.
fn write_jobs(
    draft: &Path,
    plan: &PackPlan,
    stamps: &Stamps<'_>,
    mut division: Division,
) -> Result<(AtomicFile, Vec<PlannedPart>)> {
    // Without it, a relative path is an error.
    let here = std::env::current_dir().unwrap_or_default();
    let mut file = AtomicFile::create(draft)?;
    let (mut planned, mut digest): (Vec<PlannedPart>, _) = (Vec::new(), Sha256::new());
    let end = |planned: &mut Vec<PlannedPart>, digest: &mut Sha256| {
        if let Some(last) = planned.last_mut() {
            last.sha256 = hex(&digest.finalize_reset());
        }
    };
    stamps.each(plan, &mut |job, stamp, object| {
        let cost = stamps.cost(job, bytes(stamp, object.as_ref()));
        let line = line(&here, job, stamp, object)?;
        if division.begins(cost) {
            end(&mut planned, &mut digest);
            let (first, offset) =
                planned.last().map_or((0, 0), |last| (last.first + last.videos, last.offset + last.bytes));
            planned.push(PlannedPart { first, videos: 0, offset, bytes: 0, sha256: String::new(), cost: 0 });
        }
        if let Some(part) = planned.last_mut() {
            part.videos += 1;
            part.bytes += line.len() as u64;
            part.cost = part.cost.saturating_add(cost);
        }
        digest.update(&line);
        file.write_all(&line)
    })?;
    end(&mut planned, &mut digest);
    file.sync()?;
    Ok((file, planned))
}

/// Returns the line of a video. Its paths are relative to the folder `here`.
fn line(here: &Path, job: &Job, stamp: Option<Stamp>, object: Option<ObjectStamp>) -> Result<Vec<u8>> {
    // Make paths absolute, because a part may be packed in another folder.
    let whole = |path: &Path| match is_remote(path) {
        true => Ok(path.to_owned()),
        false => std::path::absolute(here.join(path)).map_err(|e| Error::io("find the file", path, e)),
    };
    let tracks = job.tracks.clone().map(|row| row.with_paths(whole)).transpose()?;
    let (path, track_stamps) = (whole(&job.path)?, track_stamps(job));
    let planned = PlannedJob { stamp, object, track_stamps, job: job.at(&path, tracks.as_ref()) };
    let mut line = serde_json::to_vec(&planned).map_err(|e| Error::internal(format!("inputs: {e}")))?;
    line.push(b'\n');
    Ok(line)
}

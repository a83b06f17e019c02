//! From inputs to a plan in a folder or in object storage.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::place::{Place, name_of_jobs};

use super::plan_json::{FORM, PlanJson, PlannedPart};
use super::plan_json::{InputStamps, ObjectStamp, PlannedJob, look};
use super::size;
use crate::channels::channels;
use crate::options::IfExists;
use crate::options::{PackOptions, TOOL};
use crate::plan::{Job, PackPlan};
use crate::video;
use crate::work::{MaxFailures, Stamp, track_stamps};
use vidrec_core::dataset::writer::first_video;
use vidrec_core::store::disk::{AtomicFile, FolderLock, folder, folder_of};
use vidrec_core::store::location::is_remote;
use vidrec_core::store::storage::Storage;
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Result};
use vidrec_format::json_object::JsonObject;

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

/// Divides a pack into parts, which any number of machines may pack, and writes the plan.
///
/// `out` is the folder of the data set, or its location in object storage, which `options.input.storage` says how to reach.
/// The plan and the shards are in its folder `.vidrec.pack` until they are published.
///
/// A part becomes a shard. [`LimitOptions::shards`](crate::LimitOptions::shards) says how many there are. The plan fixes
/// everything that determines the bytes: order, labels, classes, options, the size and time of each file, the versions of
/// vidrec and FFmpeg, and where parts begin. So the data set that [`PartsPlan::publish`](super::PartsPlan::publish) makes
/// has the same bytes wherever its parts were packed.
///
/// If the same plan exists already, nothing changes. `options.resources` are not part of a plan.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): another plan exists, or an option makes no sense.
/// [`Io`](vidrec_format::error::ErrorKind::Io): a file cannot be read or written.
///
/// ```no_run
/// use vidrec::pack::{PackOptions, PackPlan, PartOptions, PublishOptions, PartsPlan, write_plan};
///
/// let options = PackOptions::default();
/// write_plan(&PackPlan::from_inputs(&["videos"], &options.input)?, "train", &options)?;
///
/// // On any machine, for each part:
/// PartsPlan::open("train")?.pack(0, &PartOptions::default(), &mut vidrec::no_progress)?;
///
/// // When all are done:
/// PartsPlan::open("train")?.publish(&PublishOptions::default(), &mut vidrec::no_progress)?;
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn write_plan(plan: &PackPlan, out: impl AsRef<Path>, options: &PackOptions) -> Result<WrittenPlan> {
    options.check()?;
    let place = Place::of(out.as_ref(), &options.input.storage)?;
    let stamps = Stamps::of(plan, &options.input.storage)?;
    let sums = PlanTotals::of(plan, &stamps)?;
    let mut draft = Draft::new(plan, &place, Some(&stamps), sums.videos, None, options)?;
    draft.json.channels = channels(plan, options, None)?;
    let sizes = draft.json.parts.iter().map(|part| part.videos);
    let written = WrittenPlan {
        videos: sums.videos,
        files: sums.files,
        parts: draft.json.parts.len() as u32,
        part_videos: (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0)),
        bytes: sums.bytes,
        missing: sums.missing,
    };
    draft.put(&place)?;
    Ok(written)
}

/// A plan whose list of videos has a temporary name.
pub(super) struct Draft {
    pub json: PlanJson,
    jobs: AtomicFile,
    _folder: DraftFolder,
}

/// The folder of a list of videos that has a temporary name. It goes with the draft if it is empty then.
struct DraftFolder {
    path: PathBuf,
    /// It and the folders above that are for the draft alone.
    levels: usize,
    lock: Option<FolderLock>,
}

impl Drop for DraftFolder {
    fn drop(&mut self) {
        drop(self.lock.take());
        self.path.ancestors().take(self.levels).for_each(folder::remove_if_empty);
    }
}

impl Draft {
    /// Writes the list of the `videos` of a plan, with `stamps` if other machines pack them. `shards` is the number of
    /// shards of a pack that is resumed.
    pub fn new(
        plan: &PackPlan,
        place: &Place,
        stamps: Option<&Stamps<'_>>,
        videos: u64,
        shards: Option<u32>,
        options: &PackOptions,
    ) -> Result<Self> {
        video::init();
        let (lock, path) = place.draft(options.run.scratch.as_deref())?;
        let levels = if place.bucket.is_some() { 2 } else { 1 };
        let folder = DraftFolder { path: folder_of(&path).to_owned(), levels, lock: Some(lock) };
        let shards = shards.unwrap_or_else(|| size::shards(plan, videos, options));
        let (jobs, parts) = write_jobs(&path, plan, stamps, (videos, shards))?;
        let json = PlanJson {
            form: FORM,
            tool: TOOL.into(),
            ffmpeg: Some(video::ffmpeg_version()),
            settings: settings(options, parts.len())?,
            packed_from: options.packed_from(&plan.inputs)?,
            options: planned(options, videos)?,
            classes: plan.classes.clone(),
            videos,
            jobs: name_of_jobs(&jobs)?,
            parts,
            stamps: stamps.is_some(),
            retries: options.run.if_exists == IfExists::RetryFailed,
            passed_over: plan.passed_over.clone(),
            manifests: plan.manifests.clone(),
            notes: plan.notes.clone(),
            tracks: plan.tracks.clone(),
            channels: None,
        };
        Ok(Draft { json, jobs, _folder: folder })
    }

    /// Puts the plan in its place. It is not an error if the same plan exists already.
    pub fn put(self, place: &Place) -> Result<()> {
        place.put_plan((&self.json.jobs, self.jobs.seal()), &self.json)
    }
}

/// The stamps that identify the videos of a plan that are in memory.
pub(super) struct Stamps<'a> {
    /// The stamp of each video that is a file.
    files: Vec<Option<Stamp>>,
    /// The stamps of the remote videos.
    objects: HashMap<&'a Path, ObjectStamp>,
}

/// Takes a video with its stamps.
type TakeVideo<'a> = dyn FnMut(&Job, Option<Stamp>, Option<ObjectStamp>) -> Result<()> + 'a;

impl<'a> Stamps<'a> {
    fn of(plan: &'a PackPlan, storage: &Storage) -> Result<Self> {
        let files = plan.jobs.iter().map(|job| Stamp::of(&job.path)).collect();
        let objects = look(plan.jobs.iter().map(|job| &*job.path), storage)?;
        Ok(Stamps { files, objects })
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

/// Totals over all videos of a plan.
#[derive(Default)]
struct PlanTotals {
    /// The videos and segments of videos.
    videos: u64,
    files: u64,
    /// The bytes of all files.
    bytes: u64,
    /// The videos that could not be looked at.
    missing: u64,
}

impl PlanTotals {
    fn of(plan: &PackPlan, stamps: &Stamps<'_>) -> Result<Self> {
        let (mut sums, mut with_segments) = (PlanTotals::default(), HashSet::new());
        stamps.each(plan, &mut |job, stamp, object| {
            let bytes = bytes(stamp, object.as_ref());
            sums.videos += 1;
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

/// The options that decide what a video becomes, or whether a part fails. A share of failures is one of all videos.
fn planned(options: &PackOptions, videos: u64) -> Result<JsonObject> {
    let mut options = options.clone();
    options.limits.max_failures = options.limits.max_failures.map(|most| MaxFailures::Count(most.count(videos)));
    options.to_map().map(JsonObject)
}

fn settings(options: &PackOptions, shards: usize) -> Result<JsonObject> {
    let mut settings = options.settings()?;
    settings.insert("shards", shards)?;
    Ok(settings)
}

/// Writes the list of videos under a temporary name and divides it into one part for each shard.
fn write_jobs(
    draft: &Path,
    plan: &PackPlan,
    stamps: Option<&Stamps<'_>>,
    (videos, shards): (u64, u32),
) -> Result<(AtomicFile, Vec<PlannedPart>)> {
    // Without it, a relative path is an error.
    let here = std::env::current_dir().unwrap_or_default();
    let mut file = AtomicFile::create(draft)?;
    let (mut parts, mut digest): (Vec<PlannedPart>, _) = (Vec::new(), Sha256::new());
    let mut next = 0;
    let mut take = |job: &Job, stamp: Option<InputStamps>| {
        if next == first_video(parts.len() as u64, videos, shards.into()) {
            let offset = parts.last().map_or(0, |last| last.offset + last.bytes);
            parts.push(PlannedPart { first: next, videos: 0, offset, bytes: 0, sha256: String::new() });
        }
        let line = line(&here, job, stamp)?;
        digest.update(&line);
        next += 1;
        if let Some(part) = parts.last_mut() {
            part.videos += 1;
            part.bytes += line.len() as u64;
            if next == first_video(parts.len() as u64, videos, shards.into()) {
                parts.last_mut().into_iter().for_each(|part| part.sha256 = hex(&digest.finalize_reset()));
            }
        }
        file.write_all(&line)
    };
    match stamps {
        None => plan.jobs.iter().try_for_each(|job| take(job, None))?,
        Some(stamps) => stamps.each(plan, &mut |job, video, object| {
            take(job, Some(InputStamps { video, object, tracks: track_stamps(job) }))
        })?,
    }
    file.sync()?;
    Ok((file, parts))
}

/// Returns the line of a video. Its paths are relative to the folder `here`.
fn line(here: &Path, job: &Job, stamps: Option<InputStamps>) -> Result<Vec<u8>> {
    // Make paths absolute, because a part may be packed in another folder.
    let whole = |path: &Path| match is_remote(path) {
        true => Ok(path.to_owned()),
        false => std::path::absolute(here.join(path)).map_err(|e| Error::io("find the file", path, e)),
    };
    let tracks = job.tracks.clone().map(|row| row.with_paths(whole).map(Box::new)).transpose()?;
    let planned = PlannedJob { stamps, job: Job { path: whole(&job.path)?, tracks, ..job.clone() } };
    let mut line = serde_json::to_vec(&planned).map_err(|e| Error::internal(format!("inputs: {e}")))?;
    line.push(b'\n');
    Ok(line)
}

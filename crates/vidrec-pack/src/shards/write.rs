//! From inputs to a plan in a folder or in object storage.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::place::{Place, name_of_jobs};
use super::plan::{FORM, PlanJson, PlannedJob, PlannedPart, shards_of};
use crate::options::{IfExists, PackOptions, TOOL};
use crate::plan::{Job, PackPlan};
use crate::video;
use crate::work::{InputStamps, MaxFailures, ObjectStamp, look};
use vidrec_core::dataset::writer::first_video;
use vidrec_core::store::disk::{AtomicFile, FolderLock, folder, folder_of};
use vidrec_core::store::location::is_remote;
use vidrec_core::store::storage::Storage;
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Result};

/// The plan that [`write_plan`] wrote.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
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
    let stamps = PlanStamps::of(plan, &options.input.storage)?;
    let mut written = stamps.totals(plan)?;
    let draft = Draft::new(plan, &place, Some(&stamps), written.videos, None, options)?;
    let sizes = draft.json.parts.iter().map(|part| part.videos);
    written.parts = draft.json.parts.len() as u32;
    written.part_videos = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
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
        stamps: Option<&PlanStamps>,
        videos: u64,
        shards: Option<u32>,
        options: &PackOptions,
    ) -> Result<Self> {
        video::init();
        let (lock, path) = place.draft(options.run.scratch.as_deref())?;
        let levels = if place.bucket.is_some() { 2 } else { 1 };
        let folder = DraftFolder { path: folder_of(&path).to_owned(), levels, lock: Some(lock) };
        let shards = shards.unwrap_or_else(|| shards_of(plan, videos, options));
        let (jobs, parts) = write_jobs(&path, plan, stamps, (videos, shards))?;
        let mut settings = options.settings()?;
        settings.insert("shards", parts.len())?;
        // A share of failures is one of all videos.
        let mut planned = options.clone();
        planned.limits.max_failures = planned.limits.max_failures.map(|most| MaxFailures::Count(most.count(videos)));
        let json = PlanJson {
            form: FORM,
            tool: TOOL.into(),
            ffmpeg: Some(video::ffmpeg_version()),
            settings,
            packed_from: options.packed_from(&plan.inputs)?,
            options: planned.to_object()?,
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
        };
        Ok(Draft { json, jobs, _folder: folder })
    }

    /// Puts the plan in its place. It is not an error if the same plan exists already.
    pub fn put(self, place: &Place) -> Result<()> {
        place.put_plan((&self.json.jobs, self.jobs.seal()), &self.json)
    }
}

/// The stamps that identify the videos of a plan that are in memory.
pub(super) struct PlanStamps(Vec<InputStamps>);

impl PlanStamps {
    fn of(plan: &PackPlan, storage: &Storage) -> Result<Self> {
        let objects = look(plan.jobs.iter().map(|job| &*job.path), storage)?;
        let of = |job: &Job| InputStamps { object: objects.get(&*job.path).cloned(), ..InputStamps::of(job) };
        Ok(PlanStamps(plan.jobs.iter().map(of).collect()))
    }

    /// Passes all videos of a plan to `take`, in order, with their stamps.
    fn each(&self, plan: &PackPlan, take: &mut dyn FnMut(&Job, &InputStamps) -> Result<()>) -> Result<()> {
        if let Some(listed) = &plan.listed {
            return listed.each(&mut |job, object| {
                take(&job, &InputStamps { video: None, object: Some(object.into()), tracks: Vec::new() })
            });
        }
        plan.jobs.iter().zip(&self.0).try_for_each(|(job, stamps)| take(job, stamps))
    }

    /// Counts the videos, and the files that they are in.
    fn totals(&self, plan: &PackPlan) -> Result<WrittenPlan> {
        let (mut sums, mut with_segments) = (WrittenPlan::default(), HashSet::new());
        self.each(plan, &mut |job, stamps| {
            sums.videos += 1;
            if job.segment.is_none() || with_segments.insert(job.path.clone()) {
                sums.files += 1;
                sums.bytes = sums.bytes.saturating_add(stamps.bytes());
            }
            let is_missing =
                stamps.object == Some(ObjectStamp::Missing) || (stamps.video.is_none() && job.is_missing());
            sums.missing += u64::from(is_missing);
            Ok(())
        })?;
        Ok(sums)
    }
}

/// Writes the list of videos under a temporary name and divides it into one part for each shard.
fn write_jobs(
    draft: &Path,
    plan: &PackPlan,
    stamps: Option<&PlanStamps>,
    (videos, shards): (u64, u32),
) -> Result<(AtomicFile, Vec<PlannedPart>)> {
    // Without it, a relative path is an error.
    let here = std::env::current_dir().unwrap_or_default();
    let mut file = AtomicFile::create(draft)?;
    let (mut parts, mut digest): (Vec<PlannedPart>, _) = (Vec::new(), Sha256::new());
    let mut next = 0;
    let mut take = |job: &Job, stamps: Option<&InputStamps>| {
        if next == first_video(parts.len() as u64, videos, shards.into()) {
            let offset = parts.last().map_or(0, |last| last.offset + last.bytes);
            parts.push(PlannedPart { first: next, videos: 0, offset, bytes: 0, sha256: String::new() });
        }
        let line = line(&here, job, stamps)?;
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
        Some(stamps) => stamps.each(plan, &mut |job, stamps| take(job, Some(stamps)))?,
    }
    file.sync()?;
    Ok((file, parts))
}

/// Returns the line of a video. Its paths are relative to the folder `here`.
fn line(here: &Path, job: &Job, stamps: Option<&InputStamps>) -> Result<Vec<u8>> {
    // Make paths absolute, because a part may be packed in another folder.
    let whole = |path: &Path| match is_remote(path) {
        true => Ok(path.to_owned()),
        false => std::path::absolute(here.join(path)).map_err(|e| Error::io("find the file", path, e)),
    };
    let tracks = job.tracks.clone().map(|row| row.with_paths(whole).map(Box::new)).transpose()?;
    let planned = PlannedJob { stamps: stamps.cloned(), job: Job { path: whole(&job.path)?, tracks, ..job.clone() } };
    let mut line = serde_json::to_vec(&planned).map_err(|e| Error::internal(format!("inputs: {e}")))?;
    line.push(b'\n');
    Ok(line)
}

//! From inputs to a plan in a folder.

use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::cost;
use super::folder::{JOBS, PLAN, PlanFolder};
use super::options::PlannedOptions;
use super::plan::PlannedJob;
use super::plan_json::{FORM, PlanJson, PlannedPart};
use crate::disk::{AtomicFile, FolderLock, write_file};
use crate::format::data_binding::hex;
use crate::pack::options::{PackOptions, TOOL};
use crate::pack::plan::{Job, PackPlan};
use crate::pack::work::Stamp;
use crate::writer::Sharding;
use crate::{Error, JsonObject, Result, is_remote, video};

/// What [`write_plan`] wrote.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrittenPlan {
    /// Number of videos.
    pub videos: u64,
    /// Number of parts: at most that of the videos.
    pub parts: u32,
    /// Videos of the smallest and of the largest part.
    pub part_videos: (u64, u64),
    /// Bytes of all video files that could be looked at.
    pub bytes: u64,
    /// Videos that could not be looked at. Each fails if it is still missing when its part is packed.
    pub missing: u64,
}

/// Divides a pack into parts, which any number of machines may pack, and writes the plan into the folder `dir`.
///
/// Parts have about the same expected cost, by the sizes of the files and, for segments, their share of the video's
/// `duration` in the manifest. The plan fixes everything that determines the bytes: order, labels, classes, options,
/// size and time of each file, the versions of vidrec and FFmpeg, and where parts begin. So the data set that
/// [`PartsPlan::publish`](super::PartsPlan::publish) makes has the same bytes wherever its parts were packed.
///
/// Where the same plan is there already, nothing changes. `options.resources` are not part of a plan.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): another plan is there, or an option excludes parts. [`Io`](crate::ErrorKind::Io).
///
/// ```no_run
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
    options.check()?;
    check(parts, options)?;
    video::init();
    let folder = PlanFolder { dir: dir.as_ref().to_owned() };
    let _lock = FolderLock::take(&folder.dir)?;
    folder.make()?;
    let stamps: Vec<Option<Stamp>> = plan.jobs.iter().map(|job| Stamp::of(&job.path)).collect();
    let (jobs, parts) = write_jobs(&folder, plan, &stamps, parts)?;
    let json = PlanJson {
        form: FORM,
        tool: TOOL.into(),
        ffmpeg: Some(video::ffmpeg_version()),
        settings: settings(options, parts.len())?,
        options: PlannedOptions::of(options, plan.jobs.len() as u64),
        classes: plan.classes.clone(),
        videos: plan.jobs.len() as u64,
        parts,
        passed_over: plan.passed_over.clone(),
        manifests: plan.manifests.clone(),
        notes: plan.notes.clone(),
    };
    put(&folder, jobs, &json)?;
    let sizes = json.parts.iter().map(|part| part.videos);
    Ok(WrittenPlan {
        videos: json.videos,
        parts: json.parts.len() as u32,
        part_videos: (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0)),
        bytes: stamps.iter().flatten().map(|stamp| stamp.bytes).sum(),
        missing: plan.missing().count() as u64,
    })
}

fn check(parts: u32, options: &PackOptions) -> Result<()> {
    if parts == 0 {
        return Err(Error::usage("a plan has at least one part"));
    }
    if let Sharding::Count(_) = options.run.sharding {
        return Err(Error::usage("a number of shards cannot be kept where parts are packed apart")
            .help("each part has a shard of its own; choose the number of parts"));
    }
    Ok(())
}

fn settings(options: &PackOptions, parts: usize) -> Result<JsonObject> {
    let mut settings = options.settings()?;
    settings.insert("parts", parts)?;
    Ok(settings)
}

/// Writes the list of videos under a temporary name.
fn write_jobs(
    folder: &PlanFolder,
    plan: &PackPlan,
    stamps: &[Option<Stamp>],
    parts: u32,
) -> Result<(AtomicFile, Vec<PlannedPart>)> {
    let costs: Vec<u64> = plan.jobs.iter().zip(stamps).map(|(job, stamp)| cost::of(job, *stamp)).collect();
    let mut file = AtomicFile::create(&folder.path(JOBS))?;
    let (mut planned, mut offset) = (Vec::new(), 0u64);
    for range in cost::divide(&costs, parts) {
        let (mut digest, mut bytes) = (Sha256::new(), 0u64);
        for i in range.clone() {
            let line = line(&plan.jobs[i], stamps[i])?;
            digest.update(&line);
            bytes += line.len() as u64;
            file.write_all(&line)?;
        }
        let cost = costs[range.clone()].iter().fold(0u64, |sum, &cost| sum.saturating_add(cost));
        let sha256 = hex(&digest.finalize());
        let (first, videos) = (range.start as u64, range.len() as u64);
        planned.push(PlannedPart { first, videos, offset, bytes, sha256, cost });
        offset += bytes;
    }
    file.sync()?;
    Ok((file, planned))
}

fn line(job: &Job, stamp: Option<Stamp>) -> Result<Vec<u8>> {
    // A part may be packed in another folder.
    let path = match is_remote(&job.path) {
        true => job.path.clone(),
        false => std::path::absolute(&job.path).map_err(|e| Error::io("find the video", &job.path, e))?,
    };
    let planned = PlannedJob { stamp, job: Job { path, ..job.clone() } };
    let mut line = serde_json::to_vec(&planned).map_err(|e| Error::internal(format!("inputs: {e}")))?;
    line.push(b'\n');
    Ok(line)
}

/// Puts the plan there, its own file last.
fn put(folder: &PlanFolder, jobs: AtomicFile, json: &PlanJson) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(json).map_err(|e| Error::internal(format!("plan: {e}")))?;
    bytes.push(b'\n');
    if let Some(there) = folder.read(PLAN)? {
        jobs.discard();
        if there == bytes {
            return Ok(());
        }
        return Err(Error::usage("another plan is here already")
            .file(folder.path(PLAN))
            .help("plan into another folder, or remove this one if its parts are of no use any more"));
    }
    jobs.publish()?;
    write_file(&folder.path(PLAN), &bytes)
}

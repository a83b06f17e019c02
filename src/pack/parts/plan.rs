//! A plan that is there.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::folder::{JOBS, PLAN, PlanFolder};
use super::plan_json::{PlanJson, PlannedPart};
use crate::format::data_binding::hex;
use crate::pack::options::TOOL;
use crate::pack::plan::Job;
use crate::pack::work::Stamp;
use crate::{Error, Hint, Result, video};

/// A pack that was divided into parts. See [`write_plan`](super::write_plan).
#[derive(Debug, Clone)]
pub struct PartsPlan {
    pub(super) folder: PlanFolder,
    pub(super) json: PlanJson,
    /// SHA-256 of `plan.json`.
    pub(super) digest: String,
}

/// A line of `jobs.jsonl`.
#[derive(Serialize, Deserialize)]
pub(super) struct PlannedJob {
    /// Size and time of the file when the plan was made; absent if it could not be looked at.
    pub stamp: Option<Stamp>,
    pub job: Job,
}

impl PartsPlan {
    /// Opens the plan in a folder. It reads no list of videos.
    ///
    /// # Errors
    ///
    /// [`Usage`](crate::ErrorKind::Usage): there is no plan, or one of another version. [`Io`](crate::ErrorKind::Io).
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        let folder = PlanFolder { dir: dir.as_ref().to_owned() };
        let none = || {
            let e = Error::usage("there is no plan here").file(&folder.dir).expected(format!("a file {PLAN}"));
            e.help("a plan is complete when this file is there").hint(Hint::Plan)
        };
        let bytes = folder.read(PLAN)?.ok_or_else(none)?;
        let json: PlanJson = serde_json::from_slice(&bytes).map_err(|e| {
            Error::usage("this is not a plan of this version of vidrec").file(folder.path(PLAN)).found(e)
        })?;
        json.check().map_err(|e| e.file(folder.path(PLAN)))?;
        Ok(PartsPlan { digest: hex(&Sha256::digest(&bytes)), folder, json })
    }

    /// Number of parts. They are numbered from 0.
    pub fn parts(&self) -> u32 {
        self.json.parts.len() as u32
    }

    /// Number of videos in all parts.
    pub fn videos(&self) -> u64 {
        self.json.videos
    }

    pub(super) fn part(&self, part: u32) -> Result<&PlannedPart> {
        self.json.parts.get(part as usize).ok_or_else(|| {
            Error::usage(format!("the plan has no part {part}"))
                .file(&self.folder.dir)
                .expected(format!("a number from 0 to {}", self.parts() - 1))
        })
    }

    /// Refuses a program or decoders that could give other bytes than the plan's.
    pub(super) fn check_versions(&self) -> Result<()> {
        let other = |what: &str, then: &str, now: &str| {
            let e = Error::usage(format!("the plan was made with another {what}, which may give other bytes"));
            e.file(&self.folder.dir).expected(then).found(now).help("use the same on all machines, or plan again")
        };
        if self.json.tool != TOOL {
            return Err(other("version of vidrec", &self.json.tool, TOOL));
        }
        let (then, now) = (self.json.ffmpeg.as_deref().unwrap_or("none"), video::ffmpeg_version());
        if then != now { Err(other("FFmpeg", then, &now)) } else { Ok(()) }
    }

    /// The videos of a part, which must be as they were when the plan was made.
    pub(super) fn jobs(&self, part: u32) -> Result<Vec<Job>> {
        let jobs = self.planned_jobs(part)?;
        jobs.iter().try_for_each(check_input)?;
        Ok(jobs.into_iter().map(|planned| planned.job).collect())
    }

    /// The names of the videos of a part.
    pub(super) fn sources(&self, part: u32) -> Result<impl Iterator<Item = String>> {
        Ok(self.planned_jobs(part)?.into_iter().map(|planned| planned.job.source))
    }

    fn planned_jobs(&self, part: u32) -> Result<Vec<PlannedJob>> {
        let planned = self.part(part)?;
        let bytes = self.folder.read_range(JOBS, planned.offset, planned.bytes)?;
        let place = |e: Error| e.file(self.folder.path(JOBS));
        if hex(&Sha256::digest(&bytes)) != planned.sha256 {
            let e = Error::usage(format!("the videos of part {part} are not those of the plan"));
            return Err(place(e.expected(format!("lines with SHA-256 {}", planned.sha256)).help("plan again")));
        }
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let jobs = lines.map(|line| {
            serde_json::from_slice(line).map_err(|e| place(Error::usage("a line is not that of a video").found(e)))
        });
        let jobs: Vec<PlannedJob> = jobs.collect::<Result<_>>()?;
        if jobs.len() as u64 != planned.videos {
            return Err(place(Error::usage("the number of videos differs").expected(planned.videos).found(jobs.len())));
        }
        Ok(jobs)
    }
}

fn check_input(planned: &PlannedJob) -> Result<()> {
    let (then, now) = (planned.stamp, Stamp::of(&planned.job.path));
    if then == now {
        return Ok(());
    }
    let text = |stamp: Option<Stamp>| stamp.map_or("no file".into(), |stamp| stamp.to_string());
    Err(Error::usage("the video is not the one that was planned")
        .file(&planned.job.path)
        .expected(text(then))
        .found(text(now))
        .help("copy videos with their times (cp -p, rsync -t), or plan again"))
}

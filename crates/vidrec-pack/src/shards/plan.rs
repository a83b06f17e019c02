//! An existing plan.

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::place::{PLAN, Place};
use super::plan_json::{Difference, PlanJson, PlannedPart};
use super::planned_job::{PlannedJob, look};
use super::receipt::Receipt;
use crate::options::TOOL;
use crate::plan::Job;
use crate::video;
use vidrec_core::store::storage::Storage;
use vidrec_core::threads::in_order;
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, Hint, Result};

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
            let e = match place.has_data_set() {
                Ok(true) => e.help("there is a data set here: a plan goes when its parts are published"),
                _ => e.help("a plan is complete when this file exists"),
            };
            e.hint(Hint::Plan)
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
            if let Some(changed) = stamps.as_ref().and_then(|stamps| stamps.changed(job)) {
                let e = is_another(changed.file, changed.then, changed.now);
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

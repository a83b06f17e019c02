//! A pack on this machine: all parts of a plan that lies in the output, and then the data set.

use std::path::Path;
use std::time::Instant;

use super::packed_set::PackedSet;
use super::place::{PLAN, Place};
use super::plan::{Difference, PartsPlan};
use super::publish::PublishOptions;
use super::publish::{discard, forget};
use super::report::PackReport;
use super::run::ShardWork;
use super::write::Draft;
use crate::options::{IfExists, PackOptions};
use crate::plan::PackPlan;
use crate::serve::pool;
use crate::video;
use crate::work::Pool;
use vidrec_core::dataset::writer;
use vidrec_core::progress::ProgressFn;
use vidrec_core::store::disk::{FolderLock, publication};
use vidrec_core::store::location::{is_of_network, is_remote};
use vidrec_core::transfer::upload;
use vidrec_core::transfer::upload::PushOptions;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::error::{Error, ErrorKind, Hint, Result};

/// Packs `inputs` into the data set `out`: a folder, or a location in object storage, which `options.input.storage` says
/// how to reach.
///
/// An input is a directory, a video file or a manifest. In a directory, the name of the first folder level is the
/// class. Manifests are: `.csv` or `.tsv` with a header that names the columns, `.jsonl`, `.txt` with a path and a
/// label on each line, and the lists of Kinetics and Something-Something. Clips are in the order
/// of the inputs, and within a directory in the order of the paths.
///
/// This thread calls `progress` after each video and at least ten times a second. The items of the progress are
/// videos. If `progress` breaks, the pack ends as soon as the videos at work are finished.
///
/// A video that cannot be packed is skipped as a whole and listed in `failures.jsonl`. If no video can be packed,
/// no data set is made, and the report says `clips: 0`.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there are no videos, a manifest cannot be read, or a data
/// set exists already. [`Decode`](vidrec_format::error::ErrorKind::Decode): more videos
/// failed than [`LimitOptions::max_failures`](crate::LimitOptions::max_failures).
/// [`Io`](vidrec_format::error::ErrorKind::Io): the output cannot be
/// written. [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted): `progress` broke.
/// [`Resources`](vidrec_format::error::ErrorKind::Resources): the machine does not have enough memory, file
/// descriptors or processes to pack even one video at a time. If it only has too little for
/// [`Resources::threads`](crate::Resources::threads) videos at a time, fewer are packed at once
/// ([`PackReport::shortage`]), and no video is skipped because of it.
///
/// On an error no data set is published, but the shards that are complete are kept. A call with the same inputs
/// and options and [`IfExists::Resume`] resumes the pack. The result is byte for
/// byte that of a pack that was not interrupted.
///
/// ```no_run
/// use vidrec::pack::{PackOptions, pack};
///
/// let options = PackOptions::from_json(r#"{"frames": 16, "quality": 85}"#)?;
/// let report = pack(&["videos"], "train", &options, &mut vidrec::no_progress)?;
/// println!("{} clips, {} videos skipped", report.clips, report.failed);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn pack<P: AsRef<Path>>(
    inputs: &[P],
    out: impl AsRef<Path>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    options.check()?;
    let plan = PackPlan::from_inputs(inputs, &options.input)?;
    pack_plan(&plan, out, options, progress)
}

/// Packs the videos of a plan, as [`pack`] does with the plan of its inputs.
///
/// With it, a program can look at the plan before hours of work, and say what it is about to do
/// ([`PackPlan::manifests`], [`PackPlan::notes`]). `options.input` should be the options that the plan was made
/// with.
///
/// The result has the same bytes as that of [`write_plan`](super::write_plan) and [`publish`](PartsPlan::publish), with
/// the parts packed by any number of machines.
///
/// # Errors
///
/// As [`pack`], except those of the inputs.
///
/// ```no_run
/// use vidrec::pack::{PackOptions, PackPlan, pack_plan};
///
/// let options = PackOptions::default();
/// let plan = PackPlan::from_inputs(&["list.csv"], &options.input)?;
/// plan.notes.iter().for_each(|note| eprintln!("{note}"));
/// let report = pack_plan(&plan, "train", &options, &mut vidrec::no_progress)?;
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn pack_plan(
    plan: &PackPlan,
    out: impl AsRef<Path>,
    options: &PackOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<PackReport> {
    let packed = LocalPack { plan, out: out.as_ref(), options }.run(progress);
    // A pack says in another way than other commands that a data set may be replaced.
    packed.map_err(|e| match e.hints().contains(&Hint::Overwrite) {
        true => e.without_hints(&[Hint::Overwrite]).hint(Hint::Restart),
        false => e,
    })
}

/// A pack on this machine.
struct LocalPack<'a> {
    plan: &'a PackPlan,
    out: &'a Path,
    options: &'a PackOptions,
}

impl LocalPack<'_> {
    fn run(&self, progress: &mut ProgressFn<'_>) -> Result<PackReport> {
        let LocalPack { plan, out, options } = *self;
        let began = Instant::now();
        options.check()?;
        if plan.listed.is_some() {
            return Err(Error::usage("the videos of this plan stay on disk, so only write_plan can use it"));
        }
        if self.retries() && is_remote(out) {
            let e = Error::usage("the failed videos of a data set in object storage cannot be retried there");
            return Err(e.file(out).help("fetch it, retry there, then push it"));
        }
        video::init();
        let place = Place::of(out, &options.input.storage)?;
        // No other process packs or publishes in the folder meanwhile.
        let lock = place.bucket.is_none().then(|| FolderLock::take(out)).transpose()?;
        let mut pending = self.pending(&place)?;
        let shards = pending.as_ref().map(PartsPlan::parts).filter(|_| options.limits.shards.is_none());
        let new_draft = |shards| Draft::new(plan, &place, None, plan.jobs.len() as u64, shards, options);
        let mut draft = new_draft(shards)?;
        if let Some(there) = &pending
            && let Some(difference) = self.difference(there, &draft)?
        {
            if options.run.if_exists != IfExists::Replace {
                return Err(self.refusal(difference));
            }
            // It is in the folder that goes.
            drop(draft);
            discard(&place)?;
            (pending, draft) = (None, new_draft(None)?);
        }
        if pending.is_none() && lock.is_some() {
            publication::recover(out)?;
        }
        let mut existing = self.existing(&draft, pending.is_some())?;
        if let Some(finished) = existing.take_if(|existing| !self.retries() || !existing.has_failures()) {
            self.forget_finished(pending.as_ref())?;
            if lock.is_some() {
                publication::recover(out)?;
            }
            return Ok(finished.report(plan));
        }
        let pool = pool(&plan.tracks, options)?;
        let is_new = pending.is_none();
        let parts = match pending {
            Some(pending) => pending,
            None => {
                self.check_output()?;
                draft.put(&place)?;
                let parts = PartsPlan::open_place(place)?;
                let kept = existing.as_ref().map(|existing| existing.receipts(&parts)).transpose()?;
                kept.iter().flatten().try_for_each(|receipt| receipt.put(&parts.place, 0))?;
                parts
            }
        };
        if !is_new && lock.is_some() {
            parts.drop_damaged(progress)?;
        }
        let packed = self.pack_parts(&parts, existing.as_ref(), pool.as_ref(), is_new, progress)?;
        let mut report = self.publish(&parts, lock)?;
        (report.seconds, report.shortage) = (began.elapsed().as_secs_f64(), packed.shortage);
        report.resumed_at = packed.resumed_at;
        report.notes.extend(pool.as_ref().and_then(Pool::note));
        Ok(report)
    }

    /// Returns the plan of an interrupted pack that is to be resumed. One that has completed nothing is removed, unless
    /// machines share it.
    fn pending(&self, place: &Place) -> Result<Option<PartsPlan>> {
        if place.read(PLAN)?.is_none() {
            // The files that a killed planner left must not become part of another plan.
            let rest = if place.bucket.is_none() { place.remove_folder() } else { Ok(()) };
            return rest.map(|()| None);
        }
        let there = PartsPlan::open_place(place.clone()).and_then(|plan| Ok((plan.receipts()?, plan)));
        if let (Err(_), IfExists::Replace) = (&there, self.options.run.if_exists) {
            return forget(place).map(|()| None);
        }
        let (receipts, there) = there.map_err(|e| e.hint(Hint::Restart))?;
        let done: u64 = receipts.iter().flatten().map(|receipt| receipt.report.videos()).sum();
        if done == 0 && !there.has_stamps() {
            return discard(place).map(|()| None);
        }
        if self.options.run.if_exists == IfExists::Fail {
            let what = format!("this folder has an interrupted pack, with {done} of {} videos done", there.videos());
            return Err(Error::usage(what).file(self.out).hint(Hint::Resume).hint(Hint::Restart));
        }
        Ok(Some(there))
    }

    /// Returns why an interrupted pack is not this one: other options, other inputs, or a video that was packed has
    /// changed.
    fn difference(&self, there: &PartsPlan, draft: &Draft) -> Result<Option<Difference>> {
        let Some(difference) = there.json.difference(&draft.json) else { return self.changed_video(there) };
        let other = there.first_other(&self.plan.jobs)?.filter(|_| difference.what.ends_with("videos"));
        Ok(Some(other.unwrap_or(difference)))
    }

    fn changed_video(&self, there: &PartsPlan) -> Result<Option<Difference>> {
        for (part, receipt) in (0..).zip(there.receipts()?) {
            let range = there.range(part)?;
            let jobs = self.plan.jobs.iter().skip(range.start as usize);
            let mut stamps = receipt.iter().flat_map(|receipt| &receipt.stamps).zip(jobs);
            if let Some((file, [then, now])) = stamps.find_map(|(stamps, job)| stamps.changed(job)) {
                return Ok(Some(Difference { what: format!("the file {}", file.display()), then, now }));
            }
        }
        Ok(None)
    }

    /// Returns the error for a pack that differs from the one that was interrupted.
    fn refusal(&self, difference: Difference) -> Error {
        Error::usage(format!("the pack cannot be resumed: {} changed since it began", difference.what))
            .file(self.out)
            .expected(difference.then)
            .found(difference.now)
            .help("resume with the same inputs and options")
            .hint(Hint::Restart)
    }

    fn retries(&self) -> bool {
        self.options.run.if_exists == IfExists::RetryFailed
    }

    /// Returns the data set that this call would make, or whose failed videos it retries.
    fn existing(&self, draft: &Draft, is_pending: bool) -> Result<Option<PackedSet>> {
        let LocalPack { plan, out, options } = *self;
        let is_there = is_remote(out) || out.join(FILE_NAME).exists();
        match options.run.if_exists {
            IfExists::RetryFailed if !is_there => {
                let e = Error::usage("there is no data set here to retry the failed videos of").file(out);
                return Err(e.help("pack it first, with the same inputs and options"));
            }
            IfExists::RetryFailed | IfExists::Resume if is_there => (),
            IfExists::Fail if is_remote(out) => (),
            _ => return Ok(None),
        }
        match PackedSet::open(out, plan, &draft.json, &options.input.storage) {
            Err(e) if self.retries() || is_of_network(&e) || e.kind() == ErrorKind::Interrupted => Err(e),
            // There may be none, or one that the interrupted pack replaces.
            Err(_) if is_remote(out) || is_pending => Ok(None),
            found => found.map(Some),
        }
    }

    /// Removes the plan beside a data set that is finished, after a call that was killed when it had published. A plan
    /// that retries failed videos has work that is not in that data set.
    fn forget_finished(&self, pending: Option<&PartsPlan>) -> Result<()> {
        let Some(pending) = pending else { return Ok(()) };
        if pending.json.retries && !self.retries() {
            let e = Error::usage("this folder has an interrupted pack of failed videos").file(pending.place.path(PLAN));
            return Err(e.hint(Hint::Choose("if_exists", "retry-failed")));
        }
        forget(&pending.place)
    }

    /// Refuses an output that cannot be written, or that has another data set.
    fn check_output(&self) -> Result<()> {
        let PackOptions { run, input, .. } = self.options;
        let (storage, overwrite) = (input.storage.clone(), run.if_exists.replaces());
        if !is_remote(self.out) {
            return writer::replaceable(self.out, overwrite).map(drop);
        }
        upload::Place::open(self.out, &PushOptions { storage, overwrite, scratch: None })?.check()
    }

    /// Packs the parts that have no receipt.
    fn pack_parts(
        &self,
        parts: &PartsPlan,
        existing: Option<&PackedSet>,
        pool: Option<&Pool<'_>>,
        is_new: bool,
        progress: &mut ProgressFn<'_>,
    ) -> Result<PackReport> {
        let (mut before, mut missing, mut jobs) = (PackReport::default(), Vec::new(), Vec::new());
        for (part, receipt) in (0..).zip(parts.receipts()?) {
            match receipt {
                Some(receipt) => before.add(&receipt.report),
                None => {
                    missing.push(part);
                    let range = parts.range(part)?;
                    jobs.extend(&self.plan.jobs[range.start as usize..range.end as usize]);
                }
            }
        }
        before.resumed_at = (!is_new || existing.is_some()).then(|| before.videos());
        let done_before = before.videos();
        let may_fail = |place| existing.is_none_or(|existing| existing.has_failed(place));
        let work =
            ShardWork { plan: parts, parts: missing, jobs, options: self.options, pool, may_fail: &may_fail, before };
        let (report, done) = work.run(self.options.run.scratch.as_deref(), progress)?;
        match done {
            Ok(()) => Ok(report),
            Err(e) if is_new && report.videos() == done_before => {
                // Nothing is lost, and the folder is as it was before.
                discard(&parts.place)?;
                Err(e)
            }
            Err(e) => {
                let kept = format!("{} of {} videos are safely on disk", report.videos(), parts.videos());
                Err(e.also_help(kept).hint(Hint::Resume))
            }
        }
    }

    /// Makes the data set of all parts.
    fn publish(&self, parts: &PartsPlan, lock: Option<FolderLock>) -> Result<PackReport> {
        // A folder was checked before the first video, and its lock has been held since then.
        let overwrite = self.options.run.if_exists.replaces() || lock.is_some();
        let options = PublishOptions { overwrite, ..PublishOptions::default() };
        let published = parts.publish_all(&options, lock);
        published.map_err(|e| e.also_help("free space if the disk is full").hint(Hint::Resume))
    }
}

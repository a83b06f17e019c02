//! Packing one part of a plan.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::attempt::Attempt;
use super::note::Notes;
use super::plan::PartsPlan;
use super::receipt::Receipt;
use crate::options::PackOptions;
use crate::pack::{Pack, pack_as};
use crate::plan::PackPlan;
use crate::run::{IfExists, PackReport, RunOptions};
use crate::work::{Copies, Resources};
use vidrec_dataset::listing;
use vidrec_format::dataset_json::{FILE_NAME, ShardJson};
use vidrec_format::error::{Error, ErrorKind, Hint, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::names;
use vidrec_format::progress::{Progress, ProgressFn, tell};
use vidrec_store::storage::Storage;

/// How a part is packed. Everything that determines the bytes is in the plan.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PartOptions {
    /// How much of the machine the work may use. Default: all cores.
    pub resources: Resources,
    /// The command line of a program that calls [`serve`](crate::serve) with [`PartsPlan::options`].
    ///
    /// If an attempt of the part died without a message, the next one decodes in such processes even if
    /// [`Resources::isolate`] asks for none, so that the same crash costs one video. Default `None`: decode in
    /// this process.
    pub worker: Option<Vec<OsString>>,
    /// How often finished work is flushed to disk. Default: 10 seconds.
    pub commit_every: Duration,
    /// How remote videos are read. The plan does not store this. Default: [`Storage::default`].
    pub storage: Storage,
    /// For a plan in object storage: a folder on this machine to pack in, with room for a part.
    ///
    /// An attempt resumes what another one with the same folder left. Default `None`: `TMPDIR`, or else the user's
    /// cache folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
}

impl Default for PartOptions {
    fn default() -> Self {
        let commit_every = RunOptions::default().commit_every;
        PartOptions {
            resources: Resources::default(),
            worker: None,
            commit_every,
            storage: Storage::default(),
            scratch: None,
        }
    }
}

impl PartsPlan {
    /// Packs a part, or returns the report of the attempt that has done so.
    ///
    /// An attempt that was interrupted or killed is resumed. Several attempts at once do no harm: each one works
    /// in its own folder, and all produce the same bytes. It is an error if another attempt produced different
    /// bytes.
    ///
    /// `progress` is called as in [`pack`](crate::pack()).
    ///
    /// # Errors
    ///
    /// The errors of [`pack`](crate::pack()). [`Usage`](vidrec_format::error::ErrorKind::Usage) also: the plan has
    /// no such part or was made by another version of vidrec or FFmpeg, or a video has changed since.
    pub fn pack(&self, part: u32, options: &PartOptions, progress: &mut ProgressFn<'_>) -> Result<PackReport> {
        self.pack_or_copy(part, options, None, progress)
    }

    /// Packs a part. Videos of which `copies`, by their places in the whole plan, has the clips are copied.
    pub(super) fn pack_or_copy(
        &self,
        part: u32,
        options: &PartOptions,
        copies: Option<&Copies<'_>>,
        progress: &mut ProgressFn<'_>,
    ) -> Result<PackReport> {
        self.part(part)?;
        self.check_versions()?;
        let attempts = self.place.attempts(options.scratch.as_deref(), &self.digest)?;
        if let Some(receipt) = self.receipt(part)? {
            Attempt::remove_left(&attempts, part)?;
            self.place.tidy(&attempts);
            return Ok(receipt.report.found());
        }
        let mut attempt = Attempt::begin(&attempts, part)?;
        // Another attempt may have ended just now.
        if let Some(receipt) = self.receipt(part)? {
            attempt.remove()?;
            self.place.tidy(&attempts);
            return Ok(receipt.report.found());
        }
        attempt.died |= self.left_a_note(part)?;
        match self.work_and_say(part, &attempt, (options, copies), progress) {
            Ok(report) => {
                attempt.remove()?;
                self.place.tidy(&attempts);
                Ok(report)
            }
            Err(e) => {
                let e = of_part(e, &attempt.dir);
                // If this fails too, the error of the part says more.
                let _ = attempt.ended();
                Err(e)
            }
        }
    }

    /// Whether an attempt that left no mark on this machine died or is at work elsewhere. Its note then exists and
    /// does not say that it ended.
    fn left_a_note(&self, part: u32) -> Result<bool> {
        Ok(!self.place.has_marks() && self.note(part)?.is_some_and(|note| note.error.is_none()))
    }

    /// Packs a part, and writes notes on its progress and on why it ended.
    fn work_and_say(
        &self,
        part: u32,
        attempt: &Attempt,
        (options, copies): (&PartOptions, Option<&Copies<'_>>),
        progress: &mut ProgressFn<'_>,
    ) -> Result<PackReport> {
        let mut notes = Notes::begin(&self.place, (part, attempt), &self.digest)?;
        let packed = self.work(part, attempt, (options, copies), &mut |p| {
            notes.progress(p);
            progress(p)
        });
        match &packed {
            // An interruption is not a failure of the part, which stays missing.
            Err(e) if e.kind() != ErrorKind::Interrupted => notes.fail(e),
            _ => notes.end()?,
        }
        packed
    }

    /// Returns the options that the parts are packed with, with these resources.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): an option of the plan is unknown.
    pub fn options(&self, resources: &Resources) -> Result<PackOptions> {
        Ok(PackOptions { resources: resources.clone(), ..self.json.options()? })
    }

    fn work(
        &self,
        part: u32,
        attempt: &Attempt,
        (options, copies): (&PartOptions, Option<&Copies<'_>>),
        progress: &mut ProgressFn<'_>,
    ) -> Result<PackReport> {
        let mut resources = options.resources.clone();
        if attempt.died && resources.isolate.is_none() {
            resources.isolate.clone_from(&options.worker);
        }
        let mut pack_options = self.options(&resources)?;
        pack_options.input.storage.clone_from(&options.storage);
        pack_options.run.if_exists = IfExists::Resume;
        pack_options.run.commit_every = options.commit_every;
        let jobs = self.jobs(part, &options.storage)?;
        let (classes, tracks) = (self.json.classes.clone(), self.json.tracks.clone());
        let plan = PackPlan { jobs, classes, tracks, ..PackPlan::default() };
        let set = attempt.set();
        let meta = self.json.meta(pack_options.frames.draws);
        let first = self.part(part)?.first;
        let copies = copies.map(|copies| copies.from(first));
        let how = Pack { meta, probes: false, channels: self.json.channels, copies };
        let mut last = Progress::default();
        let mut report = pack_as(&plan, &set, how, &pack_options, &mut |p| {
            last = *p;
            progress(p)
        })?;
        report.failures.iter_mut().for_each(|failure| failure.item += first);
        report.failures_file = None;
        let shards = if report.clips > 0 {
            self.hand_over(part, &set, attempt.number, &mut || tell(progress, &last))?
        } else {
            Vec::new()
        };
        let receipt = Receipt::new(&self.digest, part, shards, report)?;
        receipt.put(&self.place, attempt.number)?;
        Ok(receipt.report)
    }

    /// Moves the files of a packed part to the place of the plan, under their names there.
    fn hand_over(
        &self,
        part: u32,
        set: &Path,
        attempt: u32,
        told: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<ShardJson>> {
        let mut shards = listing::read(&set.join(FILE_NAME))?.shards;
        let mut files = Vec::new();
        for (i, shard) in shards.iter_mut().enumerate() {
            let tracks = shard.track_file.as_mut().map(|tracks| &mut tracks.file);
            for name in [&mut shard.record_file, &mut shard.index_file].into_iter().chain(tracks) {
                let own: FileName = names::of_part(part, i, name).parse()?;
                files.push((set.join(&*name), own.to_string()));
                *name = own;
            }
        }
        self.place.take(&files, attempt, told)?;
        Ok(shards)
    }
}

/// Turns an error of a pack into one of a part. A part is always resumed, so the options that resume a pack do not
/// apply.
fn of_part(e: Error, work: &Path) -> Error {
    let (resumes, restarts) = (e.hints().contains(&Hint::Resume), e.hints().contains(&Hint::Restart));
    let e = e.without_hints(&[Hint::Resume, Hint::Restart]);
    match (resumes, restarts) {
        (true, _) => e.hint(Hint::Part),
        (false, true) => e.also_help(format!("remove {} to start over", work.display())).hint(Hint::Part),
        (false, false) => e,
    }
}

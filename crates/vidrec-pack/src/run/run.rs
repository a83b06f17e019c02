//! The writing side of a run. Clips go to the writer in order, and notes on finished work go to the journal.

use std::path::Path;
use std::time::{Duration, Instant};

use super::journal::{Completion, Journal, JournalEntry};
use super::options::RunOptions;
use super::outcome::{Done, Failure, Outcome, Stored, Troubles};
use super::report::PackReport;
use crate::plan::PackPlan;
use crate::work::{ClipFailure, Event, Flow, LimitOptions, MaxFailures, PackStage, PackedClip, PackedVideo};
use vidrec_dataset::writer::{EncodedTrack, FrameData, OpenShard, Sharding, Writer, describe_failures};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::progress::{Progress, ProgressFn, tell};
use vidrec_format::record_header;
use vidrec_format::stop;
use vidrec_store::disk::free_space::Watch;
use vidrec_store::disk::publication::{self, FolderIntent, LeftBehind, Replaced};
use vidrec_store::disk::write_file;

/// Bytes of records after which they are flushed to disk, even before the time is up.
const COMMIT_BYTES: u64 = 1 << 30;

/// The state of a run. Everything in `report` is also in `writer`.
pub(crate) struct PackRun<'a> {
    plan: &'a PackPlan,
    commit_every: Duration,
    shards: Sharding,
    max_failures: Option<MaxFailures>,
    writer: Writer,
    journal: Journal,
    report: PackReport,
    progress: &'a mut ProgressFn<'a>,
    space: Watch,
    last_commit: LastCommit,
    stopped: Option<RunStop>,
}

/// How far the run had come when it was last flushed to disk.
struct LastCommit {
    at: Instant,
    videos: u64,
    bytes: u64,
}

/// Why a run ends early.
enum RunStop {
    /// An orderly end: everything done before is valid and can be committed.
    Orderly(Error),
    /// Something could not be written. Work that was committed before can be resumed.
    Broken(Error),
}

impl<'a> PackRun<'a> {
    /// Creates a run, with the work that is already done.
    pub fn new(
        out: &Path,
        plan: &'a PackPlan,
        (limits, run): (&LimitOptions, &RunOptions),
        (writer, journal, report): (Writer, Journal, PackReport),
        progress: &'a mut ProgressFn<'a>,
    ) -> Self {
        let last_commit = LastCommit { at: Instant::now(), videos: report.videos(), bytes: writer.bytes() };
        let space = Watch::new(out);
        PackRun {
            plan,
            commit_every: run.commit_every,
            shards: limits.shards,
            max_failures: limits.max_failures,
            writer,
            journal,
            report,
            progress,
            space,
            last_commit,
            stopped: None,
        }
    }

    /// Returns the place of the next video in the plan.
    pub fn next(&self) -> usize {
        usize::try_from(self.report.videos()).unwrap_or(usize::MAX)
    }

    /// Takes the next video of the plan if it is done, and reports the progress.
    pub fn take(&mut self, event: Event<PackedVideo<'_>>) -> Flow {
        if let Event::Done(ordinal, packed) = event
            && let Err(stop) = self.store(ordinal, packed)
        {
            self.stopped = Some(stop);
            return Flow::Stop;
        }
        let progress = Progress {
            done: self.report.videos(),
            total: Some(self.plan.jobs.len() as u64),
            frames: self.report.frames,
            bytes: self.writer.bytes(),
            failed: self.report.failed,
        };
        match tell(self.progress, &progress) {
            Ok(()) => Flow::Continue,
            Err(interrupted) => {
                self.stopped = Some(RunStop::Orderly(interrupted));
                Flow::Finish
            }
        }
    }

    /// Ends the run early for a reason that is not the fault of a video.
    pub fn stop(&mut self, e: Error) {
        self.stopped = Some(RunStop::Orderly(e));
    }

    /// Records that fewer videos were packed at a time than asked for.
    pub fn set_shortage(&mut self, shortage: Option<String>) {
        self.report.shortage = shortage;
    }

    fn store(&mut self, ordinal: usize, packed: PackedVideo<'_>) -> Result<(), RunStop> {
        let job = &self.plan.jobs[ordinal];
        let outcome = match packed.clips {
            Ok(clips) => {
                self.write(ordinal, &clips).map_err(RunStop::Broken)?;
                self.report.take_scores(&clips);
                Outcome::Packed {
                    clips: clips.iter().map(Stored::new).collect(),
                    troubles: Troubles::of(&clips).into(),
                }
            }
            Err(failure) => {
                self.check_failure(ordinal, &failure).map_err(RunStop::Orderly)?;
                Outcome::Failed(Failure::new(ordinal as u64, job, &failure))
            }
        };
        let done = Done { item: ordinal as u64, stamp: packed.stamp, track_stamps: packed.track_stamps, outcome };
        drop(packed.held);
        self.report.push(job, &done.outcome);
        self.journal.note(done).map_err(RunStop::Broken)?;
        self.space.check(self.writer.bytes()).map_err(RunStop::Orderly)?;
        let due = self.last_commit.at.elapsed() >= self.commit_every
            || self.writer.bytes() - self.last_commit.bytes >= COMMIT_BYTES;
        if due { self.commit().map_err(RunStop::Broken) } else { Ok(()) }
    }

    /// Writes all clips of a video into one shard.
    fn write(&mut self, ordinal: usize, clips: &[PackedClip]) -> Result<()> {
        if self.begins_shard(ordinal, clips) {
            self.next_shard()?;
        }
        for clip in clips {
            let frames: Vec<FrameData<'_>> = clip
                .frames
                .iter()
                .map(|f| FrameData { jpeg: &clip.jpegs[f.jpeg], pts: f.pts, source_index: Some(f.source_index) })
                .collect();
            let tracks: Vec<_> = clip.tracks.iter().map(EncodedTrack::payload).collect();
            self.writer.append_payloads(&clip.info, &frames, &tracks)?;
        }
        Ok(())
    }

    /// Whether the open shard ends before these clips. This depends only on the plan and the bytes.
    fn begins_shard(&self, ordinal: usize, clips: &[PackedClip]) -> bool {
        // The most bytes that the records can have: a head, and up to three fill bytes and padding each.
        let record = |jpeg: &Vec<u8>| jpeg.len() as u64 + 8 + record_header::BYTES as u64 + 6;
        let clip = |clip: &PackedClip| clip.frames.iter().map(|f| record(&clip.jpegs[f.jpeg])).sum::<u64>();
        let bytes = clips.iter().map(clip).sum();
        let open = OpenShard { last: self.report.last_clip_job, bytes: self.writer.shard_bytes() };
        self.shards.ends_before(ordinal as u64, self.plan.jobs.len() as u64, open, bytes)
    }

    fn next_shard(&mut self) -> Result<()> {
        let before = self.writer.finished_shards().len();
        self.writer.next_shard()?;
        let new = self.writer.finished_shards().nth(before).cloned();
        new.map_or(Ok(()), |shard| self.mark(&JournalEntry::Shard(shard)))
    }

    /// Flushes finished work to disk.
    fn commit(&mut self) -> Result<()> {
        let point = self.writer.checkpoint()?;
        self.mark(&JournalEntry::Checkpoint(point))
    }

    fn mark(&mut self, mark: &JournalEntry) -> Result<()> {
        self.journal.mark(mark)?;
        self.last_commit = LastCommit { at: Instant::now(), videos: self.report.videos(), bytes: self.writer.bytes() };
        Ok(())
    }

    /// Returns an error if the run must stop at this failure.
    fn check_failure(&self, ordinal: usize, failure: &ClipFailure) -> Result<()> {
        if failure.stage == PackStage::Short {
            return Ok(());
        }
        let error = || failure.to_error(&self.plan.jobs[ordinal].path);
        // Do not produce a smaller data set because the machine cannot pack even one video at a time, or because
        // the network fails.
        if failure.stops() {
            stop::check()?;
            return Err(error());
        }
        // Do not replace a data set with one that has less.
        if failure.stage == PackStage::Copy {
            return Err(error());
        }
        let most = self.max_failures.map_or(u64::MAX, |m| m.count(self.plan.jobs.len() as u64));
        if self.report.failed >= most {
            return Err(Error::decode(format!("more than {most} videos could not be packed; the last: {}", error())));
        }
        Ok(())
    }

    /// Ends the run: publishes the data set, or leaves the files that a resumed run needs.
    ///
    /// # Errors
    ///
    /// The reason why the run ended early, or something could not be written.
    pub fn finish(mut self, out: &Path, started: Instant) -> Result<PackReport> {
        let total = self.plan.jobs.len() as u64;
        let error = match self.stopped.take() {
            None => match self.publish(out) {
                Ok(mut report) => {
                    report.seconds = started.elapsed().as_secs_f64();
                    return Ok(report);
                }
                Err(e) => return Err(e.also_help("free space if the disk is full").hint(Hint::Resume)),
            },
            Some(RunStop::Broken(e)) => e,
            Some(RunStop::Orderly(e)) if !self.journal.has_notes() => e,
            Some(RunStop::Orderly(e)) => self.commit().err().unwrap_or(e),
        };
        let kept = self.last_commit.videos;
        if kept == 0 {
            // Nothing is lost, and the folder is as it was before.
            let _lock = self.writer.discard();
            Journal::remove(out)?;
            return Err(error);
        }
        Err(error.also_help(format!("{kept} of {total} videos are safely on disk")).hint(Hint::Resume))
    }

    fn publish(self, out: &Path) -> Result<PackReport> {
        let PackRun { mut writer, mut journal, mut report, .. } = self;
        let failures = lines(&report.failures)?;
        if report.clips == 0 {
            let _lock = writer.discard();
            Journal::remove(out)?;
            let name = describe_failures(report.failed, &failures).file;
            let free = Replaced::default().check(out, std::iter::once(&name));
            free.map_err(|e| e.without_hints(&[Hint::Overwrite]))?;
            write_file(&out.join(&name), failures.as_bytes())?;
            report.failures_file = Some(name.into());
            return Ok(report);
        }
        let mut failures_file = None;
        if !failures.is_empty() {
            failures_file = Some(writer.set_failures(report.failed, &failures)?);
            report.failures_file = failures_file.as_deref().map(str::to_owned);
        }
        let ready = writer.complete()?;
        let (intent, _lock) = ready.staged.into_intent();
        let complete = Box::new(Completion { intent, written: ready.written, failures_file });
        journal.mark(&JournalEntry::Complete(complete.clone()))?;
        report.left_behind = carry_out(&complete.intent, out)?;
        (report.bytes, report.track_bytes) = (complete.written.bytes, complete.written.track_bytes);
        Ok(report)
    }
}

/// Carries out the intent of a journal and removes the journal. Returns what could not be cleaned up.
pub(super) fn carry_out(intent: &FolderIntent, out: &Path) -> Result<LeftBehind> {
    let mut left_behind = intent.carry_out(out)?;
    if left_behind.is_empty() || publication::is_pending(out) {
        let left = |e| {
            format!(
                "the data set is complete, but vidrec could not remove its journal: {e:#}; \
             resuming the pack removes it"
            )
        };
        left_behind.extend(Journal::remove(out).err().map(left));
    }
    Ok(left_behind)
}

/// Returns the list of failures as text.
pub(crate) fn lines(failures: &[Failure]) -> Result<String> {
    let mut lines = String::new();
    for failure in failures {
        lines += &serde_json::to_string(failure).map_err(|e| Error::internal(format!("failures: {e}")))?;
        lines.push('\n');
    }
    Ok(lines)
}

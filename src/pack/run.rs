//! One run of the packer, on the writing side: clips go to the writer in order, and what is done to the journal.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::clip::{ClipFailure, PackStage, PackedClip};
use super::fingerprint::Stamp;
use super::inputs::Plan;
use super::journal::{Complete, Entry, Journal};
use super::memory::Held;
use super::outcome::{Done, Outcome, Stored};
use super::report::{Failure, PackReport, Progress, Troubles};
use super::{OnError, PackOptions, Shards};
use crate::disk::free_space::Watch;
use crate::disk::write_file;
use crate::format::{names, record_header};
use crate::{Error, FrameData, Result, Writer};

/// Bytes of records after which they are brought to the disk, even if the time has not come.
const COMMIT_BYTES: u64 = 1 << 30;

/// What a worker gives for a video.
pub(super) struct Packed<'m> {
    /// The file's size and time before it was read.
    pub stamp: Option<Stamp>,
    pub clips: std::result::Result<Vec<PackedClip>, ClipFailure>,
    /// The memory of their JPEGs.
    pub held: Held<'m>,
}

/// The state of a run. What is in `report` is in `writer`, too.
pub(super) struct Run<'a> {
    pub plan: &'a Plan,
    pub options: &'a PackOptions,
    pub writer: Writer,
    pub journal: Journal,
    pub report: PackReport,
    pub progress: &'a mut dyn FnMut(&Progress),
    pub space: Watch,
    pub last_commit: LastCommit,
    pub stopped: Option<Stop>,
}

/// How far the run had come when it was last brought to the disk.
pub(super) struct LastCommit {
    pub at: Instant,
    pub videos: u64,
    pub bytes: u64,
}

/// Why a run ends before its time.
pub(super) enum Stop {
    /// As asked for; what was done before is sound and can be committed.
    Orderly(Error),
    /// Something could not be written; what was committed before can be gone on with.
    Broken(Error),
}

impl Run<'_> {
    /// Takes the next video of the plan.
    pub fn take(&mut self, ordinal: usize, packed: Packed<'_>) -> ControlFlow<()> {
        if let Err(stop) = self.store(ordinal, packed) {
            self.stopped = Some(stop);
            return ControlFlow::Break(());
        }
        (self.progress)(&Progress {
            videos: self.report.videos(),
            total: self.plan.items.len() as u64,
            frames: self.report.frames,
            bytes: self.writer.bytes(),
            failed: self.report.failed,
        });
        ControlFlow::Continue(())
    }

    fn store(&mut self, ordinal: usize, packed: Packed<'_>) -> Result<(), Stop> {
        let item = &self.plan.items[ordinal];
        let outcome = match packed.clips {
            Ok(clips) => {
                self.write(ordinal, &clips).map_err(Stop::Broken)?;
                Outcome::Packed {
                    clips: clips.iter().map(Stored::new).collect(),
                    troubles: Troubles::of(&clips).into(),
                }
            }
            Err(failure) => {
                self.check_failure(ordinal, &failure).map_err(Stop::Orderly)?;
                Outcome::Failed(Failure::new(ordinal, item, &failure))
            }
        };
        let done = Done { item: ordinal as u64, stamp: packed.stamp, outcome };
        drop(packed.held);
        self.report.push(item, &done.outcome);
        self.journal.note(done).map_err(Stop::Broken)?;
        self.space.check(self.writer.bytes()).map_err(Stop::Orderly)?;
        let due = self.last_commit.at.elapsed() >= self.options.commit_every
            || self.writer.bytes() - self.last_commit.bytes >= COMMIT_BYTES;
        if due { self.commit().map_err(Stop::Broken) } else { Ok(()) }
    }

    /// Writes the clips of a video, all into one shard.
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
            self.writer.append(&clip.info, &frames)?;
        }
        Ok(())
    }

    /// Whether the shard in hand ends before these clips: a function of the plan and of the bytes alone.
    fn begins_shard(&self, ordinal: usize, clips: &[PackedClip]) -> bool {
        match self.options.shards {
            Shards::One => false,
            Shards::Count(shards) => {
                let total = self.plan.items.len() as u64;
                let shard_of = |item: u64| u128::from(item) * u128::from(shards) / u128::from(total.max(1));
                self.report.last_clip_item.is_some_and(|last| shard_of(ordinal as u64) != shard_of(last))
            }
            Shards::Bytes(limit) => {
                // Most bytes that the records can have: a head, up to three fill bytes and padding each.
                let record = |jpeg: &Vec<u8>| jpeg.len() as u64 + 8 + record_header::BYTES as u64 + 6;
                let clip = |clip: &PackedClip| clip.frames.iter().map(|f| record(&clip.jpegs[f.jpeg])).sum::<u64>();
                let bytes: u64 = clips.iter().map(clip).sum();
                self.writer.shard_bytes() > 0 && self.writer.shard_bytes() + bytes > limit
            }
        }
    }

    fn next_shard(&mut self) -> Result<()> {
        let before = self.writer.finished_shards().len();
        self.writer.next_shard()?;
        let new = self.writer.finished_shards().nth(before).cloned();
        new.map_or(Ok(()), |shard| self.mark(&Entry::Shard(shard)))
    }

    /// Brings what is done to the disk.
    fn commit(&mut self) -> Result<()> {
        let point = self.writer.checkpoint()?;
        self.mark(&Entry::Checkpoint(point))
    }

    fn mark(&mut self, mark: &Entry) -> Result<()> {
        self.journal.mark(mark)?;
        self.last_commit = LastCommit { at: Instant::now(), videos: self.report.videos(), bytes: self.writer.bytes() };
        Ok(())
    }

    /// An error if the run is to stop at this failure.
    fn check_failure(&self, ordinal: usize, failure: &ClipFailure) -> Result<()> {
        if failure.stage == PackStage::LeftOut {
            return Ok(());
        }
        let error = || failure.to_error(&self.plan.items[ordinal].path);
        // A machine that cannot pack even one at a time must not give a smaller data set.
        if failure.shortage.is_some() {
            return Err(error());
        }
        // A data set is not replaced by one that has less.
        if self.options.on_error == OnError::Stop || failure.stage == PackStage::Copy {
            return Err(error());
        }
        let most = self.options.max_failures.map_or(u64::MAX, |m| m.count(self.plan.items.len() as u64));
        if self.report.failed >= most {
            return Err(Error::decode(format!("more than {most} videos could not be packed; the last: {}", error())));
        }
        Ok(())
    }

    /// Ends the run: publishes the data set, or leaves what a resumed run needs.
    pub fn finish(mut self, out: &Path, started: Instant) -> Result<PackReport> {
        let total = self.plan.items.len() as u64;
        let cancelled = self.options.cancel.as_ref().is_some_and(|c| c.load(Ordering::Relaxed));
        if self.stopped.is_none() && cancelled && self.report.videos() < total {
            self.stopped = Some(Stop::Orderly(Error::interrupted("interrupted")));
        }
        let error = match self.stopped.take() {
            None => match self.publish(out) {
                Ok(mut report) => {
                    report.seconds = started.elapsed().as_secs_f64();
                    return Ok(report);
                }
                Err(e) => return Err(e.also_help("free space if that is the cause, and go on with --resume")),
            },
            Some(Stop::Broken(e)) => e,
            Some(Stop::Orderly(e)) if !self.journal.has_notes() => e,
            Some(Stop::Orderly(e)) => self.commit().err().unwrap_or(e),
        };
        let kept = self.last_commit.videos;
        if kept == 0 {
            // Nothing is lost by it, and the folder is as it was.
            let _lock = self.writer.discard();
            Journal::remove(out)?;
            return Err(error);
        }
        Err(error.also_help(format!("{kept} of {total} videos are done and kept; go on with --resume")))
    }

    fn publish(self, out: &Path) -> Result<PackReport> {
        let Run { mut writer, mut journal, mut report, .. } = self;
        let failures = lines(&report.failures)?;
        if report.clips == 0 {
            let _lock = writer.discard();
            write_file(&out.join(names::FAILURES), failures.as_bytes())?;
            report.failures_file = Some(names::FAILURES.into());
            Journal::remove(out)?;
            return Ok(report);
        }
        if !failures.is_empty() {
            report.failures_file = Some(writer.set_failures(report.failed, &failures)?);
        }
        let ready = writer.complete()?;
        let (plan, _lock) = ready.staged.into_plan();
        let failures_file = report.failures_file.clone();
        let complete = Box::new(Complete { plan, written: ready.written, failures_file });
        journal.mark(&Entry::Complete(complete.clone()))?;
        complete.plan.carry_out(out)?;
        Journal::remove(out)?;
        report.bytes = ready.written.bytes;
        Ok(report)
    }
}

/// The content of `failures.jsonl`.
fn lines(failures: &[Failure]) -> Result<String> {
    let mut lines = String::new();
    for failure in failures {
        lines += &serde_json::to_string(failure).map_err(|e| Error::internal(format!("failures: {e}")))?;
        lines.push('\n');
    }
    Ok(lines)
}

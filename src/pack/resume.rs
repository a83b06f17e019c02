//! How a run begins: anew, or where an interrupted one was left.

use std::path::Path;

use super::fingerprint::{Difference, RunFingerprint, check_input, refusal};
use super::inputs::{Item, Plan};
use super::journal::{Entry, Journal, Lines, Summary};
use super::outcome::{Done, Outcome};
use super::report::PackReport;
use super::{Interrupted, PackOptions};
use crate::disk::FolderLock;
use crate::format::meta::Meta;
use crate::{Error, Result, Writer, WriterOptions};

/// Where a run begins.
pub(super) enum Start {
    /// With the video after those of the report.
    At(Box<(Writer, Journal, PackReport)>),
    /// At the end: everything was packed, and has now got its names.
    Published(Box<PackReport>),
}

/// Looks for an interrupted run in `out`. One of which nothing is on the disk is none.
pub(super) fn find(out: &Path) -> Result<Option<Summary>> {
    Ok(Summary::read(out)?.filter(|s| s.videos > 0 || s.complete.is_some()))
}

/// Begins, or does with the run that was found what the options say.
pub(super) fn start(
    out: &Path,
    lock: FolderLock,
    found: Option<Summary>,
    plan: &Plan,
    meta: Meta,
    fingerprint: &RunFingerprint,
    options: &PackOptions,
) -> Result<Start> {
    let mut writer_options = WriterOptions { meta, overwrite: options.overwrite || options.retry_failed };
    match (found, options.interrupted) {
        (Some(found), Interrupted::Refuse) => Err(is_there(out, &found)),
        (Some(found), Interrupted::Resume) => {
            if let Some(difference) = found.fingerprint.difference(fingerprint) {
                return Err(refusal(out, other_video(out, plan, found.end)?.unwrap_or(difference)));
            }
            writer_options.overwrite |= found.fingerprint.overwrite;
            resume(out, plan, writer_options, lock, found)
        }
        (found, _) => {
            // Some of its files may have their names already.
            let complete = found.and_then(|f| f.complete);
            writer_options.overwrite |= complete.map_or(Ok(false), |c| c.plan.settle(out))?;
            begin(out, plan, writer_options, lock, fingerprint)
        }
    }
}

fn is_there(out: &Path, found: &Summary) -> Error {
    let (done, total) = (found.videos, found.fingerprint.videos);
    Error::usage(format!("an interrupted pack is here, with {done} of {total} videos done"))
        .file(out)
        .help("continue it (--resume), or throw it away and start over (--restart)")
}

fn begin(
    out: &Path,
    plan: &Plan,
    options: WriterOptions,
    lock: FolderLock,
    fingerprint: &RunFingerprint,
) -> Result<Start> {
    let mut writer = Writer::create_locked(out, options, lock)?;
    let journal = Journal::begin(out, fingerprint)?;
    writer.keep_temporaries();
    Ok(Start::At(Box::new((writer, journal, PackReport::new(plan)))))
}

fn resume(out: &Path, plan: &Plan, options: WriterOptions, lock: FolderLock, found: Summary) -> Result<Start> {
    let mut report = PackReport::new(plan);
    if let Some(complete) = found.complete {
        replay(out, plan, found.end, &mut report, |_, _, _| Ok(()))?;
        complete.plan.carry_out(out)?;
        Journal::remove(out)?;
        report.bytes = complete.written.bytes;
        report.failures_file = complete.failures_file;
        report.resumed_at = Some(report.videos());
        return Ok(Start::Published(Box::new(report)));
    }
    // First, so that a run that is refused changes nothing.
    replay(out, plan, found.end, &mut PackReport::new(plan), |_, item, done| check_input(out, item, done.stamp))?;
    let (points, ends): (Vec<_>, Vec<_>) = found.checkpoints.into_iter().unzip();
    let (mut writer, intact) = Writer::resume(out, options, lock, found.shards, &points)?;
    let end = intact.map_or(found.shards_end, |i| ends[i]);
    replay(out, plan, end, &mut report, |line_end, _, done| match &done.outcome {
        Outcome::Packed { clips, .. } if line_end > found.shards_end => {
            clips.iter().try_for_each(|clip| writer.restore_clip(&clip.info, clip.frames))
        }
        _ => Ok(()),
    })?;
    if !writer.is_restored() {
        return Err(Error::usage("the journal and the record file do not belong together")
            .file(out)
            .help("start over (--restart)"));
    }
    report.resumed_at = Some(report.videos());
    let journal = Journal::resume(out, end)?;
    Ok(Start::At(Box::new((writer, journal, report))))
}

/// The first video that is done and stands no more where it stood, by its name.
fn other_video(out: &Path, plan: &Plan, end: u64) -> Result<Option<Difference>> {
    let Some(mut lines) = Lines::open(out)? else { return Ok(None) };
    while lines.end < end {
        let Some(entry) = lines.next()? else { break };
        let Entry::Done(done) = entry else { continue };
        let then = match &done.outcome {
            Outcome::Packed { clips, .. } => clips.first().map(|clip| clip.info.source.as_str()),
            Outcome::Failed(failure) => Some(failure.source.as_str()),
        };
        let now = usize::try_from(done.item).ok().and_then(|i| plan.items.get(i)).map(|item| item.source.as_str());
        if then.is_some() && then != now {
            let name = |name: Option<&str>| name.unwrap_or("none").to_owned();
            return Ok(Some((format!("video {}", done.item), name(then), name(now))));
        }
    }
    Ok(None)
}

/// Gives the videos that the journal has up to byte `end` to `each`, with where their lines end, and to the report.
fn replay(
    out: &Path,
    plan: &Plan,
    end: u64,
    report: &mut PackReport,
    mut each: impl FnMut(u64, &Item, &Done) -> Result<()>,
) -> Result<()> {
    let Some(mut lines) = Lines::open(out)? else { return Ok(()) };
    while lines.end < end {
        let Some(entry) = lines.next()? else { break };
        let Entry::Done(done) = entry else { continue };
        let item = plan.items.get(usize::try_from(done.item).unwrap_or(usize::MAX));
        let item = item.filter(|_| done.item == report.videos()).ok_or_else(|| {
            Error::usage("the journal is not that of these videos").file(out).help("start over (--restart)")
        })?;
        each(lines.end, item, &done)?;
        report.push(item, &done.outcome);
    }
    Ok(())
}

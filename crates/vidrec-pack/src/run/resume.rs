//! How a run begins: from the start, or where an interrupted one ended.

use std::path::Path;

use super::fingerprint::{Difference, RunFingerprint, refusal};
use super::journal::{Journal, JournalEntry, JournalLines, JournalSummary};
use super::options::IfExists;
use super::outcome::{Done, Outcome};
use super::report::PackReport;
use super::run::carry_out;
use crate::plan::{Job, PackPlan};
use crate::work::changed_file;
use vidrec_dataset::writer::{Writer, WriterOptions};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::meta::Meta;
use vidrec_store::disk::FolderLock;

/// The point at which a run begins.
pub(crate) enum Beginning {
    /// The run begins with the video after those in the report.
    At(Box<(Writer, Journal, PackReport)>),
    /// The run is at its end: everything was packed, and the files now have their names.
    Published(Box<PackReport>),
}

/// Finds an interrupted run in `out`. A run that left nothing on disk does not count.
pub(crate) fn find(out: &Path) -> Result<Option<JournalSummary>> {
    Ok(JournalSummary::read(out)?.filter(|s| s.videos > 0 || s.complete.is_some()))
}

/// Begins a run, or handles the run that was found as the options say.
pub(crate) fn start(
    out: &Path,
    lock: FolderLock,
    found: Option<JournalSummary>,
    plan: &PackPlan,
    meta: Meta,
    fingerprint: &RunFingerprint,
    if_exists: IfExists,
) -> Result<Beginning> {
    let mut writer_options = WriterOptions { meta, overwrite: if_exists.replaces() };
    if let Some(found) = &found {
        if_exists.resumes(|| is_there(out, found))?;
    }
    let discards = |found: &JournalSummary| if_exists == IfExists::Replace && is_other(out, plan, found, fingerprint);
    match found {
        Some(found) if !discards(&found) => {
            if let Some(difference) = found.fingerprint.difference(fingerprint) {
                return Err(refusal(out, other_video(out, plan, found.end)?.unwrap_or(difference)));
            }
            writer_options.overwrite |= found.fingerprint.overwrite;
            resume(out, plan, writer_options, lock, found)
        }
        found => {
            // Some of its files may have their names already.
            let complete = found.and_then(|f| f.complete);
            writer_options.overwrite |= complete.map_or(Ok(false), |c| c.intent.settle(out))?;
            begin(out, plan, writer_options, lock, fingerprint)
        }
    }
}

/// Whether an interrupted run is another one, or its inputs have changed.
fn is_other(out: &Path, plan: &PackPlan, found: &JournalSummary, fingerprint: &RunFingerprint) -> bool {
    let check = |_, job: &Job, done: &Done| check_input(out, job, done);
    found.fingerprint.difference(fingerprint).is_some()
        || replay(out, plan, found.end, &mut PackReport::new(plan), check).is_err()
}

fn is_there(out: &Path, found: &JournalSummary) -> Error {
    let (done, total) = (found.videos, found.fingerprint.videos);
    Error::usage(format!("this folder has an interrupted pack, with {done} of {total} videos done")).file(out)
}

fn begin(
    out: &Path,
    plan: &PackPlan,
    options: WriterOptions,
    lock: FolderLock,
    fingerprint: &RunFingerprint,
) -> Result<Beginning> {
    let mut writer = Writer::create_locked(out, options, lock)?;
    let journal = Journal::begin(out, fingerprint)?;
    writer.keep_temporaries();
    Ok(Beginning::At(Box::new((writer, journal, PackReport::new(plan)))))
}

fn resume(
    out: &Path,
    plan: &PackPlan,
    options: WriterOptions,
    lock: FolderLock,
    found: JournalSummary,
) -> Result<Beginning> {
    let mut report = PackReport::new(plan);
    if let Some(complete) = found.complete {
        replay(out, plan, found.end, &mut report, |_, _, _| Ok(()))?;
        report.left_behind = carry_out(&complete.intent, out)?;
        (report.bytes, report.track_bytes) = (complete.written.bytes, complete.written.track_bytes);
        report.failures_file = complete.failures_file.map(String::from);
        report.resumed_at = Some(report.videos());
        return Ok(Beginning::Published(Box::new(report)));
    }
    // Check all inputs first, so that a run that is refused changes nothing.
    replay(out, plan, found.end, &mut PackReport::new(plan), |_, job, done| check_input(out, job, done))?;
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
            .hint(Hint::Restart));
    }
    report.resumed_at = Some(report.videos());
    let journal = Journal::resume(out, end)?;
    Ok(Beginning::At(Box::new((writer, journal, report))))
}

/// Returns the first video that is done but whose source is no longer at its place in the plan.
fn other_video(out: &Path, plan: &PackPlan, end: u64) -> Result<Option<Difference>> {
    let Some(mut lines) = JournalLines::open(out)? else { return Ok(None) };
    while lines.end < end {
        let Some(entry) = lines.next()? else { break };
        let JournalEntry::Done(done) = entry else { continue };
        let then = match &done.outcome {
            Outcome::Packed { clips, .. } => clips.first().map(|clip| clip.info.source.as_str()),
            Outcome::Failed(failure) => Some(failure.source.as_str()),
        };
        let now = usize::try_from(done.item).ok().and_then(|i| plan.jobs.get(i)).map(|job| job.source.as_str());
        if then.is_some() && then != now {
            let name = |name: Option<&str>| name.unwrap_or("none").to_owned();
            let what = format!("video {}", done.item);
            return Ok(Some(Difference { what, then: name(then), now: name(now) }));
        }
    }
    Ok(None)
}

/// Passes the videos in the journal up to byte `end` to `each`, with the end of their lines, and adds them to the
/// report.
fn replay(
    out: &Path,
    plan: &PackPlan,
    end: u64,
    report: &mut PackReport,
    mut each: impl FnMut(u64, &Job, &Done) -> Result<()>,
) -> Result<()> {
    let Some(mut lines) = JournalLines::open(out)? else { return Ok(()) };
    while lines.end < end {
        let Some(entry) = lines.next()? else { break };
        let JournalEntry::Done(done) = entry else { continue };
        let job = plan.jobs.get(usize::try_from(done.item).unwrap_or(usize::MAX));
        let job = job
            .filter(|_| done.item == report.videos())
            .ok_or_else(|| Error::usage("the journal belongs to other videos").file(out).hint(Hint::Restart))?;
        each(lines.end, job, &done)?;
        report.push(job, &done.outcome);
    }
    Ok(())
}

/// Checks that an input that was packed already is unchanged.
fn check_input(dir: &Path, job: &Job, done: &Done) -> Result<()> {
    let Some(changed) = changed_file(job, done.stamp, &done.track_stamps) else { return Ok(()) };
    let what = format!("the file {}", changed.file.display());
    Err(refusal(dir, Difference { what, then: changed.then, now: changed.now }))
}

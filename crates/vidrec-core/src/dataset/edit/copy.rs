//! Carries out plans: clips stream from data sets to writers, in the order of the plan.

use std::fs;
use std::path::{Path, PathBuf};

use super::options::EditOptions;
use super::output_plan::{OutputPlan, Pick};
use super::report::EditReport;
use crate::dataset::clock::{ClockStart, too_far};
use crate::dataset::writer::{self, ClipInfo, FrameData, OpenShard, Ready, Sharding, Writer, WriterOptions, Written};
use crate::dataset::{Clip, Dataset, Frame, TrackView};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::folder_of;
use crate::store::disk::regular_file::{Links, read_if_there};
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::error::{Error, ErrorKind, Hint, Result};
use vidrec_format::limits;
use vidrec_format::track::payload::Payload;

/// Like [`run`], for one output.
pub(super) fn run_one(
    plan: &OutputPlan<'_>,
    out: &Path,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    let reports = run(&[(plan, out.to_owned())], options, progress)?;
    reports.into_iter().next().ok_or_else(|| Error::internal("no report of the only output"))
}

/// Writes all outputs, and then publishes them one after the other.
///
/// If a run was killed in between, only the first ones exist. So where an output is missing, those that exist are compared
/// with the new ones instead of refused.
pub(super) fn run(
    plans: &[(&OutputPlan<'_>, PathBuf)],
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<EditReport>> {
    for (plan, out) in plans {
        plan.sources.iter().try_for_each(|s| refuse_input(&s.set, out))?;
    }
    let overwrite =
        options.overwrite || (plans.len() > 1 && plans.iter().any(|(_, out)| !out.join(FILE_NAME).exists()));
    let create = |(plan, out): &(&OutputPlan<'_>, PathBuf)| {
        Writer::create(out, WriterOptions { meta: plan.meta.clone(), overwrite })
    };
    let writers = plans.iter().map(create).collect::<Result<Vec<_>>>()?;
    fill(plans, writers, options, overwrite && !options.overwrite, progress)
}

/// Like [`run`], with the writer of the only output.
pub(super) fn fill_one(
    plan: &OutputPlan<'_>,
    writer: Writer,
    out: &Path,
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<EditReport> {
    let reports = fill(&[(plan, out.to_owned())], vec![writer], options, false, progress)?;
    reports.into_iter().next().ok_or_else(|| Error::internal("no report of the only output"))
}

/// Fills and publishes the outputs. If it `compares`, outputs that exist must be the same.
fn fill(
    plans: &[(&OutputPlan<'_>, PathBuf)],
    mut writers: Vec<Writer>,
    options: &EditOptions,
    compares: bool,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<EditReport>> {
    let total = plans.iter().map(|(plan, _)| plan.picks.len() as u64).sum();
    let mut counter = Counter::new(Some(total), progress);
    for ((plan, _), writer) in plans.iter().zip(&mut writers) {
        join_tracks(plan, writer)?;
    }
    for ((plan, _), writer) in plans.iter().zip(&mut writers) {
        stream(plan, options.shards, writer, &mut counter)?;
    }
    let ready = writers.into_iter().map(Writer::complete).collect::<Result<Vec<_>>>()?;
    let reports = ready.iter().zip(plans).map(|(ready, (plan, out))| report(&ready.written, plan, out));
    let mut reports: Vec<_> = reports.collect();
    let is_there = |(ready, (_, out)): (&Ready, &(_, PathBuf))| if compares { is_there(ready, out) } else { Ok(false) };
    let there = ready.iter().zip(plans).map(is_there).collect::<Result<Vec<bool>>>()?;
    for ((ready, report), there) in ready.into_iter().zip(&mut reports).zip(there) {
        if !there {
            report.left_behind = ready.staged.publish()?;
        }
    }
    Ok(reports)
}

/// Whether an output is there already.
///
/// # Errors
///
/// There is another data set in its place.
fn is_there(ready: &Ready, out: &Path) -> Result<bool> {
    let path = out.join(FILE_NAME);
    match read_if_there(&path, limits::MAX_LISTING_BYTES, Links::Follow)? {
        Some(there) if there == ready.json.to_bytes() => Ok(true),
        Some(_) => Err(writer::there_already(&path)),
        None => Ok(false),
    }
}

/// Registers the tracks of all inputs before anything is copied, so that conflicts are found first.
fn join_tracks(plan: &OutputPlan<'_>, writer: &mut Writer) -> Result<()> {
    plan.sources.iter().try_for_each(|source| {
        let place = source.set.record_files().next().unwrap_or(Path::new(""));
        writer.join_tracks(source.set.tracks()?.iter()).map_err(|e| e.file(place))
    })
}

fn report(written: &Written, plan: &OutputPlan<'_>, out: &Path) -> EditReport {
    EditReport {
        output: out.display().to_string(),
        clips: written.clips,
        frames: written.frames,
        bytes: written.bytes,
        shards: written.shards,
        left_out: plan.left_out(),
        not_found: plan.not_found.clone(),
        notes: plan.notes.clone(),
        ..EditReport::default()
    }
}

/// Refuses an output that would replace its own input, also if the input consists of links to it.
pub(super) fn refuse_input(set: &Dataset, out: &Path) -> Result<()> {
    // A folder that does not exist yet cannot be an input.
    let Ok(out_folder) = fs::canonicalize(out) else { return Ok(()) };
    for file in set.files() {
        let folders =
            [fs::canonicalize(folder_of(file)), fs::canonicalize(file).map(|file| folder_of(&file).to_owned())];
        if folders.into_iter().flatten().any(|folder| folder == out_folder) {
            return Err(Error::usage("the output is an input").file(out).help("choose another folder"));
        }
    }
    Ok(())
}

/// Writes the clips of a plan.
fn stream(
    plan: &OutputPlan<'_>,
    shards: Option<Sharding>,
    writer: &mut Writer,
    counter: &mut Counter<'_, '_>,
) -> Result<()> {
    let starts = shard_starts(plan, shards)?;
    let mut starts = starts.iter().peekable();
    for (i, pick) in plan.picks.iter().enumerate() {
        if starts.next_if(|&&start| start == i).is_some() {
            writer.next_shard()?;
        }
        let source = &plan.sources[pick.source];
        let clip = source.set.clip(pick.clip).map_err(advise_repair)?;
        let info = (source.describe)(&clip).map_err(advise_repair)?;
        let bytes = writer.bytes();
        append(writer, &info, &clip, plan.clock.as_ref())?;
        counter.add(clip.frame_count().into(), writer.bytes().saturating_sub(bytes))?;
    }
    Ok(())
}

fn append(writer: &mut Writer, info: &ClipInfo, clip: &Clip<'_>, clock: Option<&ClockStart>) -> Result<()> {
    let read = clip.frames().map(|frame| frame.and_then(|frame| frame.check().map(|()| frame)));
    let read = read.collect::<Result<Vec<_>>>().map_err(advise_repair)?;
    let (begin, begin_ns) = clock.map_or(Ok((0, 0)), |clock| clock.of(clip)).map_err(advise_repair)?;
    let pts = read.iter().map(|frame| frame.pts().checked_sub(begin)).collect::<Option<Vec<_>>>();
    let frames = read.iter().zip(pts.ok_or_else(|| too_far(clip))?);
    let frames = frames.map(|(frame, pts)| FrameData { jpeg: frame.jpeg(), pts, source_index: frame.source_index() });
    let tracks = clip.tracks().and_then(|tracks| tracks.all()).map_err(advise_repair)?;
    let moved = tracks.iter().map(|track| track.payload().earlier(begin_ns)).collect::<Option<Vec<_>>>();
    let moved = moved.ok_or_else(|| too_far(clip))?;
    let payloads = tracks.iter().zip(&moved);
    let payloads = payloads.map(|(track, (facts, bytes))| Payload { schema: track.schema(), facts: *facts, bytes });
    writer.append_payloads(info, &frames.collect::<Vec<_>>(), &payloads.collect::<Vec<_>>())?;
    tracks.iter().try_for_each(TrackView::prove_still_there)?;
    read.iter().try_for_each(Frame::prove_still_there)
}

fn advise_repair(e: Error) -> Error {
    if e.kind() != ErrorKind::Format {
        return e;
    }
    e.hint(Hint::Verify).hint(Hint::Repair)
}

/// Positions in the plan at which a shard begins, except the first.
fn shard_starts(plan: &OutputPlan<'_>, shards: Option<Sharding>) -> Result<Vec<usize>> {
    shards.map_or_else(|| Ok(starts_as_input(plan)), |sharding| starts(plan, sharding))
}

/// A few clips of many shards do not make as many shards: one ends at the first end of an input shard at which the shares
/// of the input shards that it has make half of one.
fn starts_as_input(plan: &OutputPlan<'_>) -> Vec<usize> {
    let home = |p: &Pick| (p.source, plan.sources[p.source].set.shard_of(p.clip));
    let (mut starts, mut share, mut before) = (Vec::new(), 0.0, None);
    for (i, pick) in plan.picks.iter().enumerate() {
        let (source, shard) = home(pick);
        let changes = before.replace((source, shard)).is_some_and(|before| before != (source, shard));
        if changes && share >= 0.5 && i.is_multiple_of(plan.group as usize) {
            starts.push(i);
            share = 0.0;
        }
        share += 1.0 / plan.sources[source].set.clips_of_shard(shard) as f64;
    }
    starts
}

fn starts(plan: &OutputPlan<'_>, sharding: Sharding) -> Result<Vec<usize>> {
    sharding.check()?;
    let videos = plan.picks.len() as u64 / plan.group;
    let (mut starts, mut open) = (Vec::new(), OpenShard::default());
    for group in plan.picks.chunks(plan.group as usize) {
        let sizes = || group.iter().map(|p| plan.sources[p.source].set.clip(p.clip)?.record_bytes());
        let bytes = if matches!(sharding, Sharding::Bytes(_)) { sizes().sum::<Result<u64>>()? } else { 0 };
        if sharding.ends_before(videos, open, bytes) {
            starts.push((open.videos * plan.group) as usize);
            open.bytes = 0;
        }
        open = OpenShard { videos: open.videos + 1, bytes: open.bytes.saturating_add(bytes) };
    }
    Ok(starts)
}

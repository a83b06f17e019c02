//! Carries out plans: clips stream from data sets to writers, in the order of the plan.

use std::path::{Path, PathBuf};

use super::plan::{EditOptions, EditReport, OutputPlan};
use crate::dataset::clock::{beginning, too_far};
use crate::dataset::writer::{ClipInfo, FrameData, OpenShard, Sharding, WriteReport, Writer, WriterOptions};
use crate::dataset::{Clip, Dataset, Frame, TrackView};
use crate::progress::{Counter, ProgressFn};
use crate::store::disk::publication::Staged;
use vidrec_format::track::payload::Payload;
use vidrec_format::{DatasetJson, Error, ErrorKind, Hint, Result};

/// Writes all outputs, and then publishes them one after the other.
pub(super) fn write_all(
    plans: &[(OutputPlan<'_>, PathBuf)],
    options: &EditOptions,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<EditReport>> {
    plans.iter().try_for_each(|(plan, out)| plan.refuse_output(out))?;
    let create = |(plan, out): &(OutputPlan<'_>, PathBuf)| {
        Writer::create(out, WriterOptions { meta: plan.meta.clone(), overwrite: options.overwrite })
    };
    let writers = plans.iter().map(create).collect::<Result<Vec<_>>>()?;
    let mut counter = Counter::new(Some(plans.iter().map(|(plan, _)| plan.picks.len() as u64).sum()), progress);
    let mut staged = Vec::new();
    for ((plan, _), writer) in plans.iter().zip(writers) {
        staged.push(stage(plan, writer, options.shards, &mut counter)?);
    }
    staged.into_iter().zip(plans).map(|((files, _, written), (plan, out))| publish(files, written, plan, out)).collect()
}

/// Copies the clips of a plan, and stages their shards.
pub(super) fn stage(
    plan: &OutputPlan<'_>,
    mut writer: Writer,
    shards: Option<Sharding>,
    counter: &mut Counter<'_, '_>,
) -> Result<(Staged, DatasetJson, WriteReport)> {
    // The tracks of all inputs are registered before anything is copied, so that conflicts are found first.
    for set in &plan.sources {
        writer.join_tracks(set.tracks()?.iter()).map_err(|e| e.file(set.first_file()))?;
    }
    let starts = shards.map_or_else(|| Ok(starts_as_input(plan)), |sharding| starts(plan, sharding))?;
    let mut starts = starts.iter().peekable();
    for (i, &(source, clip)) in plan.picks.iter().enumerate() {
        if starts.next_if(|&&start| start == i).is_some() {
            writer.next_shard()?;
        }
        let clip = plan.sources[source].clip(clip).map_err(advise_repair)?;
        let info = (plan.describe)(source, &clip).map_err(advise_repair)?;
        let bytes = writer.bytes();
        append(&mut writer, &info, &clip, plan.align_clocks)?;
        counter.add(clip.frame_count().into(), writer.bytes().saturating_sub(bytes))?;
    }
    writer.stage()
}

/// Publishes an output, and reports about it.
pub(super) fn publish(files: Staged, written: WriteReport, plan: &OutputPlan<'_>, out: &Path) -> Result<EditReport> {
    let clips: u64 = plan.sources.iter().map(Dataset::len).sum();
    Ok(EditReport {
        output: out.display().to_string(),
        clips: written.clips,
        frames: written.frames,
        bytes: written.bytes,
        shards: written.shards,
        left_out: clips.saturating_sub(plan.picks.len() as u64),
        not_found: plan.not_found.clone(),
        notes: plan.notes.clone(),
        left_behind: files.publish()?,
    })
}

fn append(writer: &mut Writer, info: &ClipInfo, clip: &Clip<'_>, align_clocks: bool) -> Result<()> {
    let read = clip.frames().map(|frame| frame.and_then(|frame| frame.check().map(|()| frame)));
    let read = read.collect::<Result<Vec<_>>>().map_err(advise_repair)?;
    let (begin, begin_ns) = if align_clocks { beginning(clip).map_err(advise_repair)? } else { (0, 0) };
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
    if e.kind() == ErrorKind::Format { e.hint(Hint::Verify).hint(Hint::Repair) } else { e }
}

/// Positions in the plan at which a shard begins, except the first.
///
/// A few clips of many shards do not make as many shards: one ends at the first end of an input shard at which the shares
/// of the input shards that it has make half of one.
fn starts_as_input(plan: &OutputPlan<'_>) -> Vec<usize> {
    let (mut starts, mut share, mut before) = (Vec::new(), 0.0, None);
    for (i, &(source, clip)) in plan.picks.iter().enumerate() {
        let shard = plan.sources[source].shard_of(clip);
        let changes = before.replace((source, shard)).is_some_and(|before| before != (source, shard));
        if changes && share >= 0.5 && i.is_multiple_of(plan.draws as usize) {
            starts.push(i);
            share = 0.0;
        }
        share += 1.0 / plan.sources[source].clips_of_shard(shard) as f64;
    }
    starts
}

/// Positions in the plan at which a shard begins, except the first.
fn starts(plan: &OutputPlan<'_>, sharding: Sharding) -> Result<Vec<usize>> {
    sharding.check()?;
    let videos = plan.picks.len() as u64 / plan.draws;
    let (mut starts, mut open) = (Vec::new(), OpenShard::default());
    for video in plan.picks.chunks(plan.draws as usize) {
        let sizes = || video.iter().map(|&(source, clip)| plan.sources[source].clip(clip)?.record_bytes());
        let bytes = if matches!(sharding, Sharding::Bytes(_)) { sizes().sum::<Result<u64>>()? } else { 0 };
        if sharding.ends_before(videos, open, bytes) {
            starts.push((open.videos * plan.draws) as usize);
            open.bytes = 0;
        }
        open = OpenShard { videos: open.videos + 1, bytes: open.bytes.saturating_add(bytes) };
    }
    Ok(starts)
}

//! The parts of remote files that batches need.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::engine::Engine;
use super::samples::PlannedSample;
use super::schedule::{BatchNumber, BatchPlan};
use super::worker::frame_key;
use crate::dataset::Clip;
use crate::store::remote::{REQUEST_BYTES, RemoteFile};
use vidrec_format::error::{ErrorKind, Result};
use vidrec_format::track::schema::ATTRIBUTES;

/// Parts that are so near each other share a request.
const NEAR: u64 = 4096;

/// A part of a remote file.
#[derive(Debug)]
pub(crate) struct Need {
    file: Arc<RemoteFile>,
    range: Range<u64>,
    /// The first and the last batch that need it, by their places among the batches that are planned together.
    pub first: usize,
    pub last: usize,
}

impl Need {
    pub fn bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    pub fn ask(&self) -> Result<()> {
        self.file.ask(std::slice::from_ref(&self.range))
    }
}

/// Asks for everything that batch `k` of `epoch` needs of remote files, all at once.
///
/// # Errors
///
/// The index entries of the batch could not be fetched.
pub(crate) fn ask_for(engine: &Engine, epoch: u64, k: u64) -> Result<()> {
    if !engine.specs.dataset.is_remote() {
        return Ok(());
    }
    ask(engine, &plan(engine, &[BatchNumber { epoch, k }])?)
}

/// Plans a batch of the samples at some positions of `epoch`, and asks for everything that it needs of remote files.
///
/// # Errors
///
/// There is no such sample, or the index entries of the batch could not be fetched.
pub(crate) fn plan_at(engine: &Engine, epoch: u64, positions: &[u64]) -> Result<BatchPlan> {
    let plan = engine.batch_at(epoch, positions)?;
    if engine.specs.dataset.is_remote() {
        bring(engine, &plan.samples)?;
        ask(engine, &needs_of(engine, [(0, &plan)]))?;
    }
    Ok(plan)
}

fn ask(engine: &Engine, needs: &[Need]) -> Result<()> {
    let bytes: u64 = needs.iter().map(Need::bytes).sum();
    engine.specs.dataset.remotes().iter().for_each(|remote| remote.need_memory(bytes.saturating_mul(2)));
    needs.iter().try_for_each(Need::ask)
}

/// Returns what some batches need, in the order of use.
///
/// # Errors
///
/// The index entries of the batches could not be fetched. Other errors come with the batch.
pub(super) fn plan(engine: &Engine, batches: &[BatchNumber]) -> Result<Vec<Need>> {
    bring_entries(engine, batches)?;
    let plans: Vec<_> = batches.iter().map(|number| engine.batch(number.epoch, number.k)).collect();
    let known = plans.iter().enumerate().filter_map(|(place, plan)| Some((place, plan.as_ref().ok()?)));
    Ok(needs_of(engine, known))
}

/// Returns what some batches need, by their places among the batches that are planned together.
fn needs_of<'a>(engine: &Engine, batches: impl IntoIterator<Item = (usize, &'a BatchPlan)>) -> Vec<Need> {
    // All samples of a clip are planned together, so that a run that several of them need is one run.
    let mut clips: BTreeMap<u64, (Vec<u32>, usize, usize)> = BTreeMap::new();
    for (place, plan) in batches {
        for sample in &plan.samples {
            let Ok((_, frames)) = to_read(engine, sample, plan.shape.frames, plan.shape.size) else { continue };
            let (all, _, last) = clips.entry(sample.clip).or_insert((Vec::new(), place, place));
            all.extend(frames);
            *last = place;
        }
    }
    let mut needs = Vec::new();
    for (clip, (frames, first, last)) in clips {
        let Ok(clip) = engine.specs.dataset.clip(clip) else { continue };
        let mut add = |file: &Arc<RemoteFile>, range| needs.push(Need { file: file.clone(), range, first, last });
        if let Ok(Some((file, runs))) = clip.remote_ranges(&frames) {
            runs.into_iter().for_each(|run| add(file, run));
        }
        // If the location of the tracks is unknown, the batch asks for them, one clip after another.
        let (tracks, has_fields) = (&engine.tracks, !engine.options.fields.is_empty());
        if (has_fields || !tracks.is_empty())
            && let Ok(runs) = clip.remote_tracks(|name| tracks.has(name) || (has_fields && name == ATTRIBUTES))
        {
            runs.into_iter().for_each(|(file, run)| add(file, run));
        }
    }
    merged(needs)
}

/// Merges neighbors into parts of at most one request, and sorts them by first use.
fn merged(mut needs: Vec<Need>) -> Vec<Need> {
    needs.sort_by_key(|need| (Arc::as_ptr(&need.file) as usize, need.range.start));
    let mut merged: Vec<Need> = Vec::new();
    for need in needs {
        match merged.last_mut().filter(|before| {
            Arc::ptr_eq(&before.file, &need.file)
                && before.range.end + NEAR >= need.range.start
                && need.range.end.saturating_sub(before.range.start) <= REQUEST_BYTES
        }) {
            Some(before) => {
                before.range.end = before.range.end.max(need.range.end);
                before.first = before.first.min(need.first);
                before.last = before.last.max(need.last);
            }
            None => merged.push(need),
        }
    }
    merged.sort_by_key(|need| need.first);
    merged
}

/// Fetches the index entries of all clips of the batches together. Includes the clips of other ranks if these
/// decide on lengths.
fn bring_entries(engine: &Engine, batches: &[BatchNumber]) -> Result<()> {
    let mut samples = Vec::new();
    for number in batches {
        let plan = engine.schedule.batch_of_all(number.epoch, number.k);
        let all = plan.as_ref().is_ok_and(|plan| !plan.shape.exact);
        let plan = if all { plan } else { engine.schedule.batch(number.epoch, number.k) };
        samples.extend(plan.into_iter().flat_map(|plan| plan.samples));
    }
    bring(engine, &samples)
}

/// Fetches the index entries of the clips of samples together.
///
/// # Errors
///
/// They could not be fetched. Other errors come with the batch.
fn bring(engine: &Engine, samples: &[PlannedSample]) -> Result<()> {
    let mut clips: Vec<u64> = samples.iter().map(|sample| sample.clip).collect();
    clips.sort_unstable();
    clips.dedup();
    match engine.specs.dataset.prefetch(&clips, !engine.options.fields.is_empty()) {
        Err(e) if e.kind() == ErrorKind::Io => Err(e),
        _ => Ok(()),
    }
}

/// Returns the clip of a sample in a batch of `length` frames of `size` pixels, and those of its frames that must be read:
/// all but those in the cache of decoded frames, and those whose JPEGs a device keeps. Errors come later, with the batch.
pub(super) fn to_read<'a>(
    engine: &'a Engine,
    sample: &PlannedSample,
    length: u32,
    size: (u32, u32),
) -> Result<(Clip<'a>, Vec<u32>)> {
    let (clip, mut frames) = engine.specs.read_frames(sample, length)?;
    if let Some(device) = engine.device.get() {
        frames.retain(|&t| frame_key(&clip, t).ok().and_then(|key| device.find(key)).is_none());
    }
    if let (Some(cache), Some(scale)) = (&engine.decoded, engine.specs.scale(sample, &clip, size)) {
        frames.retain(|&t| frame_key(&clip, t).ok().and_then(|key| cache.find(key, scale)).is_none());
    }
    Ok((clip, frames))
}

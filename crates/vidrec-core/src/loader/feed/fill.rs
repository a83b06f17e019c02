//! Makes one batch: reads every sample into its slot, and decodes every frame into its place.

use half::{bf16, f16};
use rayon::prelude::*;

use super::buckets::BatchShape;
use super::engine::Engine;
use super::needs::to_read;
use super::sample_spec::SampleSpec;
use super::samples::PlannedSample;
use super::schedule::BatchPlan;
use super::tracks::{PictureView, slots as track_slots};
use super::worker::CacheUse;
use crate::loader::batch::{Batch, BatchData, for_each_dtype};
use crate::loader::counters::Counts;
use crate::loader::decoded::Kept;
use crate::loader::kernel::{Kernel, PictureBuffer, SampleType};
use crate::loader::options::{Dtype, Layout, LoaderOptions, OnBadFrame};
use crate::loader::track_batch::{TrackBuffer, parts};
use crate::stop::{self, Stop};
use crate::store::disk::regular_file::Advice;
use crate::store::location::is_remote;
use vidrec_format::error::{Error, ErrorKind, Result};

/// The number of replacements that are drawn for an unreadable sample before it is an error.
const SUBSTITUTE_TRIES: u64 = 16;

/// The place of a sample in a batch.
pub(crate) trait SampleBuffer: Send {
    /// Puts the frames of a sample here. If several fail, the error is that of the first one.
    fn fill(&mut self, engine: &Engine, plan: &SampleSpec<'_>) -> Result<()>;
}

/// Replaces the contents of `batch` by batch `k` of `epoch`, and reuses its memory.
pub(crate) fn fill(engine: &Engine, epoch: u64, k: u64, batch: &mut Batch) -> Result<()> {
    fill_plan(engine, &engine.batch(epoch, k)?, batch)?;
    engine.counters.lock().stats.batches += 1;
    Ok(())
}

/// Replaces the contents of `batch`, as [`fill`], by a batch that a device declined.
pub(crate) fn fill_declined(engine: &Engine, epoch: u64, k: u64, batch: &mut Batch) -> Result<()> {
    fill_plan(engine, &engine.batch(epoch, k)?, batch)?;
    let [clips, frames, ..] = batch.shape();
    engine.counters.lock().stats.device_declined += (clips * frames) as u64;
    Ok(())
}

/// Replaces the contents of `batch` by these samples, and reuses its memory.
pub(super) fn fill_plan(engine: &Engine, plan: &BatchPlan, batch: &mut Batch) -> Result<()> {
    batch.reshape(plan.shape.dimensions(&engine.options));
    batch.reserve(engine.options.dtype)?;
    let mut data = std::mem::take(&mut batch.data);
    let filled = for_each_dtype!(&mut data, data => pictures(engine, plan, data, batch));
    batch.data = data;
    filled
}

/// Replaces the contents of `batch`, as [`fill`], but the data goes to the start of `memory`, and [`Batch::data`]
/// is empty.
pub(crate) fn fill_into(engine: &Engine, epoch: u64, k: u64, memory: &mut [u8], batch: &mut Batch) -> Result<()> {
    let expected = engine.batch_bytes();
    if memory.len() != expected {
        return Err(Error::usage("the memory for a batch has the wrong size")
            .expected(format!("{expected} bytes"))
            .found(format!("{} bytes", memory.len())));
    }
    let (plan, options) = (engine.batch(epoch, k)?, &engine.options);
    batch.reshape(plan.shape.dimensions(options));
    batch.data = BatchData::default();
    let memory = &mut memory[..plan.shape.values(options) * options.dtype.size()];
    match options.dtype {
        Dtype::U8 => pictures(engine, &plan, memory, batch),
        Dtype::F16 => pictures(engine, &plan, aligned::<f16>(memory)?, batch),
        Dtype::Bf16 => pictures(engine, &plan, aligned::<bf16>(memory)?, batch),
        Dtype::F32 => pictures(engine, &plan, aligned::<f32>(memory)?, batch),
    }?;
    engine.counters.lock().stats.batches += 1;
    Ok(())
}

/// Asks the system to read the pages of batch `k` of `epoch`, if it exists. Errors come later, with the batch.
pub(super) fn read_ahead(engine: &Engine, epoch: u64, k: u64) {
    if engine.specs.dataset.is_remote() {
        return;
    }
    let Ok(mut plan) = engine.batch(epoch, k) else { return };
    // The order of the files, so that neighbors in an order of blocks are read in sequence.
    plan.samples.sort_unstable_by_key(|sample| sample.sample);
    for sample in plan.samples {
        if let Ok((clip, frames)) = to_read(engine, &sample, plan.shape.frames, plan.shape.size) {
            clip.advise(&frames, Advice::Soon);
        }
    }
}

/// Reads the samples of a batch. Writes their pictures to `data`, and everything else to `batch`.
fn pictures<S: SampleType>(engine: &Engine, plan: &BatchPlan, data: &mut [S], batch: &mut Batch) -> Result<()> {
    let mut slots: Vec<&mut [S]> = parts(data, plan.samples.len()).collect();
    samples(engine, plan, &mut slots, batch)
}

/// Reads the samples of a batch. Writes their frames to `slots`, one for each sample, and everything else to
/// `batch`.
pub(super) fn samples<S: SampleBuffer>(
    engine: &Engine,
    plan: &BatchPlan,
    slots: &mut [S],
    batch: &mut Batch,
) -> Result<()> {
    let stop = Stop::current();
    let cameras = engine.options.cameras_per_sample();
    let count = plan.samples.len() / cameras;
    engine.tracks.reserve(&mut batch.tracks, count, plan.shape.frames, plan.shape.size)?;
    let tracks = track_slots(&mut batch.tracks, count);
    let read = |((samples, slots), mut tracks): ((&[PlannedSample], &mut [S]), Vec<TrackBuffer<'_>>)| {
        let mut room = SampleBuffers { shape: &plan.shape, slots, tracks: &mut tracks };
        stop::within(&stop, || read_or_substitute(engine, samples, &mut room))
    };
    let of_samples = || plan.samples.par_chunks(cameras).zip(slots.par_chunks_mut(cameras)).zip(tracks);
    let read: Vec<Result<Vec<SampleSpec<'_>>>> = engine.workers.install(|| of_samples().map(read).collect());
    let mut plans: Vec<SampleSpec<'_>> = Vec::with_capacity(plan.samples.len());
    for sample in read {
        plans.extend(sample.map_err(|e| engine.named(e))?);
    }
    if engine.episodes.is_some() {
        batch.camera_mask.extend(plans.iter().map(|plan| plan.is_there));
        // All other facts about a sample are those of its first camera.
        plans.retain(|plan| plan.sample.place.camera == 0);
    }
    batch.clips_on_all_ranks = plan.clips_on_all_ranks;
    finish(engine, plans, batch)
}

/// Where a sample goes: a slot for each camera, and its tracks.
struct SampleBuffers<'a, 't, S> {
    shape: &'a BatchShape,
    slots: &'a mut [S],
    tracks: &'a mut [TrackBuffer<'t>],
}

/// Reads a sample, with all its cameras.
fn read_or_substitute<'a, S: SampleBuffer>(
    engine: &'a Engine,
    samples: &[PlannedSample],
    room: &mut SampleBuffers<'_, '_, S>,
) -> Result<Vec<SampleSpec<'a>>> {
    match (read_cameras(engine, samples, room), engine.options.on_bad_frame) {
        (Err(e), OnBadFrame::Substitute) if is_of_the_data(&e) => substitute(engine, &samples[0], room).ok_or(e),
        (read, _) => read,
    }
}

/// Reads the first readable sample of those drawn to replace the one whose first camera has `sample`.
fn substitute<'a, S: SampleBuffer>(
    engine: &'a Engine,
    sample: &PlannedSample,
    room: &mut SampleBuffers<'_, '_, S>,
) -> Option<Vec<SampleSpec<'a>>> {
    let mut read = |attempt| {
        let other = engine.schedule.substitute(sample, attempt)?;
        read_cameras(engine, &engine.with_cameras(&other), room).ok()
    };
    let mut plans = (0..SUBSTITUTE_TRIES).find_map(&mut read)?;
    let instead_of = engine.given(sample.place.clip);
    plans.iter_mut().for_each(|plan| plan.params.instead_of = Some(instead_of));
    engine.counters.lock().stats.substituted_clips += 1;
    Some(plans)
}

/// Reads the clip of each camera; the first one brings the tracks. If several fail, the error is that of the first one.
fn read_cameras<'a, S: SampleBuffer>(
    engine: &'a Engine,
    samples: &[PlannedSample],
    room: &mut SampleBuffers<'_, '_, S>,
) -> Result<Vec<SampleSpec<'a>>> {
    let (stop, shape) = (Stop::current(), room.shape);
    let tracks = std::iter::once(&mut *room.tracks).chain(std::iter::repeat_with(Default::default));
    let tracks: Vec<&mut [TrackBuffer<'_>]> = tracks.take(samples.len()).collect();
    let read = |((sample, slot), tracks): ((&PlannedSample, &mut S), &mut [TrackBuffer<'_>])| {
        stop::within(&stop, || read(engine, *sample, shape, slot, tracks))
    };
    let read: Vec<Result<_>> = samples.par_iter().zip(&mut *room.slots).zip(tracks).map(read).collect();
    read.into_iter().collect()
}

/// Reads one sample.
fn read<'a>(
    engine: &'a Engine,
    sample: PlannedSample,
    shape: &BatchShape,
    slot: &mut impl SampleBuffer,
    tracks: &mut [TrackBuffer<'_>],
) -> Result<SampleSpec<'a>> {
    let mut plan = engine.specs.plan(sample, shape.frames, shape.size)?;
    if sample.place.camera == 0 {
        let look = |camera| look(engine, &plan, shape, camera);
        engine.tracks.read(&plan, tracks, &look)?;
    }
    plan.is_there = engine.episodes.as_ref().is_none_or(|episodes| episodes.is_there(sample.place.clip));
    slot.fill(engine, &plan)?;
    Ok(plan)
}

/// The part that a sample shows of the frames of a camera; `None` if its episode does not have the camera. `first` is the plan of its
/// first camera.
fn look(engine: &Engine, first: &SampleSpec<'_>, shape: &BatchShape, camera: u32) -> Result<Option<PictureView>> {
    let sample = engine.with_cameras(&first.sample)[camera as usize];
    if engine.episodes.as_ref().is_some_and(|episodes| !episodes.is_there(sample.place.clip)) {
        return Ok(None);
    }
    match camera {
        0 => PictureView::of(first),
        _ => PictureView::of(&engine.specs.plan(sample, shape.frames, shape.size)?),
    }
    .map(Some)
}

/// Decodes the pictures in parallel.
impl<S: SampleType> SampleBuffer for &mut [S] {
    fn fill(&mut self, engine: &Engine, plan: &SampleSpec<'_>) -> Result<()> {
        if plan.meant.is_empty() {
            return Ok(());
        }
        let kernel = plan.frame_size().map(|size| engine.specs.kernel(plan, size));
        let stop = Stop::current();
        let frame = |(t, slot): (usize, PictureBuffer<'_, S>)| {
            stop::within(&stop, || frame(engine, plan, kernel.as_ref(), t, slot)).err()
        };
        let mut slots = slots(&engine.options, self, plan.meant.len());
        let decoded = if plan.is_there { plan.frames.len() } else { 0 };
        let before = plan.before();
        slots.drain(before + decoded..).for_each(PictureBuffer::clear);
        slots.drain(..before).for_each(PictureBuffer::clear);
        slots.into_par_iter().enumerate().find_map_first(frame).map_or(Ok(()), Err)
    }
}

/// The slot of each picture in the data of a sample.
fn slots<'a, S: SampleType>(options: &LoaderOptions, clip: &'a mut [S], frames: usize) -> Vec<PictureBuffer<'a, S>> {
    let channels = options.channels.count();
    let length = clip.len() / frames;
    match options.layout {
        Layout::Btchw => clip.chunks_exact_mut(length).map(|p| PictureBuffer::planes(p, channels)).collect(),
        Layout::Bcthw => PictureBuffer::clip(clip, channels, frames),
        Layout::Bthwc => clip.chunks_exact_mut(length).map(|p| PictureBuffer::pixels(p, channels)).collect(),
    }
}

fn frame<S: SampleType>(
    engine: &Engine,
    plan: &SampleSpec<'_>,
    kernel: Option<&Kernel>,
    t: usize,
    slot: PictureBuffer<'_, S>,
) -> Result<()> {
    let other = |size| engine.specs.kernel(plan, size);
    let cache = engine.decoded.as_ref();
    let cost = engine.workers.worker().frame(&plan.clip, plan.frames[t], (kernel, cache), other, slot)?;
    let Counts { stats, cache, .. } = &mut *engine.counters.lock();
    stats.frames += 1;
    stats.bytes += cost.bytes;
    stats.tiles_decoded += cost.tiles_decoded;
    stats.tiles_skipped += cost.tiles_skipped;
    match cost.cached {
        None => {}
        Some(CacheUse::Hit) => cache.hits += 1,
        Some(CacheUse::OtherFrame) => cache.other_frames += 1,
        Some(CacheUse::Miss(kept)) => {
            cache.misses += 1;
            match kept {
                Kept::Yes(bytes) => cache.kept_bytes += bytes,
                Kept::NoRoom => cache.refused += 1,
                Kept::No => {}
            }
        }
    }
    Ok(())
}

/// Adds the facts to the batch, and tells the system what will not be needed again.
fn finish(engine: &Engine, plans: Vec<SampleSpec<'_>>, batch: &mut Batch) -> Result<()> {
    batch.fields = engine.fields.of(plans.iter().map(|plan| &plan.clip))?;
    for SampleSpec { sample, clip, frames, meant, mut params, .. } in plans {
        match &engine.mix {
            Some(mix) => {
                let (source, label) = mix.source_and_label(&clip, engine.given(clip.ordinal()))?;
                batch.source_ids.push(source);
                batch.labels.push(label);
            }
            None => batch.labels.push(clip.label().map_or(-1, i64::from)),
        }
        batch.clips.push(engine.given(clip.ordinal()));
        batch.mask.push(sample.counts);
        batch.frame_mask.extend(meant);
        params.frames = frames;
        batch.params.push(params);
    }
    Ok(())
}

/// Whether the data caused this error. An error of fetching is not of the data: it comes from the network and can
/// affect every clip.
fn is_of_the_data(e: &Error) -> bool {
    let is_fetching = e.kind() == ErrorKind::Io && e.path().is_some_and(is_remote);
    !is_fetching && matches!(e.kind(), ErrorKind::Io | ErrorKind::Format | ErrorKind::Limit | ErrorKind::Decode)
}

fn aligned<S: bytemuck::Pod>(memory: &mut [u8]) -> Result<&mut [S]> {
    let refused = |e| {
        Error::usage(format!("the memory for a batch is not suitable: {e}"))
            .expected(format!("aligned to {}", align_of::<S>()))
    };
    bytemuck::try_cast_slice_mut(memory).map_err(refused)
}

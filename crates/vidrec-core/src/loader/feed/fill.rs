//! Makes one batch: reads every sample into its slot, and decodes every frame into its place.

use half::{bf16, f16};
use rayon::prelude::*;

use super::buckets::BatchShape;
use super::engine::{Engine, Loader};
use super::needs::{ask_for, plan_at, to_read};
use super::sample_spec::SampleSpec;
use super::samples::PlannedSample;
use super::schedule::{BatchNumber, BatchPlan};
use super::tracks::slots as track_slots;
use crate::loader::batch::{Batch, BatchData, TrackBuffer, parts};
use crate::loader::decoded::CacheUse;
use crate::loader::kernel::{Kernel, PictureBuffer, SampleType};
use crate::loader::options::{Dtype, Layout, LoaderOptions, OnBadFrame};
use crate::stop::{self, Stop};
use crate::store::location::is_remote;
use crate::store::read_at::Advice;
use vidrec_format::error::{Error, ErrorKind, Result};
use vidrec_jpeg::Pixels;

/// The number of replacements that are drawn for an unreadable sample before it is an error.
const SUBSTITUTE_TRIES: u64 = 16;

/// The place of a sample in a batch.
pub(crate) trait SampleBuffer: Send {
    /// Puts the frames of a sample here. If several fail, the error is that of the first one.
    fn fill(&mut self, engine: &Engine, plan: &SampleSpec<'_>) -> Result<()>;
}

impl Loader {
    /// Makes batch `k` of `epoch`, counted from 0, now. This is random access, without a background thread.
    ///
    /// # Errors
    ///
    /// There is no such batch, or a frame is damaged or cannot be decoded. In the latter case, the error names
    /// file, clip and frame of the first such frame in the batch.
    pub fn batch(&self, epoch: u64, k: u64) -> Result<Batch> {
        self.engine.made(epoch, k, Batch::default())
    }

    /// Makes a batch of the samples at some positions of `epoch`, in this order, now. A position may come more than once.
    ///
    /// Position `i` is that of the loader's order: without an order, sample `i` of the data set. It has the crop, flip, colors
    /// and frames that it has in the batches of that epoch, whatever the others are.
    ///
    /// # Errors
    ///
    /// There is no such sample; there are no positions; samples differ in length or shape ([`is_even`](Self::is_even)); and the
    /// errors of [`batch`](Self::batch).
    pub fn batch_at(&self, epoch: u64, positions: &[u64]) -> Result<Batch> {
        if positions.is_empty() {
            return Err(Error::usage("a batch of no samples").expected("at least one position"));
        }
        let (engine, mut batch) = (&*self.engine, Batch::default());
        batch.fill(engine, &plan_at(engine, epoch, positions)?)?;
        engine.counters.lock().batches += 1;
        Ok(batch)
    }

    /// Makes a batch as [`batch`](Self::batch) does, but the data goes to `memory` of the caller (pinned, shared,
    /// or an array of another language). The data has the form of [`BatchData::bytes`], and [`Batch::data`] is
    /// empty. Frames are decoded directly into the memory. This is fastest if the memory begins at a multiple of
    /// 64 bytes. A smaller batch fills only the start of it, in the [`shape`](Batch::shape) of that batch. After an error, the contents of `memory` are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// The errors of [`batch`](Self::batch), and memory that does not have [`batch_bytes`](Self::batch_bytes)
    /// bytes or is not aligned for a value.
    pub fn batch_into(&self, epoch: u64, k: u64, memory: &mut [u8]) -> Result<Batch> {
        Ok(self.engine.made(epoch, k, CallerBuffer { memory, batch: Batch::default() })?.batch)
    }

    /// Makes a batch that the device declined, as [`batch`](Self::batch) does. It has been counted.
    ///
    /// # Errors
    ///
    /// The errors of [`batch`](Self::batch).
    #[doc(hidden)]
    pub fn batch_for_device(&self, epoch: u64, k: u64) -> Result<Batch> {
        let (engine, mut batch) = (&*self.engine, Batch::default());
        ask_for(engine, epoch, k)?;
        fill_plan(engine, &engine.batch(epoch, k)?, &mut batch)?;
        let [clips, frames, ..] = batch.shape();
        engine.counters.lock().device_declined += (clips * frames) as u64;
        Ok(batch)
    }
}

/// The memory in which a batch is made.
pub(crate) trait BatchBuffer: Send {
    /// Replaces its contents by a batch, and reuses its memory.
    fn fill(&mut self, engine: &Engine, plan: &BatchPlan) -> Result<()>;
}

impl Engine {
    /// Replaces the contents of a batch, and counts it.
    pub(super) fn fill(&self, BatchNumber { epoch, k }: BatchNumber, batch: &mut impl BatchBuffer) -> Result<()> {
        batch.fill(self, &self.batch(epoch, k)?)?;
        self.counters.lock().batches += 1;
        Ok(())
    }

    /// Makes a batch now.
    pub(super) fn made<T: BatchBuffer>(&self, epoch: u64, k: u64, mut batch: T) -> Result<T> {
        ask_for(self, epoch, k)?;
        self.fill(BatchNumber { epoch, k }, &mut batch)?;
        Ok(batch)
    }
}

/// The memory of the consumer, and the facts about the batch in it.
pub struct CallerBuffer<M> {
    pub(super) memory: M,
    pub(super) batch: Batch,
}

impl BatchBuffer for Batch {
    fn fill(&mut self, engine: &Engine, plan: &BatchPlan) -> Result<()> {
        fill_plan(engine, plan, self)
    }
}

/// Replaces the contents of `batch` by these samples, and reuses its memory.
pub(super) fn fill_plan(engine: &Engine, plan: &BatchPlan, batch: &mut Batch) -> Result<()> {
    batch.reshape(plan.shape.dimensions(&engine.options));
    batch.reserve(engine.options.dtype)?;
    let mut data = std::mem::take(&mut batch.data);
    let filled = pictures(engine, plan, data.bytes_mut(), batch);
    batch.data = data;
    filled
}

/// The data goes to the start of the memory, and [`Batch::data`] is empty.
impl<M: AsMut<[u8]> + Send> BatchBuffer for CallerBuffer<M> {
    fn fill(&mut self, engine: &Engine, plan: &BatchPlan) -> Result<()> {
        let (memory, expected) = (self.memory.as_mut(), engine.batch_bytes());
        if memory.len() != expected {
            return Err(Error::usage("the memory for a batch has the wrong size")
                .expected(format!("{expected} bytes"))
                .found(format!("{} bytes", memory.len())));
        }
        let options = &engine.options;
        self.batch.reshape(plan.shape.dimensions(options));
        self.batch.data = BatchData::default();
        let memory = &mut memory[..plan.shape.values(options) * options.dtype.size()];
        pictures(engine, plan, memory, &mut self.batch)
    }
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

/// Reads the samples of a batch. Writes their pictures to `memory`, and everything else to `batch`.
fn pictures(engine: &Engine, plan: &BatchPlan, memory: &mut [u8], batch: &mut Batch) -> Result<()> {
    fn of<S: SampleType>(engine: &Engine, plan: &BatchPlan, memory: &mut [u8], batch: &mut Batch) -> Result<()> {
        let refused = |e| {
            Error::usage(format!("the memory for a batch is not suitable: {e}"))
                .expected(format!("aligned to {}", align_of::<S>()))
        };
        let values: &mut [S] = bytemuck::try_cast_slice_mut(memory).map_err(refused)?;
        let mut slots: Vec<&mut [S]> = parts(values, plan.samples.len()).collect();
        samples(engine, plan, &mut slots, batch)
    }
    match engine.options.dtype {
        Dtype::U8 => of::<u8>(engine, plan, memory, batch),
        Dtype::F16 => of::<f16>(engine, plan, memory, batch),
        Dtype::Bf16 => of::<bf16>(engine, plan, memory, batch),
        Dtype::F32 => of::<f32>(engine, plan, memory, batch),
    }
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
        stop::within(&stop, || read_or_substitute(engine, samples, &plan.shape, slots, &mut tracks))
    };
    let of_samples = || plan.samples.par_chunks(cameras).zip(slots.par_chunks_mut(cameras)).zip(tracks);
    let read: Vec<Result<Vec<SampleSpec<'_>>>> = engine.workers.install(|| of_samples().map(read).collect());
    let mut plans: Vec<SampleSpec<'_>> = Vec::with_capacity(plan.samples.len());
    for sample in read {
        plans.extend(sample.map_err(|e| engine.named(e))?);
    }
    for (name, track) in &mut batch.tracks {
        track.pad(name)?;
    }
    batch.frame_mask.extend(plans.iter().flat_map(SampleSpec::frame_mask));
    if engine.episodes.is_some() {
        batch.camera_mask.extend(plans.iter().map(|plan| plan.is_there));
        // All other facts about a sample are those of its first camera.
        plans.retain(|plan| plan.sample.camera == 0);
    }
    batch.clips_on_all_ranks = plan.clips_on_all_ranks;
    finish(engine, plans, batch)
}

/// Reads a sample, with all its cameras, into a slot for each camera and its tracks.
fn read_or_substitute<'a>(
    engine: &'a Engine,
    samples: &[PlannedSample],
    shape: &BatchShape,
    slots: &mut [impl SampleBuffer],
    tracks: &mut [TrackBuffer<'_>],
) -> Result<Vec<SampleSpec<'a>>> {
    let e = match read_cameras(engine, samples, shape, slots, tracks) {
        Err(e) if engine.options.on_bad_frame == OnBadFrame::Substitute && is_of_the_data(&e) => e,
        read => return read,
    };
    for attempt in 0..SUBSTITUTE_TRIES {
        let Some(other) = engine.schedule.substitute(&samples[0], attempt) else { continue };
        if let Ok(mut read) = read_cameras(engine, &engine.with_cameras(&other), shape, slots, tracks) {
            let instead_of = engine.given(samples[0].clip);
            read.iter_mut().for_each(|plan| plan.params.instead_of = Some(instead_of));
            engine.counters.lock().substituted_clips += 1;
            return Ok(read);
        }
    }
    Err(e)
}

/// Reads the clip of each camera; the first one brings the tracks. If several fail, the error is that of the first one.
fn read_cameras<'a>(
    engine: &'a Engine,
    samples: &[PlannedSample],
    shape: &BatchShape,
    slots: &mut [impl SampleBuffer],
    tracks: &mut [TrackBuffer<'_>],
) -> Result<Vec<SampleSpec<'a>>> {
    let stop = Stop::current();
    let tracks = std::iter::once(tracks).chain(std::iter::repeat_with(Default::default)).take(samples.len());
    let work: Vec<_> = samples.iter().zip(slots).zip(tracks).collect();
    let read = work
        .into_par_iter()
        .map(|((sample, slot), tracks)| stop::within(&stop, || read(engine, *sample, shape, slot, tracks)));
    read.collect::<Vec<_>>().into_iter().collect()
}

/// Reads one sample.
fn read<'a>(
    engine: &'a Engine,
    sample: PlannedSample,
    shape: &BatchShape,
    slot: &mut impl SampleBuffer,
    tracks: &mut [TrackBuffer<'_>],
) -> Result<SampleSpec<'a>> {
    let plan = plan(engine, sample, shape)?;
    if sample.camera == 0 {
        let of_camera = |camera: u32| {
            let of_camera = self::plan(engine, engine.with_cameras(&sample)[camera as usize], shape)?;
            Ok(of_camera.is_there.then_some(of_camera))
        };
        engine.tracks.read(&plan, tracks, &of_camera)?;
    }
    slot.fill(engine, &plan)?;
    Ok(plan)
}

fn plan<'a>(engine: &'a Engine, sample: PlannedSample, shape: &BatchShape) -> Result<SampleSpec<'a>> {
    let mut plan = engine.specs.plan(sample, shape.frames, shape.size)?;
    plan.is_there = engine.episodes.as_ref().is_none_or(|episodes| episodes.is_there(sample.clip));
    Ok(plan)
}

/// Decodes the pictures in parallel.
impl<S: SampleType> SampleBuffer for &mut [S] {
    fn fill(&mut self, engine: &Engine, plan: &SampleSpec<'_>) -> Result<()> {
        let pictures = plan.pictures();
        if pictures.is_empty() {
            return Ok(());
        }
        let kernel = plan.frame_size().map(|size| engine.specs.kernel(plan, size, Pixels::Ycc420));
        let stop = Stop::current();
        let frame = |(t, slot): (u32, PictureBuffer<'_, S>)| {
            stop::within(&stop, || frame(engine, plan, kernel.as_ref(), t, slot)).err()
        };
        let mut shown = Vec::with_capacity(pictures.len());
        for (slot, t) in slots(&engine.options, self, pictures.len()).into_iter().zip(pictures) {
            match t {
                Some(t) => shown.push((t, slot)),
                None => slot.clear(),
            }
        }
        shown.into_par_iter().find_map_first(frame).map_or(Ok(()), Err)
    }
}

/// The slot of each picture in the data of a sample.
fn slots<'a, S: SampleType>(options: &LoaderOptions, clip: &'a mut [S], frames: usize) -> Vec<PictureBuffer<'a, S>> {
    let length = clip.len() / frames;
    match options.layout {
        Layout::Bcthw if options.channels.count() == 3 => PictureBuffer::clip(clip, frames),
        Layout::Btchw if options.channels.count() == 3 => {
            clip.chunks_exact_mut(length).map(PictureBuffer::planes).collect()
        }
        _ => clip.chunks_exact_mut(length).map(PictureBuffer::Pixels).collect(),
    }
}

fn frame<S: SampleType>(
    engine: &Engine,
    plan: &SampleSpec<'_>,
    kernel: Option<&Kernel>,
    t: u32,
    slot: PictureBuffer<'_, S>,
) -> Result<()> {
    let other = |size, pixels| engine.specs.kernel(plan, size, pixels);
    let cache = engine.decoded.as_ref();
    let cost = engine.workers.worker().frame(&plan.clip, t, (kernel, cache), other, slot)?;
    let stats = &mut *engine.counters.lock();
    stats.frames += 1;
    stats.bytes += cost.bytes;
    stats.tiles_decoded += cost.tiles_decoded;
    stats.tiles_skipped += cost.tiles_skipped;
    let Some(cached) = cost.cached else { return Ok(()) };
    let cache = stats.decoded_cache.get_or_insert_default();
    match cached {
        CacheUse::Hit => cache.hits += 1,
        CacheUse::OtherFrame => cache.other_frames += 1,
        missed => {
            cache.misses += 1;
            cache.kept_bytes += if let CacheUse::Kept(bytes) = missed { bytes } else { 0 };
            cache.refused += u64::from(missed == CacheUse::NoRoom);
        }
    }
    Ok(())
}

/// Adds the facts to the batch, and tells the system what will not be needed again.
fn finish(engine: &Engine, plans: Vec<SampleSpec<'_>>, batch: &mut Batch) -> Result<()> {
    batch.fields = engine.fields.of(plans.iter().map(|plan| &plan.clip))?;
    for SampleSpec { sample, clip, times, params, .. } in plans {
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
        batch.times.extend(times);
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

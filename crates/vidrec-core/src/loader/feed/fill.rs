//! Makes one batch: reads every sample into its slot, and decodes every frame into its place.

use half::{bf16, f16};
use rayon::prelude::*;

use super::batch_shape::BatchShape;
use super::engine::Engine;
use super::sample_spec::SampleSpec;
use super::schedule::{BatchSeats, Seat};
use super::to_read::to_read;
use super::tracks::{Look, slots as track_slots};
use super::worker::{Cached, Making, OfFrame};
use crate::loader::batch::{Batch, BatchData};
use crate::loader::counters::add;
use crate::loader::kernel::{Kernel, PictureSlot, SampleType};
use crate::loader::options::{Dtype, Layout, OnBadFrame, Pictures};
use crate::loader::parts::parts;
use crate::loader::track_batch::TrackSlot;
use crate::stop;
use crate::stop::Stop;
use crate::store::disk::system::Advice;
use crate::store::location::is_remote;
use vidrec_format::error::{Error, ErrorKind, Result};

/// The number of replacements that are drawn for an unreadable sample before it is an error.
const SUBSTITUTE_TRIES: u64 = 16;

/// The place of a sample in a batch.
pub(super) trait SampleSlot: Send {
    /// Puts the frames of a sample here. If several fail, the error is that of the first one.
    fn fill(&mut self, engine: &Engine, plan: &SampleSpec<'_>) -> Result<()>;
}

/// Replaces the contents of `batch` by batch `k` of `epoch`, and reuses its memory.
pub(crate) fn fill(engine: &Engine, epoch: u64, k: u64, batch: &mut Batch) -> Result<()> {
    fill_seats(engine, &engine.batch(epoch, k)?, batch)?;
    add(&engine.counters.batches, 1);
    Ok(())
}

/// Replaces the contents of `batch`, as [`fill`], by a batch that a device declined.
pub(crate) fn fill_declined(engine: &Engine, epoch: u64, k: u64, batch: &mut Batch) -> Result<()> {
    let counters = &engine.counters;
    fill_seats(engine, &engine.batch(epoch, k)?, batch)?;
    let [clips, frames, ..] = batch.shape();
    add(&counters.device_declined, (clips * frames) as u64);
    Ok(())
}

/// Replaces the contents of `batch` by these samples, and reuses its memory.
pub(super) fn fill_seats(engine: &Engine, plan: &BatchSeats, batch: &mut Batch) -> Result<()> {
    batch.reshape(plan.shape.dimensions(&engine.options.pictures));
    batch.reserve(engine.options.pictures.dtype)?;
    let mut data = std::mem::take(&mut batch.data);
    let filled = match &mut data {
        BatchData::U8(data) => pictures(engine, plan, data, batch),
        BatchData::F16(data) => pictures(engine, plan, data, batch),
        BatchData::Bf16(data) => pictures(engine, plan, data, batch),
        BatchData::F32(data) => pictures(engine, plan, data, batch),
    };
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
    let (plan, options) = (engine.batch(epoch, k)?, &engine.options.pictures);
    batch.reshape(plan.shape.dimensions(options));
    batch.data = BatchData::default();
    let memory = &mut memory[..plan.shape.values(options) * options.dtype.size()];
    match options.dtype {
        Dtype::U8 => pictures(engine, &plan, memory, batch),
        Dtype::F16 => pictures(engine, &plan, aligned::<f16>(memory)?, batch),
        Dtype::Bf16 => pictures(engine, &plan, aligned::<bf16>(memory)?, batch),
        Dtype::F32 => pictures(engine, &plan, aligned::<f32>(memory)?, batch),
    }?;
    add(&engine.counters.batches, 1);
    Ok(())
}

/// Asks the system to read the pages of batch `k` of `epoch`, if it exists. Errors come later, with the batch.
pub(super) fn read_ahead(engine: &Engine, epoch: u64, k: u64) {
    if engine.specs.dataset.is_remote() {
        return;
    }
    let Ok(mut plan) = engine.batch(epoch, k) else { return };
    // The order of the files, so that neighbors in an order of blocks are read in sequence.
    plan.seats.sort_unstable_by_key(|seat| seat.sample);
    for seat in plan.seats {
        if let Ok((clip, frames)) = to_read(engine, &seat, plan.shape.frames, plan.shape.size) {
            clip.advise(&frames, Advice::Soon);
        }
    }
}

/// Reads the samples of a batch. Writes their pictures to `data`, and everything else to `batch`.
fn pictures<S: SampleType>(engine: &Engine, plan: &BatchSeats, data: &mut [S], batch: &mut Batch) -> Result<()> {
    let mut slots: Vec<&mut [S]> = parts(data, plan.seats.len()).collect();
    samples(engine, plan, &mut slots, batch)
}

/// Reads the samples of a batch. Writes their frames to `slots`, one for each sample, and everything else to
/// `batch`.
pub(super) fn samples<S: SampleSlot>(
    engine: &Engine,
    plan: &BatchSeats,
    slots: &mut [S],
    batch: &mut Batch,
) -> Result<()> {
    let stop = Stop::current();
    let cameras = engine.cameras();
    let count = plan.seats.len() / cameras;
    engine.tracks.reserve(&mut batch.tracks, count, plan.shape.frames, plan.shape.size)?;
    let tracks = track_slots(&mut batch.tracks, count);
    let read = |((seats, slots), mut tracks): ((&[Seat], &mut [S]), Vec<TrackSlot<'_>>)| {
        let mut room = SampleRoom { shape: &plan.shape, slots, tracks: &mut tracks };
        stop::within(&stop, || read_or_substitute(engine, seats, &mut room))
    };
    let of_samples = || plan.seats.par_chunks(cameras).zip(slots.par_chunks_mut(cameras)).zip(tracks);
    let read: Vec<Result<Vec<SampleSpec<'_>>>> = engine.workers.install(|| of_samples().map(read).collect());
    let mut plans: Vec<SampleSpec<'_>> = Vec::with_capacity(plan.seats.len());
    for sample in read {
        plans.extend(sample.map_err(|e| engine.named(e))?);
    }
    if engine.episodes.is_some() {
        batch.camera_mask.extend(plans.iter().map(|plan| plan.is_there));
        // All other facts about a sample are those of its first camera.
        plans.retain(|plan| plan.seat.place.camera == 0);
    }
    batch.clips_on_all_ranks = plan.clips_on_all_ranks;
    finish(engine, plans, batch)
}

/// Where a sample goes: a slot for each camera, and its tracks.
struct SampleRoom<'a, 't, S> {
    shape: &'a BatchShape,
    slots: &'a mut [S],
    tracks: &'a mut [TrackSlot<'t>],
}

/// Reads a sample, with all its cameras.
fn read_or_substitute<'a, S: SampleSlot>(
    engine: &'a Engine,
    seats: &[Seat],
    room: &mut SampleRoom<'_, '_, S>,
) -> Result<Vec<SampleSpec<'a>>> {
    match (read_cameras(engine, seats, room), engine.options.on_bad_frame) {
        (Err(e), OnBadFrame::Substitute) if is_of_the_data(&e) => substitute(engine, &seats[0], room).ok_or(e),
        (read, _) => read,
    }
}

/// Reads the first readable sample of those drawn to replace the one whose first camera has `seat`.
fn substitute<'a, S: SampleSlot>(
    engine: &'a Engine,
    seat: &Seat,
    room: &mut SampleRoom<'_, '_, S>,
) -> Option<Vec<SampleSpec<'a>>> {
    let mut read = |attempt| {
        let other = engine.schedule.substitute(seat, attempt)?;
        read_cameras(engine, &engine.with_cameras(&other), room).ok()
    };
    let mut plans = (0..SUBSTITUTE_TRIES).find_map(&mut read)?;
    let instead_of = engine.given(seat.place.clip);
    plans.iter_mut().for_each(|plan| plan.params.instead_of = Some(instead_of));
    add(&engine.counters.substituted_clips, 1);
    Some(plans)
}

/// Reads the clip of each camera; the first one brings the tracks. If several fail, the error is that of the first one.
fn read_cameras<'a, S: SampleSlot>(
    engine: &'a Engine,
    seats: &[Seat],
    room: &mut SampleRoom<'_, '_, S>,
) -> Result<Vec<SampleSpec<'a>>> {
    let (stop, shape) = (Stop::current(), room.shape);
    let tracks = std::iter::once(&mut *room.tracks).chain(std::iter::repeat_with(Default::default));
    let tracks: Vec<&mut [TrackSlot<'_>]> = tracks.take(seats.len()).collect();
    let read = |((seat, slot), tracks): ((&Seat, &mut S), &mut [TrackSlot<'_>])| {
        stop::within(&stop, || read(engine, *seat, shape, slot, tracks))
    };
    let read: Vec<Result<_>> = seats.par_iter().zip(&mut *room.slots).zip(tracks).map(read).collect();
    read.into_iter().collect()
}

/// Reads one sample.
fn read<'a>(
    engine: &'a Engine,
    seat: Seat,
    shape: &BatchShape,
    slot: &mut impl SampleSlot,
    tracks: &mut [TrackSlot<'_>],
) -> Result<SampleSpec<'a>> {
    let mut plan = engine.specs.plan(seat, shape.frames, shape.size)?;
    if seat.place.camera == 0 {
        let look = |camera| look(engine, &plan, shape, camera);
        engine.tracks.read(&plan, tracks, &look)?;
    }
    plan.is_there = engine.episodes.as_ref().is_none_or(|episodes| episodes.is_there(seat.place.clip));
    slot.fill(engine, &plan)?;
    Ok(plan)
}

/// What a sample shows of the frames of a camera; `None` if its episode does not have the camera. `first` is the plan of its
/// first camera.
fn look(engine: &Engine, first: &SampleSpec<'_>, shape: &BatchShape, camera: u32) -> Result<Option<Look>> {
    let seat = engine.with_cameras(&first.seat)[camera as usize];
    if engine.episodes.as_ref().is_some_and(|episodes| !episodes.is_there(seat.place.clip)) {
        return Ok(None);
    }
    match camera {
        0 => Look::of(first),
        _ => Look::of(&engine.specs.plan(seat, shape.frames, shape.size)?),
    }
    .map(Some)
}

/// Decodes the pictures in parallel.
impl<S: SampleType> SampleSlot for &mut [S] {
    fn fill(&mut self, engine: &Engine, plan: &SampleSpec<'_>) -> Result<()> {
        if plan.meant.is_empty() {
            return Ok(());
        }
        let kernel = plan.frame_size().map(|size| engine.specs.kernel(plan, size));
        let stop = Stop::current();
        let frame = |(t, slot): (usize, PictureSlot<'_, S>)| {
            stop::within(&stop, || frame(engine, plan, kernel.as_ref(), t, slot)).err()
        };
        let mut slots = slots(&engine.options.pictures, self, plan.meant.len());
        let decoded = if plan.is_there { plan.frames.len() } else { 0 };
        let before = plan.before();
        slots.drain(before + decoded..).for_each(PictureSlot::clear);
        slots.drain(..before).for_each(PictureSlot::clear);
        slots.into_par_iter().enumerate().find_map_first(frame).map_or(Ok(()), Err)
    }
}

/// The slot of each picture in the data of a sample.
fn slots<'a, S: SampleType>(pictures: &Pictures, clip: &'a mut [S], frames: usize) -> Vec<PictureSlot<'a, S>> {
    let channels = pictures.channels.count();
    let length = clip.len() / frames;
    match pictures.layout {
        Layout::Btchw => clip.chunks_exact_mut(length).map(|p| PictureSlot::planes(p, channels)).collect(),
        Layout::Bcthw => PictureSlot::clip(clip, channels, frames),
        Layout::Bthwc => clip.chunks_exact_mut(length).map(|p| PictureSlot::pixels(p, channels)).collect(),
    }
}

fn frame<S: SampleType>(
    engine: &Engine,
    plan: &SampleSpec<'_>,
    kernel: Option<&Kernel>,
    t: usize,
    slot: PictureSlot<'_, S>,
) -> Result<()> {
    let other = |size| engine.specs.kernel(plan, size);
    let making = Making { kernel, cache: engine.decoded.as_ref() };
    let cost = engine.workers.worker().frame(&plan.clip, plan.frames[t], making, other, slot)?;
    let counters = &engine.counters;
    add(&counters.frames, 1);
    add(&counters.bytes, cost.bytes);
    add(&counters.tiles_decoded, cost.tiles_decoded);
    add(&counters.tiles_skipped, cost.tiles_skipped);
    if let Some(Cached { of_frame, tiles, kept, is_refused }) = cost.cached {
        let counters = &counters.cache;
        let frames = match of_frame {
            OfFrame::All => &counters.hits,
            OfFrame::Some => &counters.partial_hits,
            OfFrame::Nothing => &counters.misses,
            OfFrame::Never => &counters.other_frames,
        };
        add(frames, 1);
        add(&counters.tiles, tiles);
        add(&counters.kept_bytes, kept);
        add(&counters.refused, is_refused.into());
    }
    Ok(())
}

/// Adds the facts to the batch, and tells the system what will not be needed again.
fn finish(engine: &Engine, plans: Vec<SampleSpec<'_>>, batch: &mut Batch) -> Result<()> {
    batch.fields = engine.fields.of(plans.iter().map(|plan| &plan.clip))?;
    for SampleSpec { seat, clip, frames, meant, mut params, .. } in plans {
        match &engine.mix {
            Some(mix) => {
                let (source, label) = mix.source_and_label(&clip, engine.given(clip.ordinal()))?;
                batch.source_ids.push(source);
                batch.labels.push(label);
            }
            None => batch.labels.push(clip.label().map_or(-1, i64::from)),
        }
        batch.clips.push(engine.given(clip.ordinal()));
        batch.mask.push(seat.counts);
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

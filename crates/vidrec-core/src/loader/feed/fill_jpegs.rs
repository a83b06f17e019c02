//! Makes one batch of frames that are not decoded: copies every JPEG to its place in one buffer.

use rayon::prelude::*;

use super::batch_shape::BatchShape;
use super::cached_frames::frame_key;
use super::engine::Engine;
use super::fill::{SampleSlot, samples};
use super::plan_tiles::plan_tiles;
use super::sample_spec::SampleSpec;
use super::schedule::{BatchSeats, Seat};
use crate::dataset::Clip;
use crate::loader::aligned::Aligned;
use crate::loader::batch::BatchData;
use crate::loader::counters::add;
use crate::loader::decoded::FrameKey;
use crate::loader::jpeg_batch::{JpegBatch, JpegFrame, reserve};
use crate::loader::kernel::{ColorMatrix, View};
use crate::stop;
use crate::stop::Stop;
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

/// Replaces the contents of `batch` by batch `k` of `epoch`, and reuses its memory.
pub(crate) fn fill_jpegs(engine: &Engine, epoch: u64, k: u64, batch: &mut JpegBatch) -> Result<()> {
    let plan = engine.batch(epoch, k)?;
    fill_seats(engine, &plan, batch)?;
    batch.plan = None;
    match engine.device.get() {
        Some(device) => batch.plan = Some(Box::new(plan_tiles(engine, device, &plan, batch)?)),
        None => {
            add(&engine.counters.frames, batch.frames.len() as u64);
            add(&engine.counters.bytes, batch.data.len() as u64);
        }
    }
    add(&engine.counters.batches, 1);
    Ok(())
}

fn fill_seats(engine: &Engine, plan: &BatchSeats, batch: &mut JpegBatch) -> Result<()> {
    batch.facts.reshape(plan.shape.dimensions(&engine.options.pictures));
    batch.facts.data = BatchData::default();
    batch.frames.clear();
    let lengths: Vec<usize> = plan.seats.iter().map(|seat| length(engine, seat, &plan.shape)).collect();
    reserve(&mut batch.data, total(&lengths)?)?;
    let mut slots = slots(&mut batch.data, &lengths);
    samples(engine, plan, &mut slots, &mut batch.facts)?;
    let stored: Vec<Stored> = slots.into_iter().map(|slot| slot.stored).collect();
    put_together(batch, plan, stored, &lengths)
}

/// The total length of the JPEGs of a sample. Returns 0 for an unreadable sample, which is an error when it is
/// read.
fn length(engine: &Engine, seat: &Seat, shape: &BatchShape) -> usize {
    if engine.episodes.as_ref().is_some_and(|episodes| !episodes.is_there(seat.place.clip)) {
        return 0;
    }
    let of_frames = engine
        .specs
        .choose(seat, shape.frames)
        .and_then(|(clip, (frames, _))| total(&lengths(engine, &clip, &frames)?));
    of_frames.unwrap_or(0)
}

/// The lengths of these JPEGs; 0 for those that a device keeps.
fn lengths(engine: &Engine, clip: &Clip<'_>, frames: &[u32]) -> Result<Vec<usize>> {
    let length = |&t: &u32| {
        let is_kept = match engine.device.get() {
            Some(device) => device.find(frame_key(clip, t)?).is_some(),
            None => false,
        };
        if is_kept { Ok(0) } else { clip.jpeg_length(t) }
    };
    frames.iter().map(length).collect()
}

fn total(lengths: &[usize]) -> Result<usize> {
    let sum = lengths.iter().try_fold(0usize, |sum, &length| sum.checked_add(length));
    sum.ok_or_else(|| Error::limit("the JPEGs of a batch are too long for memory"))
}

/// Divides the buffer into a part for each sample.
fn slots<'a>(mut data: &'a mut [u8], lengths: &[usize]) -> Vec<JpegSlot<'a>> {
    let slot = |&length| {
        let (planned, rest) = std::mem::take(&mut data).split_at_mut(length);
        data = rest;
        JpegSlot { planned, stored: Stored::default() }
    };
    lengths.iter().map(slot).collect()
}

/// The place for the JPEGs of a sample.
struct JpegSlot<'a> {
    /// The room for the JPEGs of the planned sample.
    planned: &'a mut [u8],
    stored: Stored,
}

/// The JPEGs of a sample.
#[derive(Default)]
struct Stored {
    /// Places are counted from the sample's first frame, bytes from its first byte.
    frames: Vec<JpegFrame>,
    /// The JPEGs of a substitute, which do not fit the planned room.
    own: Option<Vec<u8>>,
}

/// Copies the JPEGs in parallel.
impl SampleSlot for JpegSlot<'_> {
    fn fill(&mut self, engine: &Engine, plan: &SampleSpec<'_>) -> Result<()> {
        self.stored = Stored::default();
        if !plan.is_there {
            return Ok(());
        }
        let lengths = lengths(engine, &plan.clip, &plan.frames)?;
        let length = total(&lengths)?;
        let memory = if length == self.planned.len() {
            &mut *self.planned
        } else {
            let own = self.stored.own.insert(Vec::new());
            allocation::resize(own, length, 0, "the JPEGs of a clip")?;
            &mut own[..]
        };
        let known = plan.frame_size().map(|size| (size, engine.specs.view(plan, size)));
        let stop = Stop::current();
        let copy = |((place, &t), JpegSlot { planned, .. }): ((usize, &u32), JpegSlot<'_>)| {
            stop::within(&stop, || jpeg(engine, plan, known, plan.before() + place, t, planned))
        };
        let copied: Vec<Result<JpegFrame>> =
            plan.frames.par_iter().enumerate().zip(slots(memory, &lengths)).map(copy).collect();
        self.stored.frames = copied.into_iter().collect::<Result<_>>()?;
        let mut start = 0;
        for (frame, length) in self.stored.frames.iter_mut().zip(lengths) {
            frame.bytes = start..start + length;
            start += length;
        }
        Ok(())
    }
}

/// Copies the JPEG of frame `t`, and returns how it becomes its picture. `known` is the view for frames of the
/// size in the clip's entry.
fn jpeg(
    engine: &Engine,
    plan: &SampleSpec<'_>,
    known: Option<((u32, u32), View)>,
    place: usize,
    t: u32,
    to: &mut [u8],
) -> Result<JpegFrame> {
    let device = engine.device.get();
    let key = if device.is_some() { frame_key(&plan.clip, t)? } else { FrameKey::default() };
    // A JPEG without bytes is one that the device keeps.
    let kept = device.filter(|_| to.is_empty()).and_then(|device| device.find(key));
    let size = match kept {
        Some(kept) => kept.tiles.grid.size,
        None => engine.workers.worker().jpeg(&plan.clip, t, to)?,
    };
    let known = known.filter(|(of, _)| *of == size).map(|(_, view)| view);
    let view = known.unwrap_or_else(|| engine.specs.view(plan, size));
    Ok(JpegFrame {
        place,
        bytes: 0..to.len(),
        size,
        bounds: [view.x.bounds.0, view.y.bounds.0, view.x.bounds.1, view.y.bounds.1],
        window: view.window(plan.pictures.size),
        flip: view.flip,
        colors: plan.params.color.matrix().unwrap_or(ColorMatrix::IDENTITY),
        normalize: plan.pictures.normalize,
        reducing_gap: plan.pictures.reducing_gap,
        view,
        key,
    })
}

/// Makes one list of all JPEGs of the samples. Makes a new buffer if substitutes have bytes of their own.
fn put_together(batch: &mut JpegBatch, plan: &BatchSeats, stored: Vec<Stored>, lengths: &[usize]) -> Result<()> {
    let planned = starts(lengths);
    let found: Vec<usize> = stored.iter().map(|sample| sample.frames.last().map_or(0, |last| last.bytes.end)).collect();
    if stored.iter().any(|sample| sample.own.is_some()) {
        let mut data = Aligned::default();
        reserve(&mut data, total(&found)?)?;
        for ((sample, start), slot) in stored.iter().zip(planned).zip(slots(&mut data, &found)) {
            let to = slot.planned;
            to.copy_from_slice(sample.own.as_deref().unwrap_or_else(|| &batch.data[start..start + to.len()]));
        }
        batch.data = data;
    }
    for (b, (sample, start)) in stored.into_iter().zip(starts(&found)).enumerate() {
        let placed = sample.frames.into_iter().map(|frame| {
            let bytes = frame.bytes.start + start..frame.bytes.end + start;
            JpegFrame { place: b * plan.shape.frames as usize + frame.place, bytes, ..frame }
        });
        batch.frames.extend(placed);
    }
    Ok(())
}

/// The start of each of several consecutive parts.
fn starts(lengths: &[usize]) -> Vec<usize> {
    let start = |end: &mut usize, &length: &usize| Some(std::mem::replace(end, *end + length));
    lengths.iter().scan(0, start).collect()
}

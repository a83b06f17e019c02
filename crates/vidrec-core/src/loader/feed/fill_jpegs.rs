//! Makes one batch of frames that are not decoded: copies every JPEG to its place in one buffer.

use rayon::prelude::*;

use super::device::Device;
use super::device_plan::plan_tiles;
use super::engine::{Engine, Loader};
use super::fill::{BatchBuffer, SampleBuffer, samples};
use super::sample_spec::SampleSpec;
use super::samples::PlannedSample;
use super::schedule::BatchPlan;
use super::worker::frame_key;
use crate::dataset::Clip;
use crate::loader::batch::BatchData;
use crate::loader::decoded::FrameKey;
use crate::loader::jpeg_batch::{JpegBatch, JpegFrame, TilePlan};
use crate::loader::jpeg_memory::{JpegMemory, PinnedAllocator};
use crate::loader::kernel::{ColorMatrix, View};
use crate::loader::options::Normalize;
use crate::stop::{self, Stop};
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

impl Loader {
    /// Makes a batch as [`batch`](Self::batch) does, but without decoding: see [`iter_jpegs`](Self::iter_jpegs).
    ///
    /// # Errors
    ///
    /// The errors of [`batch`](Self::batch), except that only the header of each JPEG is decoded, so other
    /// decoding errors remain unnoticed. Also the errors of [`iter_jpegs`](Self::iter_jpegs).
    pub fn batch_jpegs(&self, epoch: u64, k: u64) -> Result<JpegBatch> {
        self.refuse_decoded_cache()?;
        self.engine.made(epoch, k, JpegBatch::default())
    }

    /// From now on, batches of JPEGs have plans for a device that makes their pictures and has `room` bytes to keep JPEGs.
    /// A JPEG that it keeps has no bytes in later batches. `allocate` makes the memory of batches. Only the first call counts.
    #[doc(hidden)]
    pub fn serve_device(&self, room: u64, allocate: Option<PinnedAllocator>) {
        self.engine.device.get_or_init(|| Device::new(room, allocate));
    }

    /// Notes that the device has the JPEGs of this plan that it was to keep: for all batches that it makes after this one.
    #[doc(hidden)]
    pub fn device_has(&self, plan: &TilePlan) {
        self.engine.device.get().into_iter().for_each(|device| device.has(&plan.keys));
    }
}

impl BatchBuffer for JpegBatch {
    fn fill(&mut self, engine: &Engine, plan: &BatchPlan) -> Result<()> {
        fill_plan(engine, plan, self)?;
        self.plan = None;
        match engine.device.get() {
            Some(device) => self.plan = Some(Box::new(plan_tiles(engine, device, plan, self)?)),
            None => {
                let stats = &mut *engine.counters.lock();
                stats.frames += self.frames.len() as u64;
                stats.bytes += self.data.len() as u64;
            }
        }
        Ok(())
    }
}

/// Each sample is copied to its place in the buffer of the batch. If one becomes longer or shorter than planned, because another
/// one replaces it, the batch gets a new buffer.
fn fill_plan(engine: &Engine, plan: &BatchPlan, batch: &mut JpegBatch) -> Result<()> {
    batch.facts.reshape(plan.shape.dimensions(&engine.options));
    batch.facts.data = BatchData::default();
    batch.frames.clear();
    let planned: Vec<usize> = plan.samples.iter().map(|sample| planned_length(engine, plan, sample)).collect();
    // The plan of a device precedes the JPEGs.
    let device = engine.device.get();
    let room = device.map_or(0, |_| TilePlan::room(plan.frames()));
    let allocate = device.and_then(|device| device.allocate.as_ref());
    batch.data.reserve(room + total(&planned)?, allocate)?;
    let mut rest = batch.data.get_mut(room..).unwrap_or_default();
    let place = |&length: &usize| JpegBuffer::new(rest.split_off_mut(..length).unwrap_or_default());
    let mut buffers: Vec<JpegBuffer<'_>> = planned.iter().map(place).collect();
    samples(engine, plan, &mut buffers, &mut batch.facts)?;
    let mut start = room;
    for (b, buffer) in buffers.iter_mut().enumerate() {
        batch.frames.extend(buffer.frames.drain(..).map(|frame| {
            let bytes = frame.bytes.start + start..frame.bytes.end + start;
            JpegFrame { place: b * plan.shape.frames as usize + frame.place, bytes, ..frame }
        }));
        start += buffer.bytes().len();
    }
    if buffers.iter().any(|buffer| buffer.unplanned.is_some()) {
        let mut data = JpegMemory::default();
        data.reserve(start, allocate)?;
        let mut rest = data.get_mut(room..).unwrap_or_default();
        for bytes in buffers.iter().map(JpegBuffer::bytes) {
            rest.split_off_mut(..bytes.len()).unwrap_or_default().copy_from_slice(bytes);
        }
        batch.data = data;
    }
    Ok(())
}

/// The bytes that a sample has, unless another one replaces it.
fn planned_length(engine: &Engine, plan: &BatchPlan, sample: &PlannedSample) -> usize {
    let is_there = engine.episodes.as_ref().is_none_or(|episodes| episodes.is_there(sample.clip));
    let lengths = || {
        let (clip, frames) = engine.specs.read_frames(sample, plan.shape.frames)?;
        total(&lengths(engine, &clip, &frames)?)
    };
    // An error comes to light when the sample is read.
    if is_there { lengths().unwrap_or(0) } else { 0 }
}

/// The lengths of these JPEGs; 0 for those that a device keeps.
fn lengths(engine: &Engine, clip: &Clip<'_>, frames: &[u32]) -> Result<Vec<usize>> {
    let length = |&t: &u32| match engine.device.get() {
        Some(device) if device.find(frame_key(clip, t)?).is_some() => Ok(0),
        _ => clip.jpeg_length(t),
    };
    frames.iter().map(length).collect()
}

fn total(lengths: &[usize]) -> Result<usize> {
    let sum = lengths.iter().try_fold(0usize, |sum, &length| sum.checked_add(length));
    sum.ok_or_else(|| Error::limit("the JPEGs of a batch are too long for memory"))
}

/// The JPEGs of a sample.
struct JpegBuffer<'a> {
    planned: &'a mut [u8],
    /// The JPEGs, if they are longer or shorter than the part of the buffer that was planned for them.
    unplanned: Option<Vec<u8>>,
    /// Places are counted from the sample's first frame, bytes from its first byte.
    frames: Vec<JpegFrame>,
}

impl<'a> JpegBuffer<'a> {
    fn new(planned: &'a mut [u8]) -> Self {
        JpegBuffer { planned, unplanned: None, frames: Vec::new() }
    }

    fn bytes(&self) -> &[u8] {
        self.unplanned.as_deref().unwrap_or(self.planned)
    }

    /// Memory of this length.
    fn resized(&mut self, length: usize) -> Result<&mut [u8]> {
        self.unplanned = None;
        if length == self.planned.len() {
            return Ok(self.planned);
        }
        let mut memory = Vec::new();
        allocation::resize(&mut memory, length, 0, "the JPEGs of a clip")?;
        Ok(self.unplanned.insert(memory))
    }
}

/// Copies the JPEGs in parallel.
impl SampleBuffer for JpegBuffer<'_> {
    fn fill(&mut self, engine: &Engine, plan: &SampleSpec<'_>) -> Result<()> {
        self.frames.clear();
        let pictures = plan.pictures();
        let (places, frames): (Vec<usize>, Vec<u32>) =
            pictures.iter().enumerate().filter_map(|(place, t)| Some((place, (*t)?))).unzip();
        let lengths = lengths(engine, &plan.clip, &frames)?;
        let mut rest = self.resized(total(&lengths)?)?;
        let buffers: Vec<&mut [u8]> =
            lengths.iter().map(|&length| rest.split_off_mut(..length).unwrap_or_default()).collect();
        let known = plan.frame_size().map(|size| (size, engine.specs.view(plan, size)));
        let stop = Stop::current();
        let copy = |((place, t), buffer): ((usize, u32), &mut [u8])| {
            stop::within(&stop, || jpeg(engine, plan, known, place, t, buffer))
        };
        let copied: Vec<Result<JpegFrame>> = places.into_par_iter().zip(frames).zip(buffers).map(copy).collect();
        self.frames = copied.into_iter().collect::<Result<_>>()?;
        let mut start = 0;
        for (frame, length) in self.frames.iter_mut().zip(lengths) {
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
        Some((_, header)) => header.facts.grid.size,
        None => engine.workers.worker().jpeg(&plan.clip, t, to)?,
    };
    let known = known.filter(|(of, _)| *of == size).map(|(_, view)| view);
    let view = known.unwrap_or_else(|| engine.specs.view(plan, size));
    Ok(JpegFrame {
        place,
        bytes: 0..to.len(),
        size,
        bounds: [view.x.bounds.0, view.y.bounds.0, view.x.bounds.1, view.y.bounds.1],
        window: view.window(plan.size),
        flip: view.flip,
        colors: plan.params.color.matrix().unwrap_or(ColorMatrix::IDENTITY),
        normalize: plan.options.normalize.unwrap_or(Normalize::NONE),
        reducing_gap: plan.options.reducing_gap,
        view,
        key,
    })
}

//! One batch: which samples, which frames, and every frame decoded into its place.

use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::batch::{Batch, BatchData, SampleParams, shape};
use super::colour::{ColorDraw, ColorMatrix};
use super::kernel::{Kernel, Sample};
use super::options::{Dtype, LoaderOptions, OnBadFrame};
use super::recolour::{Level, recolour};
use super::space::{Place, Space};
use super::state::LoaderState;
use super::stats::{Counters, add};
use super::view::view;
use super::worker::Worker;
use crate::advice::Advice;
use crate::order::{EpochOrder, Ranks};
use crate::random::{Random, stream};
use crate::reader::{Clip, Dataset};
use crate::{Error, ErrorKind, Io, Result};

/// Most threads that are taken without being asked for.
const DEFAULT_THREADS: usize = 8;

/// Draws of a clip to stand in for one that cannot be read, before it is an error.
const SUBSTITUTE_TRIES: u64 = 16;

/// Everything that makes batches, shared by a loader and its background threads.
pub(super) struct Engine {
    dataset: Dataset,
    pub options: LoaderOptions,
    /// Frames that each sample has.
    frames: u32,
    /// Frames that each clip must have, where it follows from the counts alone or nothing was asked for.
    clip_frames: Option<u32>,
    space: Space,
    /// Of a whole epoch.
    ranks: Ranks,
    /// Positions in an epoch.
    positions: u64,
    /// Epoch that another run began, and how many of its positions are done.
    resumed: Option<(u64, u64)>,
    pub counters: Counters,
    pool: rayon::ThreadPool,
    /// One for each thread of `pool`, so that no lock is ever waited for.
    workers: Vec<Mutex<Worker>>,
}

/// A sample of a batch, and whether it counts.
#[derive(Debug, Clone, Copy)]
struct Slot {
    sample: u64,
    counts: bool,
}

/// Frames of a clip that make a sample.
struct Chosen<'a> {
    sample: u64,
    place: Place,
    clip: Clip<'a>,
    frames: Vec<u32>,
}

/// A sample of a batch: which frames it gives, and how.
struct Planned<'a> {
    chosen: Chosen<'a>,
    counts: bool,
    params: SampleParams,
    color: Option<ColorMatrix>,
    /// For frames of the size that the clip's entry says; none when it says that they differ.
    kernel: Option<Kernel>,
}

impl AsRef<Counters> for Engine {
    fn as_ref(&self) -> &Counters {
        &self.counters
    }
}

impl Engine {
    pub fn new(dataset: &Dataset, options: LoaderOptions) -> Result<Self> {
        options.check()?;
        let likely = dataset.likely_frames_per_clip()?;
        let frames = match (options.frames, likely) {
            (Some(frames), _) => frames,
            (None, Some(frames)) => frames,
            (None, None) if dataset.is_empty() => 1,
            (None, None) => return Err(first_that_differs(dataset)?),
        };
        check_batch_size(&options, frames)?;
        let space = Space::new(dataset, &options, likely)?;
        options.order.check(space.len())?;
        let positions = options.order.proven(space.len(), options.seed, 0).len();
        let ranks = Ranks::new(positions, options.batch_size, options.world_size, options.last)?;
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get).min(DEFAULT_THREADS);
        let threads = options.threads.unwrap_or_else(cores);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("vidrec-loader-{i}"));
        let pool = pool.build().map_err(|e| Error::limit(format!("could not start {threads} threads: {e}")))?;
        let workers = (0..pool.current_num_threads()).map(|_| Worker::new().map(Mutex::new)).collect::<Result<_>>()?;
        let counted = options.frames.is_none() || space.relies_on_equal_clips();
        Ok(Engine {
            dataset: dataset.clone(),
            frames,
            clip_frames: likely.filter(|_| counted),
            space,
            ranks,
            positions,
            resumed: None,
            counters: Counters::default(),
            pool,
            workers,
            options,
        })
    }

    /// Begins where `state` stands.
    pub fn resume(&mut self, state: &LoaderState) -> Result<()> {
        state.check(self.positions, self.options.seed, &self.dataset.fingerprint())?;
        self.resumed = Some((state.epoch, state.consumed));
        Ok(())
    }

    pub fn first_epoch(&self) -> u64 {
        self.resumed.map_or(0, |(epoch, _)| epoch)
    }

    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The dimensions of a batch.
    pub fn shape(&self) -> [usize; 5] {
        shape(self.options.batch_size as usize, self.frames, self.options.size, self.options.layout)
    }

    /// Bytes of the samples of a batch.
    pub fn batch_bytes(&self) -> usize {
        let sample = match self.options.dtype {
            Dtype::U8 => size_of::<u8>(),
            Dtype::F32 => size_of::<f32>(),
        };
        // `check_batch_size` proved that it fits.
        self.shape().iter().product::<usize>() * sample
    }

    /// How ranks share an epoch that is not cut short by resuming.
    pub fn whole_epoch(&self) -> Ranks {
        self.ranks
    }

    /// How ranks share `epoch`, or the rest of it.
    pub fn ranks(&self, epoch: u64) -> Ranks {
        match self.resumed {
            Some((first, consumed)) if first == epoch => self.ranks.after(consumed),
            _ => self.ranks,
        }
    }

    /// Where a run stands after `batches` batches of `epoch`.
    pub fn state(&self, epoch: u64, batches: u64) -> LoaderState {
        let ranks = self.ranks(epoch);
        let done = batches >= ranks.batches();
        LoaderState {
            epoch: if done { epoch + 1 } else { epoch },
            consumed: if done { 0 } else { ranks.consumed(batches) },
            samples: self.positions,
            seed: self.options.seed,
            dataset: self.dataset.fingerprint(),
        }
    }

    /// Replaces the contents of `batch` by batch `k` of `epoch`.
    pub fn fill(&self, epoch: u64, k: u64, batch: &mut Batch) -> Result<()> {
        batch.reshape(self.shape());
        batch.reserve(self.options.dtype);
        let mut data = std::mem::replace(&mut batch.data, BatchData::U8(Vec::new()));
        let filled = match &mut data {
            BatchData::U8(data) => self.samples(epoch, k, data, batch),
            BatchData::F32(data) => self.samples(epoch, k, data, batch),
        };
        batch.data = data;
        filled
    }

    /// As [`fill`](Self::fill), but for the samples, which go to `memory`.
    pub fn fill_into(&self, epoch: u64, k: u64, memory: &mut [u8], batch: &mut Batch) -> Result<()> {
        let expected = self.batch_bytes();
        if memory.len() != expected {
            return Err(Error::usage("memory for a batch")
                .expected(format!("{expected} bytes"))
                .found(format!("{} bytes", memory.len())));
        }
        batch.reshape(self.shape());
        batch.data = BatchData::U8(Vec::new());
        match self.options.dtype {
            Dtype::U8 => self.samples(epoch, k, memory, batch),
            Dtype::F32 => self.samples(epoch, k, aligned::<f32>(memory)?, batch),
        }
    }

    /// Batch `k` of `epoch`: samples to `data`, all else to `batch`.
    fn samples<S: Sample + Level>(&self, epoch: u64, k: u64, data: &mut [S], batch: &mut Batch) -> Result<()> {
        let order = self.order(epoch);
        let slots = self.slots(&order, epoch, k)?;
        let length = data.len() / slots.len();
        let read = |(&slot, data): (&Slot, &mut [S])| self.read_or_substitute(epoch, slot, data);
        let read: Vec<Result<Planned<'_>>> =
            self.pool.install(|| slots.par_iter().zip(data.par_chunks_mut(length)).map(read).collect());
        self.finish(read.into_iter().collect::<Result<_>>()?, batch);
        Ok(())
    }

    fn read_or_substitute<S: Sample + Level>(&self, epoch: u64, slot: Slot, data: &mut [S]) -> Result<Planned<'_>> {
        let read = self.read(epoch, slot, data);
        match (read, self.options.on_bad_frame) {
            (Err(e), OnBadFrame::Substitute) if is_of_the_data(&e) => self.substitute(epoch, slot, data).ok_or(e),
            (read, _) => read,
        }
    }

    /// The first that can be read of the samples drawn to stand in for that of `slot`.
    fn substitute<S: Sample + Level>(&self, epoch: u64, slot: Slot, data: &mut [S]) -> Option<Planned<'_>> {
        let read = |attempt| {
            let mut random = Random::new(self.options.seed, &[stream::SUBSTITUTE, epoch, slot.sample, attempt]);
            let other = Slot { sample: random.below(self.space.len()), ..slot };
            (other.sample != slot.sample).then(|| self.read(epoch, other, data).ok()).flatten()
        };
        let mut planned = (0..SUBSTITUTE_TRIES).find_map(read)?;
        planned.params.instead_of = Some(self.space.place(slot.sample).clip);
        add(&self.counters.substituted_clips, 1);
        Some(planned)
    }

    /// One sample, its frames decoded side by side. Of several that fail, the first one's error.
    fn read<S: Sample + Level>(&self, epoch: u64, slot: Slot, data: &mut [S]) -> Result<Planned<'_>> {
        let planned = self.plan(epoch, slot)?;
        let frame = |(t, picture): (usize, &mut [S])| self.frame(epoch, &planned, t, picture).err();
        let length = data.len() / planned.chosen.frames.len();
        match data.par_chunks_mut(length).enumerate().find_map_first(frame) {
            Some(e) => Err(e),
            None => Ok(planned),
        }
    }

    fn frame<S: Sample + Level>(&self, epoch: u64, planned: &Planned<'_>, t: usize, picture: &mut [S]) -> Result<()> {
        let Planned { chosen, kernel, color, .. } = planned;
        let options = &self.options;
        let other = |size| Kernel::new(options, &view(options, epoch, chosen.sample, size), size);
        let (clip, t) = (&chosen.clip, chosen.frames[t]);
        let work = self.worker().frame(clip, t, options.check_crc, kernel.as_ref(), other, picture)?;
        add(&self.counters.frames, 1);
        add(&self.counters.bytes, work.bytes);
        add(&self.counters.tiles_skipped, work.tiles_skipped);
        if let Some(map) = color {
            recolour(options, map, picture);
        }
        Ok(())
    }

    /// Tells the batch what is in it, and the system what will not be needed again.
    fn finish(&self, planned: Vec<Planned<'_>>, batch: &mut Batch) {
        for Planned { chosen, counts, mut params, .. } in planned {
            if self.dataset.io() == Io::ReadUncached {
                chosen.clip.advise(&chosen.frames, Advice::Done);
            }
            batch.labels.push(chosen.clip.label().map_or(-1, i64::from));
            batch.clips.push(chosen.clip.ordinal());
            batch.mask.push(counts);
            params.frames = chosen.frames;
            batch.params.push(params);
        }
        add(&self.counters.batches, 1);
    }

    /// Asks the system for the pages of batch `k` of `epoch`, if there is such a batch. Errors come when it is read.
    pub fn read_ahead(&self, epoch: u64, k: u64) {
        let order = self.order(epoch);
        for Slot { sample, .. } in self.slots(&order, epoch, k).unwrap_or_default() {
            if let Ok(Chosen { clip, frames, .. }) = self.choose(epoch, sample) {
                clip.advise(&frames, Advice::Soon);
            }
        }
    }

    fn order(&self, epoch: u64) -> EpochOrder {
        self.options.order.proven(self.space.len(), self.options.seed, epoch)
    }

    /// The samples of batch `k`.
    fn slots(&self, order: &EpochOrder, epoch: u64, k: u64) -> Result<Vec<Slot>> {
        let ranks = self.ranks(epoch);
        let slot = |i| {
            let slot = ranks.slot(k, self.options.rank, i)?;
            Some(Slot { sample: order.get(slot.position)?, counts: slot.counts })
        };
        let slots = if k < ranks.batches() { (0..self.options.batch_size).map(slot).collect() } else { None };
        let none = || Error::usage(format!("there is no batch {k}")).expected(format!("less than {}", ranks.batches()));
        slots.ok_or_else(none)
    }

    /// The clip and the frames of a sample.
    fn choose(&self, epoch: u64, sample: u64) -> Result<Chosen<'_>> {
        let place = self.space.place(sample);
        let clip = self.dataset.clip(place.clip)?;
        if let Some(expected) = self.clip_frames.filter(|&expected| expected != clip.frame_count()) {
            return Err(unequal(&clip, expected));
        }
        let random = || Random::new(self.options.seed, &[stream::TEMPORAL, epoch, sample]);
        let frames = self.options.temporal.frames(clip.frame_count(), self.frames, &place, random);
        if frames.len() != self.frames as usize {
            return Err(Error::usage("the clip has no frames").in_clip(place.clip));
        }
        Ok(Chosen { sample, place, clip, frames })
    }

    fn plan(&self, epoch: u64, Slot { sample, counts }: Slot) -> Result<Planned<'_>> {
        let chosen = self.choose(epoch, sample)?;
        let size = (chosen.clip.width(), chosen.clip.height());
        let known = size.0 > 0 && size.1 > 0;
        let view = view(&self.options, epoch, sample, if known { size } else { (1, 1) });
        let color = ColorDraw::new(&self.options, epoch, sample);
        let params = SampleParams {
            sample,
            view: chosen.place.view * self.options.crop.count() + chosen.place.crop,
            frames: Vec::new(),
            window: known.then(|| view.window(self.options.size)),
            flip: view.flip,
            color,
            instead_of: None,
        };
        let kernel = known.then(|| Kernel::new(&self.options, &view, size));
        Ok(Planned { chosen, counts, params, color: color.matrix(), kernel })
    }

    /// The worker of this thread of the pool.
    fn worker(&self) -> MutexGuard<'_, Worker> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.workers.len();
        // A worker holds buffers only, and each use begins by filling them: one that a panic left is as good as new.
        self.workers[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether other data would not have made this error.
fn is_of_the_data(e: &Error) -> bool {
    matches!(e.kind(), ErrorKind::Io | ErrorKind::Format | ErrorKind::Limit | ErrorKind::Decode)
}

fn aligned<S: bytemuck::Pod>(memory: &mut [u8]) -> Result<&mut [S]> {
    let refused =
        |e| Error::usage(format!("memory for a batch: {e}")).expected(format!("aligned to {}", align_of::<S>()));
    bytemuck::try_cast_slice_mut(memory).map_err(refused)
}

/// The error about the first clip that does not have as many frames as the first of all.
fn first_that_differs(dataset: &Dataset) -> Result<Error> {
    let mut expected = None;
    for clip in dataset.clips() {
        let clip = clip?;
        if *expected.get_or_insert(clip.frame_count()) != clip.frame_count() {
            return Ok(unequal(&clip, expected.unwrap_or_default()));
        }
    }
    Ok(Error::format("clip-frames", "the clips do not have as many frames as the header says"))
}

fn unequal(clip: &Clip<'_>, expected: u32) -> Error {
    Error::usage("the clips do not all have the same number of frames")
        .in_clip(clip.ordinal())
        .expected(expected)
        .found(clip.frame_count())
        .help("set the loader option frames to how many to take from each")
}

fn check_batch_size(options: &LoaderOptions, frames: u32) -> Result<()> {
    let factors = [options.batch_size, frames, options.size.0, options.size.1, 3 * size_of::<f32>() as u32];
    let bytes = factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor.into()));
    if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        return Ok(());
    }
    let (batch_size, (width, height)) = (options.batch_size, options.size);
    Err(Error::limit(format!("a batch of {batch_size} clips of {frames} frames of {width}x{height} pixels")))
}

//! Batches for a training loop: order, crop, decode, resize, normalise.
//!
//! A batch is a pure function of (data set, options, epoch, number of the batch): with any number of threads it has the
//! same bits, and a run that stopped goes on from two integers with [`Loader::batch`].

mod batch;
mod kernel;
mod options;
mod view;
mod worker;

use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::order::{Permutation, Ranks};
use crate::reader::{Clip, Dataset};
use crate::{Error, Result, sampler};

pub use batch::{Batch, BatchData};
use kernel::{Channels, ColorMatrix, Kernel, Sample, Slot, Target};
pub use options::{Crop, Dtype, Layout, LoaderOptions};
use view::view;
use worker::Worker;

/// Most threads that are taken without being asked for.
const DEFAULT_THREADS: usize = 8;

/// Gives the batches of a data set, epoch after epoch.
///
/// ```
/// use vidrec::{Crop, Dataset, Dtype, Loader, LoaderOptions};
/// # use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let dir = folder.path().join("train");
/// # let mut jpeg = Vec::new();
/// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(340, 256)?, &mut jpeg)?;
/// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
/// # for label in 0..4 {
/// #     let clip = ClipInfo { label: Some(label), width: 340, height: 256, ..ClipInfo::default() };
/// #     writer.append(&clip, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }; 8])?;
/// # }
/// # writer.finish()?;
///
/// let train = Dataset::open(&dir)?;
/// let options = LoaderOptions {
///     batch_size: 2,
///     crop: Crop::RANDOM_RESIZED,
///     flip: 0.5,
///     dtype: Dtype::F32,
///     mean: [0.485, 0.456, 0.406],
///     std: [0.229, 0.224, 0.225],
///     shuffle: true,
///     ..LoaderOptions::default()
/// };
/// let loader = Loader::new(&train, options)?;
/// for epoch in 0..2 {
///     for batch in loader.epoch(epoch) {
///         let batch = batch?;
///         assert_eq!(batch.shape(), [2, 8, 3, 224, 224]);
///         assert_eq!(batch.f32().unwrap().len(), 2 * 8 * 3 * 224 * 224);
///         assert_eq!(batch.labels.len(), 2);
///     }
/// }
/// # Ok::<(), vidrec::Error>(())
/// ```
pub struct Loader {
    dataset: Dataset,
    options: LoaderOptions,
    /// Frames that each clip gives.
    frames: u32,
    ranks: Ranks,
    pool: rayon::ThreadPool,
    /// One for each thread of `pool`, so that no lock is ever waited for.
    workers: Vec<Mutex<Worker>>,
}

/// A clip of a batch: which frames it gives, and how.
struct Planned<'a> {
    clip: Clip<'a>,
    frames: Vec<u32>,
    counts: bool,
    /// For frames of the size that the clip's entry says; none when it says that they differ.
    kernel: Option<Kernel>,
}

impl Loader {
    /// A loader of `dataset`, which it shares.
    ///
    /// Without [`LoaderOptions::frames`] it looks at the entry of every clip once.
    ///
    /// # Errors
    ///
    /// An option that makes no sense, clips with different numbers of frames when `frames` is not given, a batch larger
    /// than memory can be, or no threads.
    pub fn new(dataset: &Dataset, options: LoaderOptions) -> Result<Self> {
        options.check()?;
        let frames = match options.frames {
            Some(frames) => frames,
            None => common_frame_count(dataset)?,
        };
        check_batch_size(&options, frames)?;
        let ranks = Ranks::new(dataset.len(), options.batch_size, options.world_size, options.last)?;
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get).min(DEFAULT_THREADS);
        let threads = options.threads.unwrap_or_else(cores);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("vidrec-loader-{i}"));
        let pool = pool.build().map_err(|e| Error::limit(format!("could not start {threads} threads: {e}")))?;
        let workers = (0..pool.current_num_threads()).map(|_| Worker::new().map(Mutex::new)).collect::<Result<_>>()?;
        Ok(Loader { dataset: dataset.clone(), options, frames, ranks, pool, workers })
    }

    /// Batches that this rank has in an epoch; the same on every rank.
    pub fn batches_per_epoch(&self) -> u64 {
        self.ranks.batches()
    }

    /// Threads that decode.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The batches of `epoch`, in order. An item may be an error; the batches after it still come.
    pub fn epoch(&self, epoch: u64) -> Epoch<'_> {
        Epoch { loader: self, epoch, next: 0 }
    }

    /// Batch `k` of `epoch`, counted from 0, at once: how a run that was interrupted goes on.
    ///
    /// # Errors
    ///
    /// As [`fill`](Self::fill).
    pub fn batch(&self, epoch: u64, k: u64) -> Result<Batch> {
        let mut batch = Batch::default();
        self.fill(epoch, k, &mut batch)?;
        Ok(batch)
    }

    /// Replaces the contents of `batch` by batch `k` of `epoch`, reusing its memory.
    ///
    /// The CRC-32 of every frame is compared. After an error the contents of `batch` are unspecified.
    ///
    /// # Errors
    ///
    /// There is no such batch; or a frame is damaged or cannot be decoded: then the error names file, clip and frame, of
    /// the first such frame in the batch.
    pub fn fill(&self, epoch: u64, k: u64, batch: &mut Batch) -> Result<()> {
        let planned = self.plan(epoch, k)?;
        let LoaderOptions { size, layout, dtype, .. } = self.options;
        batch.reshape(planned.len(), self.frames, size, layout, dtype);
        for Planned { clip, counts, .. } in &planned {
            batch.labels.push(clip.label().map_or(-1, i64::from));
            batch.clips.push(clip.ordinal());
            batch.mask.push(*counts);
        }
        match &mut batch.data {
            BatchData::U8(data) => self.decode(epoch, &planned, data),
            BatchData::F32(data) => self.decode(epoch, &planned, data),
        }
    }

    /// The clips of batch `k`, with their tables.
    fn plan(&self, epoch: u64, k: u64) -> Result<Vec<Planned<'_>>> {
        let LoaderOptions { batch_size, rank, shuffle, seed, .. } = self.options;
        let order = Permutation::new(self.dataset.len(), seed, epoch);
        let plan = |slot| {
            let none = || {
                Error::usage(format!("there is no batch {k}")).expected(format!("less than {}", self.ranks.batches()))
            };
            let slot = self.ranks.slot(k, rank, slot).ok_or_else(none)?;
            let ordinal = if shuffle { order.get(slot.position).ok_or_else(none)? } else { slot.position };
            let clip = self.dataset.clip(ordinal)?;
            let frames = sampler::uniform(clip.frame_count(), self.frames);
            if frames.len() != self.frames as usize {
                return Err(Error::usage("the clip has no frames").in_clip(ordinal));
            }
            let size = (clip.width(), clip.height());
            let kernel = (size.0 > 0 && size.1 > 0).then(|| self.kernel(epoch, ordinal, size));
            Ok(Planned { clip, frames, counts: slot.counts, kernel })
        };
        let planned: Vec<_> = self.pool.install(|| (0..batch_size).into_par_iter().map(plan).collect());
        planned.into_iter().collect()
    }

    fn kernel(&self, epoch: u64, clip: u64, frame: (u32, u32)) -> Kernel {
        Kernel::new(&self.target(), &view(&self.options, epoch, clip, frame), frame)
    }

    fn target(&self) -> Target {
        let LoaderOptions { size, mean, std, .. } = self.options;
        Target {
            size,
            channels: Channels::Rgb,
            mean,
            std,
            matrix: ColorMatrix::IDENTITY,
            reducing_gap: kernel::REDUCING_GAP,
        }
    }

    /// Decodes every frame into its own part of `data`.
    fn decode<S: Sample>(&self, epoch: u64, planned: &[Planned<'_>], data: &mut [S]) -> Result<()> {
        let picture = self.options.size.0 as usize * self.options.size.1 as usize * 3;
        let frames = self.frames as usize;
        let decode = |(i, slot): (usize, &mut [S])| {
            let Planned { clip, frames: chosen, kernel, .. } = &planned[i / frames];
            let other = |size| self.kernel(epoch, clip.ordinal(), size);
            let slot = match self.options.layout {
                Layout::Btchw => Slot::planes(slot, 3),
                Layout::Bthwc => Slot::pixels(slot, 3),
            };
            self.worker().frame(clip, chosen[i % frames], kernel.as_ref(), other, slot).err()
        };
        let failed = self.pool.install(|| data.par_chunks_mut(picture).enumerate().find_map_first(decode));
        failed.map_or(Ok(()), Err)
    }

    /// The worker of this thread of the pool.
    fn worker(&self) -> MutexGuard<'_, Worker> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.workers.len();
        // A worker holds buffers only, and each use begins by filling them: one that a panic left is as good as new.
        self.workers[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn common_frame_count(dataset: &Dataset) -> Result<u32> {
    let Some(first) = dataset.clips().next() else { return Ok(1) };
    let expected = first?.frame_count();
    for clip in dataset.clips() {
        let clip = clip?;
        if clip.frame_count() != expected {
            return Err(Error::usage("the clips do not all have the same number of frames")
                .in_clip(clip.ordinal())
                .expected(expected)
                .found(clip.frame_count())
                .help("set the loader option frames to how many to take from each"));
        }
    }
    Ok(expected)
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

/// The batches of one epoch: see [`Loader::epoch`].
pub struct Epoch<'a> {
    loader: &'a Loader,
    epoch: u64,
    next: u64,
}

impl Iterator for Epoch<'_> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let k = self.next;
        if k >= self.loader.batches_per_epoch() {
            return None;
        }
        self.next += 1;
        Some(self.loader.batch(self.epoch, k))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.loader.batches_per_epoch() - self.next);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

//! What makes batches: the data set, the options, and what follows from both for a whole run.

use std::num::NonZero;
use std::sync::Mutex;

use super::batch::shape;
use super::options::{Dtype, LoaderOptions};
use super::space::Space;
use super::state::LoaderState;
use super::stats::Counters;
use super::worker::Worker;
use crate::dataset::{Clip, Dataset};
use crate::order::Ranks;
use crate::{Error, Result};

/// Most threads that are taken without being asked for.
const DEFAULT_THREADS: usize = 8;

/// Everything that makes batches, shared by a loader and its background threads.
pub(super) struct Engine {
    pub dataset: Dataset,
    pub options: LoaderOptions,
    /// Frames that each sample has.
    pub frames: u32,
    /// Frames that each clip must have, where it follows from the counts alone or nothing was asked for.
    pub clip_frames: Option<u32>,
    pub space: Space,
    /// Of a whole epoch.
    ranks: Ranks,
    /// Positions in an epoch.
    positions: u64,
    /// Epoch that another run began, and how many of its positions are done.
    resumed: Option<(u64, u64)>,
    pub counters: Counters,
    pub pool: rayon::ThreadPool,
    /// One for each thread of `pool`, so that no lock is ever waited for.
    pub workers: Vec<Mutex<Worker>>,
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
        let pool = pool.build().map_err(|e| Error::start_pool(threads, e))?;
        let worker = |_| Worker::new(options.decoder).map(Mutex::new);
        let workers = (0..pool.current_num_threads()).map(worker).collect::<Result<_>>()?;
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
        shape(&self.options, self.frames)
    }

    /// Bytes of the samples of a batch.
    pub fn batch_bytes(&self) -> usize {
        let sample = match self.options.dtype {
            Dtype::U8 => size_of::<u8>(),
            Dtype::F16 | Dtype::Bf16 => size_of::<u16>(),
            Dtype::F32 => size_of::<f32>(),
        };
        // `check_batch_size` proved that it fits.
        self.shape().iter().product::<usize>() * sample
    }

    /// Batches that are made ahead at a time.
    pub fn depth(&self) -> usize {
        let affordable = self.options.prefetch_bytes / (self.batch_bytes() as u64).max(1);
        u64::from(self.options.prefetch).min(affordable).max(1) as usize
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

fn check_batch_size(options: &LoaderOptions, frames: u32) -> Result<()> {
    let factors = [options.batch_size, frames, options.size.0, options.size.1, 3 * size_of::<f32>() as u32];
    let bytes = factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor.into()));
    if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        return Ok(());
    }
    let (batch_size, (width, height)) = (options.batch_size, options.size);
    Err(Error::limit(format!("a batch of {batch_size} clips of {frames} frames of {width}x{height} pixels")))
}

/// The error about a clip that should have `expected` frames.
pub(super) fn unequal(clip: &Clip<'_>, expected: u32) -> Error {
    Error::usage("the clips do not all have the same number of frames")
        .in_clip(clip.ordinal())
        .expected(expected)
        .found(clip.frame_count())
        .help("set the loader option frames to how many to take from each")
}

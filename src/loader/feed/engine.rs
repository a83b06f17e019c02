//! What makes batches: the data set, the options, and what follows from both for a whole run.

use super::plan::Planner;
use super::pool::WorkerPool;
use super::schedule::Schedule;
use super::space::Space;
use super::unequal::first_that_differs;
use crate::dataset::Dataset;
use crate::loader::options::{LoaderOptions, Pictures};
use crate::loader::state::LoaderState;
use crate::loader::stats::Counters;
use crate::{Error, Result};

/// Everything that makes batches, shared by a loader and its background threads.
pub(crate) struct Engine {
    pub(super) options: LoaderOptions,
    pub(super) schedule: Schedule,
    pub(super) planner: Planner,
    pub(super) workers: WorkerPool,
    pub counters: Counters,
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
        check_batch_size(&options.pictures, options.batch_size, frames)?;
        let space = Space::new(dataset, &options, likely)?;
        // Unless a number of frames was asked for, it follows from the counts, which must then be right.
        let counted = options.frames.is_none() || space.relies_on_equal_clips();
        Ok(Engine {
            schedule: Schedule::new(&options, space)?,
            planner: Planner::new(dataset, &options, frames, likely.filter(|_| counted)),
            workers: WorkerPool::new(options.threads, options.pictures.decoder)?,
            counters: Counters::default(),
            options,
        })
    }

    /// Begins where `state` stands.
    pub fn resume(&mut self, state: &LoaderState) -> Result<()> {
        state.check(self.schedule.positions(), self.options.seed, &self.planner.dataset.fingerprint())?;
        self.schedule.resume(state.epoch, state.consumed);
        Ok(())
    }

    pub fn first_epoch(&self) -> u64 {
        self.schedule.first_epoch()
    }

    pub fn batches_per_epoch(&self) -> u64 {
        self.schedule.batches_per_epoch()
    }

    pub fn batches_in(&self, epoch: u64) -> u64 {
        self.schedule.batches_in(epoch)
    }

    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// The dimensions of a batch.
    pub fn shape(&self) -> [usize; 5] {
        self.options.pictures.shape(self.options.batch_size, self.planner.frames)
    }

    /// Bytes of a batch's data.
    pub fn batch_bytes(&self) -> usize {
        // `check_batch_size` proved that it fits.
        self.shape().iter().product::<usize>() * self.options.pictures.dtype.size()
    }

    /// Batches that are made ahead at a time.
    pub fn depth(&self) -> usize {
        self.options.prefetch.depth(self.batch_bytes())
    }

    /// Where a run stands after `batches` batches of `epoch`.
    pub fn state(&self, epoch: u64, batches: u64) -> LoaderState {
        let (epoch, consumed) = self.schedule.after(epoch, batches);
        LoaderState {
            epoch,
            consumed,
            samples: self.schedule.positions(),
            seed: self.options.seed,
            dataset: self.planner.dataset.fingerprint(),
        }
    }
}

fn check_batch_size(pictures: &Pictures, batch_size: u32, frames: u32) -> Result<()> {
    let (width, height) = pictures.size;
    let factors = [batch_size, frames, width, height, 3 * size_of::<f32>() as u32];
    let bytes = factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor.into()));
    if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        return Ok(());
    }
    Err(Error::limit(format!("a batch of {batch_size} clips of {frames} frames of {width}x{height} pixels")))
}

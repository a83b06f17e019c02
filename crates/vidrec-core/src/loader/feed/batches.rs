//! Batches made ahead by a thread of their own.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use super::engine::Engine;
use super::fill::{fill, fill_into};
use super::fill_jpegs::fill_jpegs;
use super::producer::{BatchBuffer, Producer};
use super::queue::{BatchNumber, BatchQueue, BufferPool};
use super::schedule::Epochs;
use crate::loader::batch::Batch;
use crate::loader::jpeg_batch::JpegBatch;
use crate::loader::state::LoaderState;
use vidrec_format::error::Result;

/// The batches of one or more epochs, in order. A thread makes them ahead in the background: see
/// [`Loader::iter`](crate::loader::Loader::iter).
///
/// At most [`Prefetch::batches`](crate::loader::Prefetch::batches) batches are ready or in progress. The memory of a
/// dropped batch is used again, in this epoch or the next. A batch that is kept (`collect`) keeps its memory.
/// Dropping this iterator stops the work after the batch in progress.
///
/// The batches have pictures, [`Batch`], or JPEGs, [`JpegBatch`]: see
/// [`Loader::iter_jpegs`](crate::loader::Loader::iter_jpegs).
#[must_use = "batches are made in the background, and dropping this stops it"]
pub struct Batches<T = Batch>(Producer<T>);

#[expect(private_bounds, reason = "the trait says how the loader fills batches")]
impl<T: BatchBuffer + Default> Batches<T> {
    /// Starts to make batches, at most `depth` ahead.
    pub(crate) fn start(engine: &Arc<Engine>, depth: usize, pool: &Arc<BufferPool<T>>, epochs: Epochs) -> Result<Self> {
        let queue = BatchQueue::new(depth, T::default, Arc::downgrade(pool), engine.clone());
        Producer::start(queue, epochs).map(Batches)
    }
}

impl<T> Batches<T> {
    /// Waits for the next batch or the end, but no longer than `at_most`. Returns whether `next` would now return
    /// at once. This is for a consumer that has other work to do while it waits.
    pub fn wait(&self, at_most: Duration) -> bool {
        self.0.queue.wait(at_most)
    }
}

impl<T: Default> Iterator for Batches<T> {
    type Item = Result<PrefetchedBatch<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, batch) = self.0.queue.pop()?;
        Some(batch.map(|batch| PrefetchedBatch { batch, is_lent: true, number, queue: self.0.queue.clone() }))
    }
}

impl<T> fmt::Debug for Batches<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").finish_non_exhaustive()
    }
}

/// The batches of one or more epochs, as [`Batches`], but made directly in memory that the consumer provides: see
/// [`Loader::iter_into`](crate::loader::Loader::iter_into).
///
/// Each piece of memory serves one batch, in the order in which the pieces were provided, and comes back with that
/// batch. The thread makes as many batches ahead as there are pieces that the consumer provided and did not get
/// back.
#[must_use = "batches are made in the background, and dropping this stops it"]
pub struct BatchesInto<M: Memory>(Producer<CallerBuffer<M>>);

/// Memory for the data of a batch: any bytes that may move to another thread.
pub trait Memory: AsMut<[u8]> + Send + 'static {}

impl<M: AsMut<[u8]> + Send + 'static> Memory for M {}

impl<M: Memory> BatchesInto<M> {
    /// Starts making batches as memory for them comes in.
    pub(crate) fn start(engine: &Arc<Engine>, epochs: Epochs) -> Result<Self> {
        Producer::start(BatchQueue::of_consumer(engine.clone()), epochs).map(BatchesInto)
    }

    /// Provides memory for one more batch, of [`batch_bytes`](crate::loader::Loader::batch_bytes) bytes. Without any
    /// memory, `next` waits forever.
    pub fn provide(&self, memory: M) {
        self.0.queue.provide(CallerBuffer { memory, batch: Batch::default() });
    }

    /// Waits for the next batch, as [`Batches::wait`].
    pub fn wait(&self, at_most: Duration) -> bool {
        self.0.queue.wait(at_most)
    }
}

impl<M: Memory> Iterator for BatchesInto<M> {
    /// The memory of the batch, the facts about it (its [`data`](Batch::data) is empty), and the state of a run
    /// that has used it. If a batch could not be made, its memory is dropped.
    type Item = Result<(M, Batch, LoaderState)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (BatchNumber { epoch, k }, provided) = self.0.queue.pop()?;
        let state = || self.0.queue.owner.state(epoch, k + 1);
        Some(provided.map(|CallerBuffer { memory, batch }| (memory, batch, state())))
    }
}

impl<M: Memory> fmt::Debug for BatchesInto<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchesInto").finish_non_exhaustive()
    }
}

/// A batch that was made ahead. Dropping it returns its memory, which is then filled again.
///
/// The memory of a batch does not move while it is reused, so it can be registered with a device (pinned) once.
pub struct PrefetchedBatch<T: Default = Batch> {
    batch: T,
    /// Whether the memory goes back to the queue.
    is_lent: bool,
    number: BatchNumber,
    queue: Arc<BatchQueue<Engine, T>>,
}

impl<T: Default> PrefetchedBatch<T> {
    /// The epoch of the batch.
    pub fn epoch(&self) -> u64 {
        self.number.epoch
    }

    /// The number of the batch in that epoch, counted from 0 or from where the run was resumed.
    pub fn number(&self) -> u64 {
        self.number.k
    }

    /// The state of a run that has used this batch: save this one. Batches made ahead do not count.
    pub fn state(&self) -> LoaderState {
        self.queue.owner.state(self.number.epoch, self.number.k + 1)
    }

    /// Returns the batch, to keep. Its memory is not used again.
    pub fn into_batch(mut self) -> T {
        self.is_lent = false;
        std::mem::take(&mut self.batch)
    }
}

impl<T: Default> Deref for PrefetchedBatch<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.batch
    }
}

/// The memory of the samples does not move until the batch is dropped.
impl<T: Default> DerefMut for PrefetchedBatch<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.batch
    }
}

impl<T: Default> fmt::Debug for PrefetchedBatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BatchNumber { epoch, k } = self.number;
        f.debug_struct("PrefetchedBatch").field("epoch", &epoch).field("number", &k).finish_non_exhaustive()
    }
}

impl<T: Default> Drop for PrefetchedBatch<T> {
    fn drop(&mut self) {
        if self.is_lent {
            self.queue.give_back(std::mem::take(&mut self.batch));
        }
    }
}

impl BatchBuffer for Batch {
    fn fill(&mut self, engine: &Engine, BatchNumber { epoch, k }: BatchNumber) -> Result<()> {
        fill(engine, epoch, k, self)
    }
}

impl BatchBuffer for JpegBatch {
    fn fill(&mut self, engine: &Engine, BatchNumber { epoch, k }: BatchNumber) -> Result<()> {
        fill_jpegs(engine, epoch, k, self)
    }
}

/// The memory of the consumer, and the facts about the batch in it.
struct CallerBuffer<M> {
    memory: M,
    batch: Batch,
}

impl<M: Memory> BatchBuffer for CallerBuffer<M> {
    fn fill(&mut self, engine: &Engine, BatchNumber { epoch, k }: BatchNumber) -> Result<()> {
        fill_into(engine, epoch, k, self.memory.as_mut(), &mut self.batch)
    }
}

//! Batches made ahead by a thread of their own.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::engine::Engine;
use super::epochs::Epochs;
use super::fill::{fill, fill_into};
use super::fill_jpegs::fill_jpegs;
use super::producer::{Producer, Vessel};
use super::ring::{Number, Ring};
use super::shelf::Shelf;
use crate::Result;
use crate::loader::batch::Batch;
use crate::loader::jpeg_batch::JpegBatch;
use crate::loader::state::LoaderState;

/// The batches of one epoch or several, in order, made ahead in the background: see
/// [`Loader::iter`](crate::Loader::iter).
///
/// At most [`Prefetch::batches`](crate::Prefetch::batches) batches are ready or in the making. The memory of a dropped
/// batch is used again, in this epoch or the next. Batches that are kept (`collect`) have memory of their own. Dropping
/// this iterator stops the work after the batch in the making.
///
/// They are of pictures, [`Batch`], or of JPEGs, [`JpegBatch`]: see [`Loader::iter_jpegs`](crate::Loader::iter_jpegs).
#[must_use = "batches are made in the background, and dropping this stops it"]
pub struct Batches<T = Batch>(Producer<T>);

impl Batches {
    /// Begins to make batches.
    pub(crate) fn start(engine: &Arc<Engine>, shelf: &Arc<Shelf<Batch>>, epochs: Epochs) -> Result<Self> {
        let ring = Ring::new(engine.depth(), Batch::default, Arc::downgrade(shelf), engine.clone());
        Producer::start(ring, epochs).map(Batches)
    }
}

impl Batches<JpegBatch> {
    /// Begins to make batches of JPEGs.
    pub(crate) fn start(engine: &Arc<Engine>, shelf: &Arc<Shelf<JpegBatch>>, epochs: Epochs) -> Result<Self> {
        let ring = Ring::new(engine.depth_of_jpegs(), JpegBatch::default, Arc::downgrade(shelf), engine.clone());
        Producer::start(ring, epochs).map(Batches)
    }
}

impl<T> Batches<T> {
    /// Waits for the next batch or the end, but no longer than `at_most`. Returns whether `next` would return at once
    /// now. For a consumer that has other things to do while it waits.
    pub fn wait(&self, at_most: Duration) -> bool {
        self.0.ring.wait(at_most)
    }
}

impl<T: Default> Iterator for Batches<T> {
    type Item = Result<PrefetchedBatch<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, batch) = self.0.ring.pop()?;
        Some(batch.map(|batch| PrefetchedBatch { batch, is_lent: true, number, ring: self.0.ring.clone() }))
    }
}

impl<T> fmt::Debug for Batches<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").finish_non_exhaustive()
    }
}

/// As [`Batches`], but made straight in memory that the consumer provides: see
/// [`Loader::iter_into`](crate::Loader::iter_into).
///
/// Each piece of memory serves one batch, in the order in which the pieces were provided, and comes back with it. As
/// many batches are made ahead as there are pieces that were provided and not taken.
#[must_use = "batches are made in the background, and dropping this stops it"]
pub struct BatchesInto<M: Memory>(Producer<Provided<M>>);

/// Memory for the data of a batch: anything that is bytes and may go to another thread.
pub trait Memory: AsMut<[u8]> + Send + 'static {}

impl<M: AsMut<[u8]> + Send + 'static> Memory for M {}

impl<M: Memory> BatchesInto<M> {
    /// Begins to make batches as memory for them comes.
    pub(crate) fn start(engine: &Arc<Engine>, epochs: Epochs) -> Result<Self> {
        Producer::start(Ring::of_consumer(engine.clone()), epochs).map(BatchesInto)
    }

    /// Gives memory for one more batch, of [`batch_bytes`](crate::Loader::batch_bytes) bytes. Without any, `next` waits
    /// for ever.
    pub fn provide(&self, memory: M) {
        self.0.ring.provide(Provided { memory, batch: Batch::default() });
    }

    /// As [`Batches::wait`].
    pub fn wait(&self, at_most: Duration) -> bool {
        self.0.ring.wait(at_most)
    }
}

impl<M: Memory> Iterator for BatchesInto<M> {
    /// The memory of the batch, what else is known of it (its [`data`](Batch::data) is empty), and where a run stands
    /// once it has used it. The memory of a batch that could not be made is dropped.
    type Item = Result<(M, Batch, LoaderState)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (Number { epoch, k }, provided) = self.0.ring.pop()?;
        let state = || self.0.ring.owner.state(epoch, k + 1);
        Some(provided.map(|Provided { memory, batch }| (memory, batch, state())))
    }
}

impl<M: Memory> fmt::Debug for BatchesInto<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchesInto").finish_non_exhaustive()
    }
}

/// A batch that was made ahead. Dropping it gives its memory back to be filled again.
///
/// The memory of a batch stays where it is while it is used again, so it can be registered with a device (pinned) once.
pub struct PrefetchedBatch<T: Default = Batch> {
    batch: T,
    /// Whether its memory goes back.
    is_lent: bool,
    number: Number,
    ring: Arc<Ring<Engine, T>>,
}

impl<T: Default> PrefetchedBatch<T> {
    /// The epoch that it belongs to.
    pub fn epoch(&self) -> u64 {
        self.number.epoch
    }

    /// Its number in that epoch, counted from 0 or from where the run was resumed.
    pub fn number(&self) -> u64 {
        self.number.k
    }

    /// Where a run stands once it has used this batch: what to save. Batches made ahead do not count.
    pub fn state(&self) -> LoaderState {
        self.ring.owner.state(self.number.epoch, self.number.k + 1)
    }

    /// The batch, to keep; its memory is not used again.
    pub fn into_batch(mut self) -> T {
        self.is_lent = false;
        std::mem::take(&mut self.batch)
    }
}

impl PrefetchedBatch {
    /// The data as bytes, to be changed in place. The bytes stay where they are until this is dropped.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.batch.data.bytes_mut()
    }
}

impl PrefetchedBatch<JpegBatch> {
    /// The JPEGs, to be changed in place. The bytes stay where they are until this is dropped.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.batch.data
    }
}

impl<T: Default> Deref for PrefetchedBatch<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.batch
    }
}

impl<T: Default> fmt::Debug for PrefetchedBatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number { epoch, k } = self.number;
        f.debug_struct("PrefetchedBatch").field("epoch", &epoch).field("number", &k).finish_non_exhaustive()
    }
}

impl<T: Default> Drop for PrefetchedBatch<T> {
    fn drop(&mut self) {
        if self.is_lent {
            self.ring.give_back(std::mem::take(&mut self.batch));
        }
    }
}

impl Vessel for Batch {
    fn fill(&mut self, engine: &Engine, Number { epoch, k }: Number) -> Result<()> {
        fill(engine, epoch, k, self)
    }
}

impl Vessel for JpegBatch {
    fn fill(&mut self, engine: &Engine, Number { epoch, k }: Number) -> Result<()> {
        fill_jpegs(engine, epoch, k, self)
    }
}

/// Memory of the consumer, and what is known of the batch in it.
struct Provided<M> {
    memory: M,
    batch: Batch,
}

impl<M: Memory> Vessel for Provided<M> {
    fn fill(&mut self, engine: &Engine, Number { epoch, k }: Number) -> Result<()> {
        fill_into(engine, epoch, k, self.memory.as_mut(), &mut self.batch)
    }
}

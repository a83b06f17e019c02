//! Batches made ahead by a thread of their own.

use std::any::Any;
use std::ops::{Deref, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::batch::Batch;
use super::engine::Engine;
use super::ring::{Number, Ring};
use super::shelf::Shelf;
use super::state::LoaderState;
use crate::{Error, Result};

/// Which batches of each epoch: `first`, `first + step`, and so on. The default is all of them.
///
/// Several loaders in several processes that take the parts `(0, n)` to `(n - 1, n)` make each batch once, and taken in
/// turn they are those of one loader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    /// Number of the first batch.
    pub first: u64,
    /// From one batch to the next, 1 or more; 0 counts as 1.
    pub step: u64,
}

impl Default for Part {
    fn default() -> Self {
        Part { first: 0, step: 1 }
    }
}

/// The batches of one epoch or several, in order, made ahead in the background: see [`Loader::iter`](super::Loader::iter).
///
/// At most [`prefetch`](super::LoaderOptions::prefetch) batches are ready or in the making; their memory is used again
/// once a batch is dropped, in this epoch or the next. Batches that are kept (`collect`) have memory of their own. Dropping
/// this stops the work after the batch in the making.
pub struct Batches(Producer<Batch>);

impl Batches {
    /// Begins to make the batches of `epochs`.
    pub(super) fn start(
        engine: &Arc<Engine>,
        shelf: &Arc<Shelf<Batch>>,
        epochs: Range<u64>,
        part: Part,
    ) -> Result<Self> {
        let ring = Ring::new(engine.depth(), Batch::default, Arc::downgrade(shelf), engine.clone());
        Producer::start(ring, epochs, part).map(Batches)
    }

    /// Waits for the next batch or the end, but no longer than `at_most`; whether `next` would return at once now. For
    /// a consumer that has to look up while it waits.
    pub fn wait(&self, at_most: Duration) -> bool {
        self.0.ring.wait(at_most)
    }
}

impl Iterator for Batches {
    type Item = Result<PrefetchedBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, batch) = self.0.ring.pop()?;
        Some(batch.map(|batch| PrefetchedBatch { batch, number, ring: self.0.ring.clone() }))
    }
}

/// As [`Batches`], but made straight into memory that the consumer provides: see
/// [`Loader::iter_into`](super::Loader::iter_into).
///
/// Each piece of memory serves one batch, in the order in which the pieces were provided, and comes back with it. As many
/// batches are made ahead as there are pieces that were provided and not taken.
pub struct BatchesInto<M: Memory>(Producer<Provided<M>>);

/// Memory for the samples of a batch: anything that is bytes and may go to another thread.
pub trait Memory: AsMut<[u8]> + Send + 'static {}

impl<M: AsMut<[u8]> + Send + 'static> Memory for M {}

impl<M: Memory> BatchesInto<M> {
    /// Begins to make the batches of `epoch` as memory for them comes.
    pub(super) fn start(engine: &Arc<Engine>, epoch: u64, part: Part) -> Result<Self> {
        let ring = Ring::of_consumer(engine.clone());
        Producer::start(ring, epoch..epoch.saturating_add(1), part).map(BatchesInto)
    }

    /// Gives memory for one more batch, of [`batch_bytes`](super::Loader::batch_bytes) bytes. Without any, `next` waits
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

/// A batch that was made ahead. Dropping it gives its memory back to be filled again.
///
/// The memory of a batch stays where it is while it is used again, so it can be registered with a device (pinned) once.
pub struct PrefetchedBatch {
    batch: Batch,
    number: Number,
    ring: Arc<Ring<Engine, Batch>>,
}

impl PrefetchedBatch {
    /// The epoch that it is of.
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

    /// The samples as bytes, to be changed in place. They stay where they are until this is dropped.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.batch.data.bytes_mut()
    }

    /// The batch, to keep; its memory is not used again.
    pub fn into_batch(mut self) -> Batch {
        std::mem::take(&mut self.batch)
    }
}

impl Deref for PrefetchedBatch {
    type Target = Batch;

    fn deref(&self) -> &Batch {
        &self.batch
    }
}

impl Drop for PrefetchedBatch {
    fn drop(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if batch.shape() != [0; 5] {
            self.ring.give_back(batch);
        }
    }
}

/// What a batch is made in.
trait Target: Send + 'static {
    fn fill(&mut self, engine: &Engine, number: Number) -> Result<()>;
}

impl Target for Batch {
    fn fill(&mut self, engine: &Engine, Number { epoch, k }: Number) -> Result<()> {
        engine.fill(epoch, k, self)
    }
}

struct Provided<M> {
    memory: M,
    batch: Batch,
}

impl<M: Memory> Target for Provided<M> {
    fn fill(&mut self, engine: &Engine, Number { epoch, k }: Number) -> Result<()> {
        engine.fill_into(epoch, k, self.memory.as_mut(), &mut self.batch)
    }
}

/// The thread that makes batches, and where it puts them. Dropping it stops the thread.
struct Producer<T> {
    ring: Arc<Ring<Engine, T>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Target> Producer<T> {
    fn start(ring: Ring<Engine, T>, epochs: Range<u64>, part: Part) -> Result<Self> {
        let ring = Arc::new(ring);
        let of_thread = ring.clone();
        let thread = std::thread::Builder::new().name("vidrec-prefetch".into());
        let thread = thread.spawn(move || {
            let end = EndOnDrop(of_thread);
            let first = epochs.start;
            if let Err(e) = catch(|| make(&end.0, epochs, part)) {
                end.0.push(Number { epoch: first, k: 0 }, Err(e));
            }
        });
        let thread = thread.map_err(|e| Error::start("a thread", e))?;
        Ok(Producer { ring, thread: Some(thread) })
    }
}

/// Ends the ring however the thread ends, so that nobody waits for what never comes.
struct EndOnDrop<T>(Arc<Ring<Engine, T>>);

impl<T> Drop for EndOnDrop<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.ring.stop();
        if let Some(thread) = self.thread.take() {
            // It catches what panics in it, and there would be nobody to tell.
            let _ = thread.join();
        }
    }
}

/// What the thread does: returns after the last batch, or when no more are wanted.
fn make<T: Target>(ring: &Ring<Engine, T>, epochs: Range<u64>, part: Part) -> Result<()> {
    let engine = &*ring.owner;
    let (readahead, step) = (u64::from(engine.options.readahead), part.step.max(1));
    if engine.whole_epoch().batches() == 0 {
        return Ok(());
    }
    for epoch in epochs {
        let mut k = part.first;
        while k < engine.ranks(epoch).batches() {
            let Some(mut batch) = ring.reserve() else { return Ok(()) };
            let number = Number { epoch, k };
            let made = catch(|| {
                // Each batch once: at the beginning of an epoch all those ahead, then one more with each batch.
                let next = if k == part.first { 0 } else { readahead };
                if readahead > 0 {
                    let ahead = (next..=readahead).map(|ahead| k.saturating_add(ahead.saturating_mul(step)));
                    ahead.for_each(|k| engine.read_ahead(epoch, k));
                }
                batch.fill(engine, number)
            });
            ring.push(number, made.map(|()| batch));
            k = k.saturating_add(step);
        }
    }
    Ok(())
}

/// A panic as an error.
fn catch(f: impl FnOnce() -> Result<()>) -> Result<()> {
    // What a panic leaves behind is the batch, which is dropped, and workers, which begin anew with each frame.
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    Error::internal(format!("a thread of the loader panicked: {}", text.unwrap_or("it does not say why")))
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let e = catch(|| panic!("at the disco {}", 1)).unwrap_err();
        assert_eq!(e.kind(), crate::ErrorKind::Internal);
        assert!(e.to_string().contains("at the disco 1"), "{e}");
        assert!(catch(|| std::panic::resume_unwind(Box::new(1))).is_err());
        assert!(catch(|| Ok(())).is_ok());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let in_pool = || (0..9).into_par_iter().for_each(|i| assert!(i < 8, "in a thread"));
        let e = catch(|| {
            pool.install(in_pool);
            Ok(())
        });
        let e = e.unwrap_err();
        assert!(e.to_string().contains("in a thread"), "{e}");
    }
}

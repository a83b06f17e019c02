//! Batches made ahead by a thread of their own.

use std::any::Any;
use std::ops::{Deref, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use super::batch::Batch;
use super::engine::Engine;
use super::ring::{Number, Ring};
use super::state::LoaderState;
use crate::{Error, Result};

/// The batches of one epoch or several, in order, made ahead in the background: see [`Loader::iter`](super::Loader::iter).
///
/// At most [`prefetch`](super::LoaderOptions::prefetch) batches are ready or in the making; their memory is used again
/// once a batch is dropped. Batches that are kept (`collect`) have memory of their own. Dropping this stops the work after
/// the batch in the making.
pub struct Batches {
    ring: Arc<Ring<Engine>>,
    thread: Option<JoinHandle<()>>,
}

impl Batches {
    /// Begins to make the batches of `epochs`.
    pub(super) fn start(engine: &Arc<Engine>, epochs: Range<u64>) -> Result<Self> {
        let options = &engine.options;
        let affordable = options.prefetch_bytes / (engine.batch_bytes() as u64).max(1);
        let depth = u64::from(options.prefetch).min(affordable).max(1);
        let ring = Arc::new(Ring::new(depth as usize, engine.clone()));
        let of_thread = ring.clone();
        let thread = std::thread::Builder::new().name("vidrec-prefetch".into());
        let thread = thread.spawn(move || {
            let first = epochs.start;
            if let Err(e) = catch(|| make(&of_thread, epochs)) {
                of_thread.push(Number { epoch: first, k: 0 }, Err(e));
            }
            of_thread.end();
        });
        let thread = thread.map_err(|e| Error::limit(format!("could not start a thread: {e}")))?;
        Ok(Batches { ring, thread: Some(thread) })
    }
}

impl Iterator for Batches {
    type Item = Result<PrefetchedBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, batch) = self.ring.pop()?;
        Some(batch.map(|batch| PrefetchedBatch { batch, number, ring: self.ring.clone() }))
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.ring.stop();
        if let Some(thread) = self.thread.take() {
            // It catches what panics in it, and there would be nobody to tell.
            let _ = thread.join();
        }
    }
}

/// A batch that was made ahead. Dropping it gives its memory back to be filled again.
///
/// The memory of a batch stays where it is while it is used again, so it can be registered with a device (pinned) once.
pub struct PrefetchedBatch {
    batch: Batch,
    number: Number,
    ring: Arc<Ring<Engine>>,
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

/// What the thread does: returns after the last batch, or when no more are wanted.
fn make(ring: &Ring<Engine>, epochs: Range<u64>) -> Result<()> {
    let engine = &*ring.owner;
    let readahead = u64::from(engine.options.readahead);
    if engine.whole_epoch().batches() == 0 {
        return Ok(());
    }
    for epoch in epochs {
        for k in 0..engine.ranks(epoch).batches() {
            let Some(mut batch) = ring.reserve() else { return Ok(()) };
            let made = catch(|| {
                // Each batch once: at the beginning of an epoch all those ahead, then one more with each batch.
                let next = if k == 0 { 0 } else { readahead };
                if readahead > 0 {
                    (next..=readahead).for_each(|ahead| engine.read_ahead(epoch, k + ahead));
                }
                engine.fill(epoch, k, &mut batch)
            });
            ring.push(Number { epoch, k }, made.map(|()| batch));
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

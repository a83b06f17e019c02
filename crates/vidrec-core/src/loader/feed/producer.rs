//! The thread that makes batches ahead.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use super::ahead::Ahead;
use super::engine::Engine;
use super::fill::read_ahead;
use super::queue::{BatchNumber, BatchQueue};
use super::schedule::Epochs;
use crate::stop::{self, Stop};
use vidrec_format::error::{Error, Result};

/// The memory in which a batch is made.
pub(crate) trait BatchBuffer: Send + 'static {
    fn fill(&mut self, engine: &Engine, number: BatchNumber) -> Result<()>;
}

/// The thread that makes batches, and the queue for them. Dropping it stops the thread, even while the thread
/// waits for a server.
pub(crate) struct Producer<T> {
    pub queue: Arc<BatchQueue<Engine, T>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl<T: BatchBuffer> Producer<T> {
    pub fn start(queue: BatchQueue<Engine, T>, epochs: Epochs) -> Result<Self> {
        let queue = Arc::new(queue);
        let stop = Stop::default();
        let (of_thread, stop_of_thread) = (queue.clone(), Some(stop.clone()));
        let thread = std::thread::Builder::new().name("vidrec-prefetch".into());
        let thread = thread.spawn(move || {
            let end = EndOnDrop(of_thread);
            let first = epochs.range.start;
            if let Err(e) = catch(|| stop::within(&stop_of_thread, || make(&end.0, epochs))) {
                end.0.push(BatchNumber { epoch: first, k: 0 }, Err(e));
            }
        });
        let thread = thread.map_err(|e| Error::start("a thread", e))?;
        Ok(Producer { queue, stop, thread: Some(thread) })
    }
}

/// Ends the queue however the thread ends, so that no consumer waits forever.
struct EndOnDrop<T>(Arc<BatchQueue<Engine, T>>);

impl<T> Drop for EndOnDrop<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.queue.stop();
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // The thread catches its own panics, and there would be no thread to report them to.
            let _ = thread.join();
        }
    }
}

/// The work of the thread. Returns after the last batch, or when no more are wanted.
fn make<T: BatchBuffer>(queue: &BatchQueue<Engine, T>, epochs: Epochs) -> Result<()> {
    let engine = &*queue.owner;
    let ahead = Ahead::start(&queue.owner, &epochs)?;
    let (readahead, step) = (u64::from(engine.options.prefetch.readahead), epochs.step.max(1));
    if engine.schedule.batches_per_epoch() == 0 {
        return Ok(());
    }
    for epoch in epochs.range {
        engine.count_left_out(epoch);
        let mut k = epochs.first;
        while k < engine.schedule.batches_in(epoch) {
            let Some(mut batch) = queue.reserve() else { return Ok(()) };
            let number = BatchNumber { epoch, k };
            let made = catch(|| {
                // Asks for each batch once: for all those ahead at the beginning of an epoch, then for one more
                // with each batch.
                let next = if k == epochs.first { 0 } else { readahead };
                if readahead > 0 {
                    let ahead = (next..=readahead).map(|ahead| k.saturating_add(ahead.saturating_mul(step)));
                    ahead.for_each(|k| read_ahead(engine, epoch, k));
                }
                let _done = ahead.as_ref().map(Ahead::next).transpose()?;
                batch.fill(engine, number)
            });
            queue.push(number, made.map(|()| batch));
            k = k.saturating_add(step);
        }
    }
    Ok(())
}

/// Turns a panic into an error.
fn catch(f: impl FnOnce() -> Result<()>) -> Result<()> {
    // A panic leaves the batch behind, which is dropped, and workers, which start afresh with each frame.
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    Error::internal(format!("a thread of the loader panicked: {}", text.unwrap_or("it gave no reason")))
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let e = catch(|| panic!("at the disco {}", 1)).unwrap_err();
        assert_eq!(e.kind(), vidrec_format::error::ErrorKind::Internal);
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

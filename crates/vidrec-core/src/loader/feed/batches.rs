//! Batches made ahead by a thread of their own.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::ahead::Ahead;
use super::engine::{BufferPool, Engine, Loader};
use super::fill::{BatchBuffer, CallerBuffer, read_ahead};
use super::schedule::{BatchNumber, Epochs};
use crate::loader::batch::Batch;
use crate::loader::jpeg_batch::JpegBatch;
use crate::loader::state::LoaderState;
use crate::stop::{self, Stop};
use vidrec_format::error::{Error, Result};

/// The batches of one or more epochs, in order. A thread makes them ahead in the background: see
/// [`Loader::iter`](crate::loader::Loader::iter).
///
/// At most [`Prefetch::batches`](crate::loader::Prefetch::batches) batches are ready or in progress. The memory of a
/// dropped batch is used again, in this epoch or the next. A batch that is kept (`collect`) keeps its memory.
/// Dropping this iterator stops the work after the batch in progress, even while the thread waits for a server.
///
/// The batches have pictures, [`Batch`], or JPEGs, [`JpegBatch`]: see
/// [`Loader::iter_jpegs`](crate::loader::Loader::iter_jpegs).
#[must_use = "batches are made in the background, and dropping this stops it"]
pub struct Batches<T = Batch> {
    engine: Arc<Engine>,
    ready: Mutex<ReadyBatches<T>>,
    /// Tells the thread to make another batch, in this memory or in that of a dropped batch. `None` if no more are wanted.
    wanted: Option<Sender<Option<T>>>,
    /// The memory of dropped batches; `None` if only the consumer provides memory.
    pool: Option<BufferPool<T>>,
    depth: usize,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// A batch, or why it could not be made.
type NumberedBatch<T> = (BatchNumber, Result<T>);

/// Batches that come from the thread, and the next one, if a wait has already brought it.
type ReadyBatches<T> = (Receiver<NumberedBatch<T>>, Option<NumberedBatch<T>>);

impl Loader {
    /// The batches of an epoch (`3`), of several epochs (`0..10`) or without an end (`0..`), in order. Background
    /// threads make them ahead. Use this to train.
    ///
    /// An item may be an error; the batches after it still come. If there are several epochs, the first batches of
    /// one are made while the last batches of the previous one are used. [`Epochs::part`] takes only a part of the
    /// batches, for several processes that share an epoch batch by batch.
    ///
    /// # Errors
    ///
    /// The system cannot start another thread.
    pub fn iter(&self, epochs: impl Into<Epochs>) -> Result<Batches> {
        let bytes = self.batch_bytes().saturating_add(self.engine.track_bytes());
        let depth = self.engine.options.prefetch.depth(bytes);
        start(&self.engine, Some((&self.pool, depth)), || Some(Batch::default()), epochs.into())
    }

    /// The batches of [`iter`](Self::iter), but without decoding. Each batch has the JPEGs of its frames, and how
    /// each becomes its picture, for a decoder on a GPU or in another process. JPEGs are smaller than pictures,
    /// and take a few microseconds each.
    ///
    /// The options then describe the pictures to make from them. The number of batches made ahead
    /// follows from [`Prefetch::bytes`](crate::loader::Prefetch::bytes) and the mean size of the data set's JPEGs.
    ///
    /// # Errors
    ///
    /// The errors of [`iter`](Self::iter), and a loader with a
    /// [`LoaderOptions::decoded_cache`](crate::loader::LoaderOptions::decoded_cache), which these batches cannot use.
    pub fn iter_jpegs(&self, epochs: impl Into<Epochs>) -> Result<Batches<JpegBatch>> {
        self.refuse_decoded_cache()?;
        start(
            &self.engine,
            Some((&self.jpeg_pool, self.depth_of_jpegs())),
            || Some(JpegBatch::default()),
            epochs.into(),
        )
    }

    /// The batches of [`iter`](Self::iter), but the data goes directly into memory that the caller provides:
    /// pinned, shared, or an array of another language. Each piece has the form that
    /// [`batch_into`](Self::batch_into) needs.
    ///
    /// ```
    /// # use vidrec::{ClipInfo, Crop, Dataset, FrameData, Loader, LoaderOptions, Writer, WriterOptions};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let dir = folder.path().join("train");
    /// # let mut jpeg = Vec::new();
    /// # vidrec::jpeg::Encoder::new(90)?.encode(&vidrec::Planes::new(16, 16)?, &mut jpeg)?;
    /// # let mut writer = Writer::create(&dir, WriterOptions::default())?;
    /// # (0..6).try_for_each(|_| writer.append(&ClipInfo::default(), &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).map(drop))?;
    /// # writer.finish()?;
    /// # let train = Dataset::open(&dir)?;
    /// let options = LoaderOptions { batch_size: 2, crop: Crop::center((16, 16)), ..LoaderOptions::default() };
    /// let loader = Loader::new(&train, options)?;
    /// let mut batches = loader.iter_into::<Vec<u8>>(0)?;
    /// for _ in 0..2 {
    ///     batches.provide(vec![0; loader.batch_bytes()]);
    /// }
    /// while let Some(batch) = batches.next() {
    ///     let (pixels, batch, _state) = batch?;
    ///     assert_eq!((pixels.len(), batch.labels.len()), (2 * 3 * 16 * 16, 2));
    ///     batches.provide(pixels); // no longer used: it may be filled again
    /// }
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`iter`](Self::iter).
    pub fn iter_into<M: Memory>(&self, epochs: impl Into<Epochs>) -> Result<BatchesInto<M>> {
        start(&self.engine, None, || None, epochs.into())
    }
}

/// Starts the thread that makes batches. With a pool, it makes at most so many ahead. `fresh` returns memory if there is none
/// to use again.
fn start<T: BatchBuffer + 'static>(
    engine: &Arc<Engine>,
    pool: Option<(&BufferPool<T>, usize)>,
    fresh: fn() -> Option<T>,
    epochs: Epochs,
) -> Result<Batches<T>> {
    let (to_consumer, ready) = channel();
    let (wanted, of_consumer) = channel();
    let (pool, depth) = pool.map_or((None, 0), |(pool, depth)| (Some(pool.clone()), depth));
    let producer =
        Producer { engine: engine.clone(), ready: to_consumer, wanted: of_consumer, pool: pool.clone(), fresh };
    let stop = Stop::default();
    let stop_of_thread = Some(stop.clone());
    let thread = std::thread::Builder::new().name("vidrec-prefetch".into());
    let thread = thread.spawn(move || {
        let first = BatchNumber { epoch: epochs.range.start, k: 0 };
        if let Err(e) = catch(|| stop::within(&stop_of_thread, || producer.make_all(epochs))) {
            producer.push(first, Err(e));
        }
    });
    let (engine, ready, wanted) = (engine.clone(), Mutex::new((ready, None)), Some(wanted));
    let thread = Some(thread.map_err(|e| Error::start("a thread", e))?);
    let batches = Batches { engine, ready, wanted, pool, depth, stop, thread };
    (0..depth).for_each(|_| batches.want(None));
    Ok(batches)
}

/// Receives from a channel. Returns also how many seconds that took; reads the clock only if there is a wait.
fn receive<T>(from: &Receiver<T>, at_most: Duration) -> (std::result::Result<T, RecvTimeoutError>, f64) {
    if let Ok(received) = from.try_recv() {
        return (Ok(received), 0.0);
    }
    let started = Instant::now();
    (from.recv_timeout(at_most), started.elapsed().as_secs_f64())
}

/// Puts memory into the pool, up to that of the batches made ahead and of one more.
fn put_back<T>(pool: &Mutex<Vec<T>>, depth: usize, memory: impl IntoIterator<Item = T>) {
    let mut pool = pool.lock();
    let room = (depth + 1).saturating_sub(pool.len());
    pool.extend(memory.into_iter().take(room));
}

impl<T> Batches<T> {
    /// Waits for the next batch or the end, but no longer than `at_most`. Returns whether `next` would now return
    /// at once. This is for a consumer that has other work to do while it waits.
    pub fn wait(&self, at_most: Duration) -> bool {
        let (ready, next) = &mut *self.ready.lock();
        if next.is_some() {
            return true;
        }
        let (received, seconds) = receive(ready, at_most);
        self.engine.counters.lock().consumer_wait_seconds += seconds;
        let is_early = matches!(received, Err(RecvTimeoutError::Timeout));
        *next = received.ok();
        !is_early
    }

    /// Waits for the next batch; `None` after the last.
    fn pop(&mut self) -> Option<NumberedBatch<T>> {
        self.wait(Duration::MAX);
        let next = self.ready.get_mut().1.take()?;
        self.engine.counters.lock().ready -= 1;
        Some(next)
    }

    /// Has the thread make another batch.
    fn want(&self, memory: Option<T>) {
        // After the last batch, the thread has ended.
        let _ = self.wanted.as_ref().map(|wanted| wanted.send(memory));
    }
}

impl<T: Default> Iterator for Batches<T> {
    type Item = Result<PrefetchedBatch<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, batch) = self.pop()?;
        self.want(None);
        let pool = self.pool.as_ref().map(Arc::downgrade).unwrap_or_default();
        let (engine, depth) = (self.engine.clone(), self.depth);
        Some(batch.map(|batch| PrefetchedBatch { batch, number, engine, pool, depth }))
    }
}

impl<T> fmt::Debug for Batches<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").finish_non_exhaustive()
    }
}

impl<T> Drop for Batches<T> {
    fn drop(&mut self) {
        self.stop.stop();
        self.wanted = None;
        if let Some(thread) = self.thread.take() {
            // The thread catches its own panics, and there would be no thread to report them to.
            let _ = thread.join();
        }
        let (ready, next) = self.ready.get_mut();
        let made: Vec<NumberedBatch<T>> = next.take().into_iter().chain(ready.try_iter()).collect();
        self.engine.counters.lock().ready -= made.len() as u64;
        if let Some(pool) = &self.pool {
            put_back(pool, self.depth, made.into_iter().filter_map(|(_, batch)| batch.ok()));
        }
    }
}

/// The side of the thread that makes batches.
struct Producer<T> {
    engine: Arc<Engine>,
    ready: Sender<NumberedBatch<T>>,
    wanted: Receiver<Option<T>>,
    pool: Option<BufferPool<T>>,
    fresh: fn() -> Option<T>,
}

impl<T: BatchBuffer> Producer<T> {
    /// Makes all batches. Returns after the last one, or when no more are wanted.
    fn make_all(&self, epochs: Epochs) -> Result<()> {
        let engine = &self.engine;
        let ahead = Ahead::start(engine, &epochs)?;
        let (readahead, step) = (u64::from(engine.options.prefetch.readahead), epochs.step.max(1));
        if engine.schedule.batches_per_epoch == 0 {
            return Ok(());
        }
        for epoch in epochs.range {
            let left_out = engine.schedule.left_out(epoch);
            let count = |most: &mut u64| *most = left_out.max(*most);
            count(&mut engine.counters.lock().samples_left_out);
            let mut k = epochs.first;
            while k < engine.schedule.batches_in(epoch) {
                if stop::is_stopped() {
                    return Ok(());
                }
                let (wanted, seconds) = receive(&self.wanted, Duration::MAX);
                engine.counters.lock().producer_wait_seconds += seconds;
                let dropped = || self.pool.as_ref().and_then(|pool| pool.lock().pop()).or_else(self.fresh);
                let Some(mut batch) = wanted.ok().and_then(|memory| memory.or_else(dropped)) else { return Ok(()) };
                let number = BatchNumber { epoch, k };
                let made = catch(|| {
                    // Asks for each batch once: for all those ahead at the beginning of an epoch, then for one more
                    // with each batch.
                    let next = if k == epochs.first { 0 } else { readahead };
                    if readahead > 0 {
                        let ahead = (next..=readahead).map(|ahead| k.saturating_add(ahead.saturating_mul(step)));
                        ahead.for_each(|k| read_ahead(engine, epoch, k));
                    }
                    ahead.iter().for_each(Ahead::wait);
                    engine.fill(number, &mut batch)
                });
                ahead.iter().for_each(Ahead::done);
                self.push(number, made.map(|()| batch));
                k = k.saturating_add(step);
            }
        }
        Ok(())
    }

    fn push(&self, number: BatchNumber, batch: Result<T>) {
        self.engine.counters.lock().ready += 1;
        // The consumer takes what is left when it ends.
        let _ = self.ready.send((number, batch));
    }
}

/// Turns a panic into an error.
fn catch(f: impl FnOnce() -> Result<()>) -> Result<()> {
    // A panic leaves the batch behind, which is dropped, and workers, which start afresh with each frame.
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(Error::internal(format!("a thread of the loader panicked: {}", text.unwrap_or("it gave no reason"))))
    })
}

/// The batches of one or more epochs, as [`Batches`], but made directly in memory that the consumer provides: see
/// [`Loader::iter_into`](crate::loader::Loader::iter_into).
///
/// Each piece of memory serves one batch, in the order in which the pieces were provided, and comes back with that
/// batch. The thread makes as many batches ahead as there are pieces that the consumer provided and did not get
/// back.
pub type BatchesInto<M> = Batches<CallerBuffer<M>>;

/// Memory for the data of a batch: any bytes that may move to another thread.
pub trait Memory: AsMut<[u8]> + Send + 'static {}

impl<M: AsMut<[u8]> + Send + 'static> Memory for M {}

impl<M: Memory> BatchesInto<M> {
    /// Provides memory for one more batch, of [`batch_bytes`](crate::loader::Loader::batch_bytes) bytes. Without any
    /// memory, `next` waits forever.
    pub fn provide(&self, memory: M) {
        self.want(Some(CallerBuffer { memory, batch: Batch::default() }));
    }
}

impl<M: Memory> Iterator for BatchesInto<M> {
    /// The memory of the batch, the facts about it (its [`data`](Batch::data) is empty), and the state of a run
    /// that has used it. If a batch could not be made, its memory is dropped.
    type Item = Result<(M, Batch, LoaderState)>;

    fn next(&mut self) -> Option<Self::Item> {
        let (BatchNumber { epoch, k }, provided) = self.pop()?;
        let state = || self.engine.state_after(epoch, k + 1);
        Some(provided.map(|CallerBuffer { memory, batch }| (memory, batch, state())))
    }
}

/// A batch that was made ahead. Dropping it returns its memory, which is then filled again.
///
/// The memory of a batch does not move while it is reused, so it can be registered with a device (pinned) once.
pub struct PrefetchedBatch<T: Default = Batch> {
    batch: T,
    number: BatchNumber,
    engine: Arc<Engine>,
    /// Where the memory goes. A batch that is held does not keep that of others.
    pool: Weak<Mutex<Vec<T>>>,
    depth: usize,
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
        self.engine.state_after(self.number.epoch, self.number.k + 1)
    }

    /// Returns the batch, to keep. Its memory is not used again.
    pub fn into_batch(mut self) -> T {
        self.pool = Weak::new();
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
        if let Some(pool) = self.pool.upgrade() {
            put_back(&pool, self.depth, [std::mem::take(&mut self.batch)]);
        }
    }
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

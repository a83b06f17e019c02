//! The queue that carries batches from the thread that makes them to their consumer, and carries memory back.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::loader::counters::{Counters, Counts};
use vidrec_format::error::Result;

/// Identifies a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchNumber {
    pub epoch: u64,
    pub k: u64,
}

/// A queue of at most `depth` batches that are ready or in progress. Batches that the consumer holds do not count,
/// so a consumer that keeps all batches still gets more.
pub(crate) struct BatchQueue<C, T> {
    depth: usize,
    /// Makes memory if there is none to reuse. Without it, all memory comes from the consumer.
    fresh: Option<fn() -> T>,
    /// The store of memory that outlives this queue, for as long as the loader exists.
    pool: Weak<BufferPool<T>>,
    /// The owner of the counters.
    pub owner: Arc<C>,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    ready: VecDeque<(BatchNumber, Result<T>)>,
    /// Memory that is free to use.
    spare: VecDeque<T>,
    making: bool,
    /// Whether the consumer waits for the next batch and the wait has been counted.
    asked: bool,
    /// Whether no more batches will come.
    ended: bool,
    /// Whether no more batches are wanted.
    stopped: bool,
}

impl<C: AsRef<Counters>, T> BatchQueue<C, T> {
    /// Creates a queue that makes memory with `fresh` if the pool has none.
    pub fn new(depth: usize, fresh: fn() -> T, pool: Weak<BufferPool<T>>, owner: Arc<C>) -> Self {
        BatchQueue::with(depth, Some(fresh), pool, owner)
    }

    /// Creates a queue for memory of the consumer.
    pub fn of_consumer(owner: Arc<C>) -> Self {
        BatchQueue::with(usize::MAX, None, Weak::new(), owner)
    }

    fn with(depth: usize, fresh: Option<fn() -> T>, pool: Weak<BufferPool<T>>, owner: Arc<C>) -> Self {
        let (ready, spare) = (VecDeque::new(), VecDeque::new());
        let state = State { ready, spare, making: false, asked: false, ended: false, stopped: false };
        BatchQueue { depth: depth.max(1), fresh, pool, owner, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits until another batch may be made, and returns memory for it; `None` if no more are wanted.
    pub fn reserve(&self) -> Option<T> {
        let full = |state: &mut State<T>| {
            let no_memory = self.fresh.is_none() && state.spare.is_empty();
            !state.stopped && (no_memory || state.ready.len() >= self.depth)
        };
        let (mut state, waited) = self.wait_while(self.state.lock(), None, full);
        self.counts().stats.producer_wait_seconds += waited.as_secs_f64();
        if state.stopped {
            return None;
        }
        state.making = true;
        let kept = || self.pool.upgrade().and_then(|pool| pool.take());
        state.spare.pop_front().or_else(kept).or_else(|| self.fresh.map(|fresh| fresh()))
    }

    /// Appends a batch.
    pub fn push(&self, number: BatchNumber, batch: Result<T>) {
        let mut state = self.state.lock();
        state.making = false;
        if state.stopped {
            self.recycle(batch.ok());
            return;
        }
        state.ready.push_back((number, batch));
        self.counts().stats.ready += 1;
        self.changed.notify_all();
    }

    /// Waits for the next batch; `None` after the last.
    pub fn pop(&self) -> Option<(BatchNumber, Result<T>)> {
        let mut state = self.ask(None);
        state.asked = false;
        let next = state.ready.pop_front()?;
        self.counts().stats.ready -= 1;
        self.changed.notify_all();
        Some(next)
    }

    /// Waits for the next batch or the end, but no longer than `at_most`. Returns whether [`pop`](Self::pop) would
    /// now return at once.
    pub fn wait(&self, at_most: Duration) -> bool {
        let state = self.ask(Some(at_most));
        state.ended || !state.ready.is_empty()
    }

    /// Waits for the next batch or the end, and counts how many were ready when the wait for it began.
    fn ask(&self, at_most: Option<Duration>) -> MutexGuard<'_, State<T>> {
        let mut state = self.state.lock();
        if !state.asked {
            state.asked = true;
            let mut counts = self.counts();
            counts.asked += 1;
            counts.ready_when_asked += state.ready.len() as u64;
        }
        let (state, waited) = self.wait_while(state, at_most, |state| state.ready.is_empty() && !state.ended);
        self.counts().stats.consumer_wait_seconds += waited.as_secs_f64();
        state
    }

    /// Takes memory back. Frees memory that exceeds the need of the queue and one consumer.
    pub fn give_back(&self, memory: T) {
        let mut state = self.state.lock();
        let in_use = state.spare.len() + state.ready.len() + usize::from(state.making);
        if state.ended || state.stopped {
            self.recycle([memory]);
        } else if in_use <= self.depth {
            state.spare.push_back(memory);
        }
    }

    /// Returns memory to the pool for the next queue.
    fn recycle(&self, memory: impl IntoIterator<Item = T>) {
        if let Some(pool) = self.pool.upgrade() {
            memory.into_iter().for_each(|memory| pool.put(memory));
        }
    }

    /// Takes memory of the consumer, which is used in the order in which it comes.
    pub fn provide(&self, memory: T) {
        let mut state = self.state.lock();
        if !state.ended && !state.stopped {
            state.spare.push_back(memory);
            self.changed.notify_all();
        }
    }

    /// Declares that no more batches will come.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        self.recycle(state.spare.drain(..));
        self.changed.notify_all();
    }

    /// Declares that no more batches are wanted.
    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        self.counts().stats.ready -= state.ready.len() as u64;
        self.recycle(state.ready.drain(..).filter_map(|(_, batch)| batch.ok()));
        self.recycle(state.spare.drain(..));
        self.changed.notify_all();
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        (*self.owner).as_ref().lock()
    }

    /// Waits while a condition holds, and returns the time that it took. Reads the clock only if there is a wait.
    fn wait_while<'a>(
        &self,
        mut state: MutexGuard<'a, State<T>>,
        at_most: Option<Duration>,
        mut holds: impl FnMut(&mut State<T>) -> bool,
    ) -> (MutexGuard<'a, State<T>>, Duration) {
        if !holds(&mut state) {
            return (state, Duration::ZERO);
        }
        let started = Instant::now();
        match at_most {
            None => self.changed.wait_while(&mut state, holds),
            Some(time) => drop(self.changed.wait_while_for(&mut state, holds, time)),
        }
        (state, started.elapsed())
    }
}

/// The unused memory of a loader's batches. The system clears all memory that it provides, page by page. In short
/// epochs, that can take longer than decoding.
pub(crate) struct BufferPool<T> {
    most: usize,
    kept: Mutex<Vec<T>>,
}

impl<T> BufferPool<T> {
    /// Creates a pool for at most `most` pieces.
    pub fn new(most: usize) -> Self {
        BufferPool { most, kept: Mutex::default() }
    }

    /// Returns the piece that came last, which is the most likely to be in the CPU cache.
    pub fn take(&self) -> Option<T> {
        self.kept.lock().pop()
    }

    /// Keeps memory, or frees it if there is no room.
    pub fn put(&self, memory: T) {
        let mut kept = self.kept.lock();
        if kept.len() < self.most {
            kept.push(memory);
        }
    }
}

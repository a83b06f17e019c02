//! The queue that carries batches from the thread that makes them to their consumer, and carries memory back.

use std::collections::VecDeque;
use std::sync::Weak;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::engine::Loader;
use vidrec_format::error::Result;

/// Identifies a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchNumber {
    pub epoch: u64,
    pub k: u64,
}

/// The source of memory if the queue has none to reuse.
pub(crate) enum Spare<T> {
    /// The memory of earlier epochs, as long as the loader exists, or new memory.
    Pool(Weak<Mutex<Vec<T>>>, fn() -> T),
    /// Only the consumer provides memory.
    OfConsumer,
}

/// A queue of at most `depth` batches that are ready or in progress. Batches that the consumer holds do not count,
/// so a consumer that keeps all batches still gets more.
pub(crate) struct BatchQueue<T> {
    depth: usize,
    spare: Spare<T>,
    /// The loader without its memory: batches that the consumer holds do not keep it.
    pub loader: Loader,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    ready: VecDeque<(BatchNumber, Result<T>)>,
    /// Memory that is free to use.
    spare: VecDeque<T>,
    /// Whether no more batches will come, or none are wanted.
    ended: bool,
    stopped: bool,
}

impl<T> BatchQueue<T> {
    pub fn new(loader: &Loader, depth: usize, spare: Spare<T>) -> Self {
        let state = State { ready: VecDeque::new(), spare: VecDeque::new(), ended: false, stopped: false };
        let loader = loader.without_memory();
        BatchQueue { depth, spare, loader, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits until another batch may be made, and returns memory for it; `None` if no more are wanted.
    pub fn reserve(&self) -> Option<T> {
        let mut state = self.state.lock();
        let is_full = |state: &mut State<T>| {
            let no_memory = matches!(self.spare, Spare::OfConsumer) && state.spare.is_empty();
            !state.stopped && (no_memory || state.ready.len() >= self.depth)
        };
        let waited = self.wait_while(&mut state, None, is_full);
        self.loader.engine.counters.lock().stats.producer_wait_seconds += waited;
        if state.stopped {
            return None;
        }
        match (state.spare.pop_front(), &self.spare) {
            (None, Spare::Pool(pool, fresh)) => {
                pool.upgrade().and_then(|pool| pool.lock().pop()).or_else(|| Some(fresh()))
            }
            (memory, _) => memory,
        }
    }

    /// Appends a batch.
    pub fn push(&self, number: BatchNumber, batch: Result<T>) {
        let mut state = self.state.lock();
        if state.stopped {
            self.recycle(batch.ok());
            return;
        }
        state.ready.push_back((number, batch));
        self.loader.engine.counters.lock().stats.ready += 1;
        self.changed.notify_all();
    }

    /// Waits for the next batch; `None` after the last.
    pub fn pop(&self) -> Option<(BatchNumber, Result<T>)> {
        let mut state = self.wait_for_batch(None);
        let next = state.ready.pop_front()?;
        self.loader.engine.counters.lock().stats.ready -= 1;
        self.changed.notify_all();
        Some(next)
    }

    /// Waits for the next batch or the end, but no longer than `at_most`. Returns whether [`pop`](Self::pop) would
    /// now return at once.
    pub fn wait(&self, at_most: Duration) -> bool {
        let state = self.wait_for_batch(Some(at_most));
        state.ended || !state.ready.is_empty()
    }

    fn wait_for_batch(&self, at_most: Option<Duration>) -> MutexGuard<'_, State<T>> {
        let mut state = self.state.lock();
        let waited = self.wait_while(&mut state, at_most, |state| state.ready.is_empty() && !state.ended);
        self.loader.engine.counters.lock().stats.consumer_wait_seconds += waited;
        state
    }

    /// Takes memory back. Frees memory that exceeds the need of the queue and one consumer.
    pub fn give_back(&self, memory: T) {
        let mut state = self.state.lock();
        if state.ended || state.stopped {
            self.recycle([memory]);
        } else if state.spare.len() + state.ready.len() <= self.depth {
            state.spare.push_back(memory);
        }
    }

    /// Returns memory to the pool for the next queue.
    fn recycle(&self, memory: impl IntoIterator<Item = T>) {
        if let Spare::Pool(pool, _) = &self.spare
            && let Some(pool) = pool.upgrade()
        {
            let mut pool = pool.lock();
            let room = self.depth.saturating_add(1).saturating_sub(pool.len());
            pool.extend(memory.into_iter().take(room));
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
        self.loader.engine.counters.lock().stats.ready -= state.ready.len() as u64;
        self.recycle(state.ready.drain(..).filter_map(|(_, batch)| batch.ok()));
        self.recycle(state.spare.drain(..));
        self.changed.notify_all();
    }

    /// Waits while a condition holds, and returns the seconds that it took. Reads the clock only if there is a wait.
    fn wait_while(
        &self,
        state: &mut MutexGuard<'_, State<T>>,
        at_most: Option<Duration>,
        mut holds: impl FnMut(&mut State<T>) -> bool,
    ) -> f64 {
        if !holds(state) {
            return 0.0;
        }
        let started = Instant::now();
        match at_most {
            None => self.changed.wait_while(state, holds),
            Some(time) => drop(self.changed.wait_while_for(state, holds, time)),
        }
        started.elapsed().as_secs_f64()
    }
}

//! Batches on their way from the thread that makes them to the one that takes them, and their memory on its way back.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::stats::{Counters, add, add_time};
use crate::Result;

/// Which batch it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub epoch: u64,
    pub k: u64,
}

/// A queue of at most `depth` batches that are ready or being made. Those that a consumer holds are not counted, so one
/// that keeps them all can still go on.
pub(super) struct Ring<C> {
    depth: usize,
    /// Where the counters are.
    pub owner: Arc<C>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<(Number, Result<Batch>)>,
    /// Memory to use again.
    spare: Vec<Batch>,
    making: bool,
    /// No more batches will come.
    ended: bool,
    /// No more batches are wanted.
    stopped: bool,
}

impl<C: AsRef<Counters>> Ring<C> {
    pub fn new(depth: usize, owner: Arc<C>) -> Self {
        Ring { depth: depth.max(1), owner, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until another batch may be made, and gives memory for it; `None` if no more are wanted.
    pub fn reserve(&self) -> Option<Batch> {
        let full = |state: &mut State| !state.stopped && state.ready.len() >= self.depth;
        let (mut state, waited) = self.wait_while(full);
        add_time(&self.counters().producer_wait_ns, waited);
        if state.stopped {
            return None;
        }
        state.making = true;
        Some(state.spare.pop().unwrap_or_default())
    }

    /// Appends a batch.
    pub fn push(&self, number: Number, batch: Result<Batch>) {
        let mut state = self.lock();
        state.making = false;
        if state.stopped {
            return;
        }
        state.ready.push_back((number, batch));
        add(&self.counters().ready, 1);
        self.changed.notify_all();
    }

    /// Waits for the next batch; `None` after the last.
    pub fn pop(&self) -> Option<(Number, Result<Batch>)> {
        let ready = self.lock().ready.len();
        add(&self.counters().asked, 1);
        add(&self.counters().ready_when_asked, ready as u64);
        let (mut state, waited) = self.wait_while(|state| state.ready.is_empty() && !state.ended);
        add_time(&self.counters().consumer_wait_ns, waited);
        let next = state.ready.pop_front()?;
        self.counters().ready.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
        self.changed.notify_all();
        Some(next)
    }

    /// Takes memory back. What is more than the queue and one consumer need is freed.
    pub fn give_back(&self, batch: Batch) {
        let mut state = self.lock();
        let in_use = state.spare.len() + state.ready.len() + usize::from(state.making);
        if in_use <= self.depth && !state.ended && !state.stopped {
            state.spare.push(batch);
        }
    }

    /// Says that no more batches will come.
    pub fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        state.spare.clear();
        self.changed.notify_all();
    }

    /// Says that no more batches are wanted.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let left = state.ready.drain(..).count() as u64;
        state.spare.clear();
        self.counters().ready.fetch_sub(left, std::sync::atomic::Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn counters(&self) -> &Counters {
        (*self.owner).as_ref()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that is done under the lock leaves it half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while something holds; how long it took. The clock is read only if there is a wait.
    fn wait_while(&self, mut holds: impl FnMut(&mut State) -> bool) -> (MutexGuard<'_, State>, Duration) {
        let mut state = self.lock();
        if !holds(&mut state) {
            return (state, Duration::ZERO);
        }
        let started = Instant::now();
        let state = self.changed.wait_while(state, holds).unwrap_or_else(PoisonError::into_inner);
        (state, started.elapsed())
    }
}

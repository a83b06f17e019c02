//! The thread that asks for what coming batches need, for data sets that are not on this machine.
//!
//! It goes through the same batches as the thread that makes them. It plans the batches of a window of blocks together,
//! so that its requests are long. In other orders, it plans as many batches together as have some tens of megabytes. It
//! plans the very first batch alone, so that this batch comes soon. It is ahead by less than half of the memory for
//! blocks: the rest has what was used last, so that nothing is dropped before its use.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::engine::Engine;
use super::needs::{self, Need};
use super::schedule::{BatchNumber, Epochs};
use crate::stop::{self, Stop};
use crate::store::remote::Remote;
use vidrec_format::error::{Error, Result};

/// Bytes of clips that are planned together where the order has no blocks.
const PLANNED_BYTES: u64 = 32 << 20;

/// Plans and sends requests in the background. Dropping it stops that, without waiting for requests that are in
/// progress.
pub(crate) struct Ahead(Arc<Shared>);

struct Shared {
    engine: Arc<Engine>,
    remotes: Vec<Arc<Remote>>,
    /// The most bytes that may be asked for ahead of their use, and about how many a batch needs.
    limit: u64,
    batch_bytes: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Batches whose requests were sent, and batches that are done.
    asked: u64,
    done: u64,
    /// Bytes that were asked for and are still needed.
    ahead: u64,
    /// The part of them that each planned batch is the last to need, beginning with batch `done`.
    last_uses: VecDeque<u64>,
    stopped: bool,
    /// Whether the thread has ended.
    ended: bool,
}

impl Ahead {
    /// Starts to plan the batches of `epochs`, if the data set is remote.
    pub fn start(engine: &Arc<Engine>, epochs: &Epochs) -> Result<Option<Self>> {
        let remotes = engine.specs.dataset.remotes();
        let Some(limit) = remotes.iter().map(|remote| remote.ahead_bytes()).min() else { return Ok(None) };
        let clips = engine.schedule.shapes().iter().map(|shape| u64::from(shape.clips)).max().unwrap_or(1);
        let batch_bytes = engine.specs.dataset.mean_clip_bytes().saturating_mul(clips).max(1);
        let (engine, state, changed) = (engine.clone(), Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { engine, remotes, limit, batch_bytes, state, changed });
        let (of_thread, epochs, stop) = (shared.clone(), epochs.clone(), Stop::current());
        let thread = std::thread::Builder::new().name("vidrec-ahead".into());
        let thread = thread.spawn(move || {
            // Nothing waits for a thread that panicked.
            let _ = catch_unwind(AssertUnwindSafe(|| stop::within(&stop, || plan_all(&of_thread, &epochs))));
            of_thread.state.lock().ended = true;
            of_thread.changed.notify_all();
        });
        thread.map_err(|e| Error::start("a thread", e))?;
        Ok(Some(Ahead(shared)))
    }

    /// Waits until all requests for the next batch were sent: a thread that made it earlier would ask for the same
    /// records one by one.
    pub fn wait(&self) {
        let is_early = |state: &mut State| state.asked <= state.done && !state.ended;
        self.0.changed.wait_while(&mut self.0.state.lock(), is_early);
    }

    /// Notes that a batch is done.
    pub fn done(&self) {
        let mut state = self.0.state.lock();
        state.ahead -= state.last_uses.pop_front().unwrap_or(0);
        state.done += 1;
        drop(state);
        self.0.changed.notify_all();
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.0.state.lock().stopped = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// Whether a batch is planned together with the batches before it.
    fn is_of(&self, group: &[BatchNumber], next: BatchNumber) -> bool {
        let window = |number: BatchNumber| self.engine.schedule.window(number.epoch, number.k);
        let bytes = self.batch_bytes.saturating_mul(group.len() as u64 + 1);
        match (window(next), group.last()) {
            // A window that is too large for the memory is planned in parts.
            (window_of_next @ Some(_), Some(&last)) => {
                last.epoch == next.epoch && window(last) == window_of_next && bytes <= self.limit
            }
            _ => bytes <= PLANNED_BYTES.min(self.limit / 2),
        }
    }

    /// Plans batches together, and sends their requests when there is room for them. Returns whether to go on.
    fn plan(&self, batches: &[BatchNumber]) -> bool {
        // Batches may need nothing of remote files.
        let most = (self.limit / self.batch_bytes).max(2);
        let is_far = |state: &mut State| state.asked > state.done + most && !state.stopped;
        self.changed.wait_while(&mut self.state.lock(), is_far);
        // The batch asks for what could not be planned, and gets the error.
        let needs = needs::plan(&self.engine, batches).unwrap_or_default();
        if batches.len() == 1 {
            let bytes: u64 = needs.iter().map(Need::bytes).sum();
            self.remotes.iter().for_each(|remote| remote.need_memory(bytes.saturating_mul(2)));
        }
        let mut state = self.state.lock();
        let begin = state.asked;
        let planned = (begin - state.done) as usize + batches.len();
        state.last_uses.resize(planned, 0);
        drop(state);
        let mut needs = needs.into_iter().peekable();
        for place in 0..batches.len() {
            while let Some(need) = needs.next_if(|need| need.first <= place) {
                self.wait_for_room(&need, begin);
                // The reader of these bytes gets the error.
                let _ = need.ask();
            }
            self.state.lock().asked += 1;
            self.changed.notify_all();
        }
        !self.state.lock().stopped
    }

    /// Waits until there is room for what a batch needs, or until the batch is the next one. `begin` is the number of
    /// the first batch that was planned with it.
    fn wait_for_room(&self, need: &Need, begin: u64) {
        let is_full = |state: &mut State| {
            !state.stopped && state.done < state.asked && state.ahead.saturating_add(need.bytes()) > self.limit
        };
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, is_full);
        let last = (begin + need.last as u64).saturating_sub(state.done);
        if let Some(last_use) = state.last_uses.get_mut(last as usize) {
            *last_use += need.bytes();
            state.ahead += need.bytes();
        }
    }
}

/// The work of the thread. Returns after the last batch, or when the thread is stopped.
fn plan_all(shared: &Shared, epochs: &Epochs) {
    let step = epochs.step.max(1);
    let (mut group, mut is_first): (Vec<BatchNumber>, bool) = (Vec::new(), true);
    for epoch in epochs.range.clone() {
        let mut k = epochs.first;
        while k < shared.engine.schedule.batches_in(epoch) {
            let number = BatchNumber { epoch, k };
            if !group.is_empty() && (is_first || !shared.is_of(&group, number)) {
                is_first = false;
                if !shared.plan(&std::mem::take(&mut group)) {
                    return;
                }
            }
            group.push(number);
            k = k.saturating_add(step);
        }
    }
    shared.plan(&group);
}

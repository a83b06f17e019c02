//! The thread that requests what coming batches need, for data sets that are not on this machine.
//!
//! It goes through the same batches as the thread that makes them. It plans the batches of a window of blocks
//! together, so that its requests are whole blocks. In other orders, it plans as many batches together as have
//! some tens of megabytes. It plans the very first batch alone, so that this batch comes soon. It requests records
//! as long as there is memory for them.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::engine::Engine;
use super::epochs::Epochs;
use super::needs::{self, Request, Ticket};
use super::ring::Number;
use vidrec_format::error::{Error, Result};
use vidrec_format::stop;
use vidrec_format::stop::Stop;
use vidrec_store::remote::Remote;

/// Bytes of clips that are planned together where the order has no blocks.
const PLANNED_BYTES: u64 = 32 << 20;

/// Plans and sends requests in the background. Dropping it stops that, without waiting for requests that are in
/// progress.
pub(super) struct Ahead(Arc<Shared>);

struct Shared {
    engine: Arc<Engine>,
    remotes: Vec<Arc<Remote>>,
    /// The maximum number of bytes that may be held ahead.
    limit: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The tickets of batches that are planned and not done, and whose requests were all sent.
    tickets: HashMap<(u64, u64), Ticket>,
    /// Whether a thread waits for a ticket that does not exist yet.
    is_waiting: bool,
    stopped: bool,
    /// Whether the thread has ended.
    ended: bool,
}

impl Ahead {
    /// Starts planning the batches of `epochs`, if the data set is remote.
    pub fn start(engine: &Arc<Engine>, epochs: &Epochs) -> Result<Option<Self>> {
        let remotes = engine.specs.dataset.remotes();
        let Some(limit) = remotes.iter().map(|remote| remote.memory().limit()).min() else { return Ok(None) };
        let (engine, state, changed) = (engine.clone(), Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { engine, remotes, limit, state, changed });
        let (of_thread, epochs, stop) = (shared.clone(), epochs.clone(), Stop::current());
        let thread = std::thread::Builder::new().name("vidrec-ahead".into());
        let thread = thread.spawn(move || {
            let end = EndOnDrop(of_thread);
            stop::within(&stop, || plan_all(&end.0, &epochs));
        });
        thread.map_err(|e| Error::start("a thread", e))?;
        Ok(Some(Ahead(shared)))
    }

    /// Waits until all requests for a batch were sent, and returns the ticket of the batch. Drop the ticket when
    /// the batch is done. Tickets must be taken in the order in which batches are planned.
    pub fn ticket(&self, number: Number) -> Option<Ticket> {
        let Ahead(shared) = self;
        let mut state = shared.lock();
        loop {
            if let Some(ticket) = state.tickets.remove(&(number.epoch, number.k)) {
                drop(state);
                shared.changed.notify_all();
                return Some(ticket);
            }
            if state.ended {
                return None;
            }
            if !std::mem::replace(&mut state.is_waiting, true) {
                drop(state);
                // The requests for this batch no longer wait for memory.
                shared.wake();
                state = shared.lock();
                continue;
            }
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        let Ahead(shared) = self;
        let mut state = shared.lock();
        state.stopped = true;
        let tickets = std::mem::take(&mut state.tickets);
        drop(state);
        shared.changed.notify_all();
        shared.wake();
        drop(tickets);
    }
}

/// Marks the end of planning, however the thread ends.
struct EndOnDrop(Arc<Shared>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the thread check again whether it must wait for memory. Do not call this while holding the lock of the
    /// state: the thread takes that lock while it holds the lock of the memory.
    fn wake(&self) {
        self.remotes.iter().for_each(|remote| remote.memory().wake());
    }

    /// Plans batches together, and sends their requests in the order of use. A batch's ticket appears only when
    /// its requests were sent: a thread that made the batch earlier would request the same records one by one.
    /// Returns whether to go on.
    fn plan(&self, batches: &[Number]) -> bool {
        let (tickets, requests) = needs::plan(&self.engine, batches, Some(&self.engine.keeper));
        let mut tickets = batches.iter().zip(tickets).enumerate().peekable();
        for request in requests {
            let ready = std::iter::from_fn(|| tickets.next_if(|(place, _)| *place < request.first));
            self.put(ready.map(|(_, ticket)| ticket));
            if !self.send(request) {
                return false;
            }
        }
        self.put(tickets.map(|(_, ticket)| ticket));
        !self.lock().stopped
    }

    /// Publishes the tickets of these batches, whose requests were all sent.
    fn put<'a>(&self, ready: impl Iterator<Item = (&'a Number, Ticket)>) {
        let ready: Vec<_> = ready.map(|(number, ticket)| ((number.epoch, number.k), ticket)).collect();
        if ready.is_empty() {
            return;
        }
        let mut state = self.lock();
        // The tickets are dropped after the lock is released.
        let ready = if state.stopped {
            ready
        } else {
            state.tickets.extend(ready);
            // A waiting thread looks again, and sets the flag again if it must still wait.
            state.is_waiting = false;
            Vec::new()
        };
        drop(state);
        self.changed.notify_all();
        drop(ready);
    }

    /// Sends a request when there is memory for it, or when a batch in progress waits for it. Returns whether to
    /// go on.
    fn send(&self, request: Request) -> bool {
        let is_enough = || {
            let state = self.lock();
            // Requests go in the order of use, so a thread that waits for a ticket waits for this request.
            state.stopped || state.is_waiting
        };
        if !request.memory().take(request.bytes, is_enough) {
            if self.lock().stopped {
                return false;
            }
            request.memory().take_anyway(request.bytes);
        }
        // The reader of these records gets the error.
        let _ = request.send();
        !self.lock().stopped
    }

    /// Waits while too many batches are planned and not made. Returns whether to go on.
    fn wait_for_room(&self, most: usize) -> bool {
        let state = self.lock();
        let is_full = |state: &mut State| state.tickets.len() > most && !state.stopped;
        let state = self.changed.wait_while(state, is_full).unwrap_or_else(PoisonError::into_inner);
        !state.stopped
    }
}

/// The work of the thread. Returns after the last batch, or when the thread is stopped.
fn plan_all(shared: &Shared, epochs: &Epochs) {
    let engine = &*shared.engine;
    let step = epochs.step.max(1);
    let clips = engine.schedule.shapes().iter().map(|shape| u64::from(shape.clips)).max().unwrap_or(1);
    let batch_bytes = engine.specs.dataset.mean_clip_bytes().saturating_mul(clips).max(1);
    let together = (PLANNED_BYTES.min(shared.limit / 4) / batch_bytes).max(1) as usize;
    // A window that is too large for the memory is planned in parts.
    let most_of_window = (shared.limit / 2 / batch_bytes).max(1) as usize;
    // Plans as far ahead as memory has room for. There is nothing to request beyond that.
    let ahead = (shared.limit / batch_bytes).max(2) as usize;
    let (mut group, mut is_first): (Vec<Number>, bool) = (Vec::new(), true);
    for epoch in epochs.range.clone() {
        let mut k = epochs.first;
        while k < engine.batches_in(epoch) {
            let number = Number { epoch, k };
            let is_full = match (group.last(), engine.schedule.window(epoch, k)) {
                (None, _) => false,
                (Some(_), _) if is_first => true,
                (Some(last), window @ Some(_)) => {
                    last.epoch != epoch
                        || engine.schedule.window(epoch, last.k) != window
                        || group.len() >= most_of_window
                }
                (Some(_), None) => group.len() >= together,
            };
            if is_full {
                is_first = false;
                if !shared.plan(&std::mem::take(&mut group)) || !shared.wait_for_room(ahead) {
                    return;
                }
            }
            group.push(number);
            k = k.saturating_add(step);
        }
    }
    shared.plan(&group);
}

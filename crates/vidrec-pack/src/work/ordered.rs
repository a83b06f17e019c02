//! Runs work in parallel, returns results in order, and holds a bounded number of them in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use vidrec_core::stop;

/// The time between calls of the sink while no result arrives.
const WAIT: Duration = Duration::from_millis(100);

/// A message to the sink.
pub(crate) enum Event<R> {
    /// The next item, in order, and its result.
    Done(usize, R),
    /// The next result is not ready yet. The sink receives this ten times a second.
    Waiting,
}

struct OrderedState<R> {
    /// The next item that a worker may start.
    next: usize,
    /// The next item that the sink waits for.
    awaited: usize,
    /// The end of the items.
    end: usize,
    done: BTreeMap<usize, R>,
    stopped: bool,
}

struct SharedOrder<R> {
    state: Mutex<OrderedState<R>>,
    changed: Condvar,
}

impl<R> SharedOrder<R> {
    fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_all();
    }
}

/// Stops the other threads when the thread that holds this unwinds, so that none of them waits for a result that never
/// comes.
struct StopOnPanic<'a, R>(&'a SharedOrder<R>);

impl<R> Drop for StopOnPanic<'_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Calls `work` for each of so many `items` on `threads` threads and `sink` on this one, in order, until `sink` breaks.
///
/// At most `window` items are started and not yet taken by the sink. If the system cannot start that many threads, fewer
/// run. Returns the number of threads.
///
/// # Errors
///
/// No thread could be started. In that case no work was done.
///
/// # Panics
///
/// If `work` or `sink` panics.
pub(crate) fn for_each<R: Send>(
    items: usize,
    threads: usize,
    window: usize,
    work: impl Fn(usize) -> R + Sync,
    mut sink: impl FnMut(Event<R>) -> ControlFlow<()>,
) -> io::Result<usize> {
    let window = window.max(1);
    let state = OrderedState { next: 0, awaited: 0, end: items, done: BTreeMap::new(), stopped: false };
    let shared = SharedOrder { state: Mutex::new(state), changed: Condvar::new() };
    let carry = stop::carry();
    thread::scope(|scope| {
        let _guard = StopOnPanic(&shared);
        let worker = || {
            let _guard = StopOnPanic(&shared);
            carry();
            while let Some(item) = begin(&shared, window) {
                let result = work(item);
                shared.state.lock().done.insert(item, result);
                shared.changed.notify_all();
            }
        };
        let mut started = 0;
        for _ in 0..threads.max(1) {
            match thread::Builder::new().spawn_scoped(scope, worker) {
                Ok(_) => started += 1,
                Err(e) if started == 0 => return Err(e),
                Err(_) => break,
            }
        }
        let mut item = 0;
        while let Some(event) = take(&shared, item) {
            item += usize::from(matches!(event, Event::Done(..)));
            if sink(event).is_break() {
                break;
            }
        }
        shared.stop();
        Ok(started)
    })
}

/// Returns the next item to work on once there is room for it; `None` when nothing is left to do.
fn begin<R>(shared: &SharedOrder<R>, window: usize) -> Option<usize> {
    let mut state = shared.state.lock();
    while !state.stopped && state.next < state.end {
        if state.next < state.awaited + window {
            state.next += 1;
            return Some(state.next - 1);
        }
        shared.changed.wait(&mut state);
    }
    None
}

/// Returns the result of `item`, or the event that it is not ready yet; `None` if it never comes.
fn take<R>(shared: &SharedOrder<R>, item: usize) -> Option<Event<R>> {
    let mut state = shared.state.lock();
    let mut waited = false;
    loop {
        if let Some(result) = state.done.remove(&item) {
            state.awaited = item + 1;
            shared.changed.notify_all();
            return Some(Event::Done(item, result));
        }
        if state.stopped || item >= state.end {
            return None;
        }
        if waited {
            return Some(Event::Waiting);
        }
        waited = shared.changed.wait_for(&mut state, WAIT).timed_out();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_come_in_order_and_the_window_holds() {
        for threads in [1, 2, 7] {
            let (begun, taken, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let mut seen = Vec::new();
            let work = |i: usize| {
                let ahead = begun.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
                most.fetch_max(ahead, Ordering::SeqCst);
                (0..i * 7919 % 13).for_each(|_| thread::yield_now());
                i * i
            };
            let sink = |event| {
                if let Event::Done(i, result) = event {
                    taken.fetch_add(1, Ordering::SeqCst);
                    seen.push((i, result));
                }
                ControlFlow::Continue(())
            };
            for_each(200, threads, 5, work, sink).unwrap();
            assert_eq!(seen, (0..200).map(|i| (i, i * i)).collect::<Vec<_>>());
            // The sink counts an item a moment after its slot was freed.
            assert!(most.into_inner() <= 6, "{threads} threads");
        }
    }

    #[test]
    fn a_panic_in_a_worker_does_not_hang() {
        let run = || for_each(50, 2, 4, |i| assert_ne!(i, 20), |_| ControlFlow::Continue(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}

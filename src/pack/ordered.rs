//! Parallel work with results in order and a bounded number of them in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

struct State<R> {
    /// The next item that a worker may begin.
    next: usize,
    /// The next item that the sink waits for.
    awaited: usize,
    done: BTreeMap<usize, R>,
    stopped: bool,
}

struct Shared<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
}

impl<R> Shared<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<R>>) -> MutexGuard<'a, State<R>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}

/// Stops the others when the thread that holds it unwinds, so that nobody waits for what never comes.
struct StopOnPanic<'a, R>(&'a Shared<R>);

impl<R> Drop for StopOnPanic<'_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Calls `work` for 0 to `count` on `threads` threads and `sink` on this one, in order.
///
/// At most `window` items are begun and not yet taken by the sink. When the sink breaks, no further item is begun.
///
/// # Panics
///
/// If `work` or `sink` panics.
pub(super) fn for_each<R: Send>(
    count: usize,
    threads: usize,
    window: usize,
    work: impl Fn(usize) -> R + Sync,
    mut sink: impl FnMut(usize, R) -> ControlFlow<()>,
) {
    let window = window.max(1);
    let state = State { next: 0, awaited: 0, done: BTreeMap::new(), stopped: false };
    let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
    thread::scope(|scope| {
        let _guard = StopOnPanic(&shared);
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let _guard = StopOnPanic(&shared);
                while let Some(item) = begin(&shared, count, window) {
                    let result = work(item);
                    shared.lock().done.insert(item, result);
                    shared.changed.notify_all();
                }
            });
        }
        for item in 0..count {
            let Some(result) = take(&shared, item) else { break };
            if sink(item, result).is_break() {
                break;
            }
        }
        shared.stop();
    });
}

/// The next item to work on, once there is room for it; `None` when there is nothing left to do.
fn begin<R>(shared: &Shared<R>, count: usize, window: usize) -> Option<usize> {
    let mut state = shared.lock();
    loop {
        if state.stopped || state.next >= count {
            return None;
        }
        if state.next < state.awaited + window {
            state.next += 1;
            return Some(state.next - 1);
        }
        state = shared.wait(state);
    }
}

/// The result of `item`, once it is there; `None` when a worker was lost.
fn take<R>(shared: &Shared<R>, item: usize) -> Option<R> {
    let mut state = shared.lock();
    loop {
        if let Some(result) = state.done.remove(&item) {
            state.awaited = item + 1;
            shared.changed.notify_all();
            return Some(result);
        }
        if state.stopped {
            return None;
        }
        state = shared.wait(state);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_order_and_the_window_holds() {
        for threads in [1, 2, 7] {
            let (begun, taken, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let mut seen = Vec::new();
            let work = |i: usize| {
                let ahead = begun.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
                most.fetch_max(ahead, Ordering::SeqCst);
                thread::sleep(Duration::from_micros((i * 7919 % 13) as u64 * 20));
                i * i
            };
            for_each(200, threads, 5, work, |i, r| {
                taken.fetch_add(1, Ordering::SeqCst);
                seen.push((i, r));
                ControlFlow::Continue(())
            });
            assert_eq!(seen, (0..200).map(|i| (i, i * i)).collect::<Vec<_>>());
            // The sink counts an item a moment after its place was given away.
            assert!(most.into_inner() <= 6, "{threads} threads");
        }
    }

    #[test]
    fn a_break_stops_the_work() {
        let begun = AtomicUsize::new(0);
        let work = |i| {
            begun.fetch_add(1, Ordering::SeqCst);
            i
        };
        for_each(1000, 3, 4, work, |i, _| if i == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        assert!(begun.into_inner() <= 15);
    }

    #[test]
    fn a_panic_in_a_worker_does_not_hang() {
        let run = || for_each(50, 2, 4, |i| assert_ne!(i, 20), |_, ()| ControlFlow::Continue(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        for_each(0, 2, 4, |_| (), |_, ()| ControlFlow::Continue(()));
    }
}

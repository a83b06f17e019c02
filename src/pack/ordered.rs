//! Parallel work with results in order and a bounded number of them in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

struct State<R> {
    /// The next item that a worker may begin.
    next: usize,
    /// The next item that the sink waits for.
    awaited: usize,
    /// No item from here on is begun.
    end: usize,
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

/// Calls `work` for each of `items` on `threads` threads and `sink` on this one, in order.
///
/// At most `window` items are begun and not yet taken by the sink. When the sink breaks, no further item is begun; nor
/// when `cancelled`, but then those that are begun still come to the sink. Where the system has not so many threads, there
/// are fewer; returns how many.
///
/// # Errors
///
/// Not one thread could be started; then nothing was done.
///
/// # Panics
///
/// If `work` or `sink` panics.
pub(super) fn for_each<R: Send>(
    items: Range<usize>,
    threads: usize,
    window: usize,
    cancelled: impl Fn() -> bool + Sync,
    work: impl Fn(usize) -> R + Sync,
    mut sink: impl FnMut(usize, R) -> ControlFlow<()>,
) -> io::Result<usize> {
    let window = window.max(1);
    let state =
        State { next: items.start, awaited: items.start, end: items.end, done: BTreeMap::new(), stopped: false };
    let shared = Shared { state: Mutex::new(state), changed: Condvar::new() };
    thread::scope(|scope| {
        let _guard = StopOnPanic(&shared);
        let worker = || {
            let _guard = StopOnPanic(&shared);
            while let Some(item) = begin(&shared, &cancelled, window) {
                let result = work(item);
                shared.lock().done.insert(item, result);
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
        for item in items.clone() {
            let Some(result) = take(&shared, item) else { break };
            if sink(item, result).is_break() {
                break;
            }
        }
        shared.stop();
        Ok(started)
    })
}

/// The next item to work on, once there is room for it; `None` when there is nothing left to do.
fn begin<R>(shared: &Shared<R>, cancelled: &impl Fn() -> bool, window: usize) -> Option<usize> {
    let mut state = shared.lock();
    loop {
        if cancelled() && state.next < state.end {
            state.end = state.next;
            shared.changed.notify_all();
        }
        if state.stopped || state.next >= state.end {
            return None;
        }
        if state.next < state.awaited + window {
            state.next += 1;
            return Some(state.next - 1);
        }
        state = shared.wait(state);
    }
}

/// The result of `item`, once it is there; `None` when it never comes.
fn take<R>(shared: &Shared<R>, item: usize) -> Option<R> {
    let mut state = shared.lock();
    loop {
        if let Some(result) = state.done.remove(&item) {
            state.awaited = item + 1;
            shared.changed.notify_all();
            return Some(result);
        }
        if state.stopped || item >= state.end {
            return None;
        }
        state = shared.wait(state);
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
            for_each(
                0..200,
                threads,
                5,
                || false,
                work,
                |i, r| {
                    taken.fetch_add(1, Ordering::SeqCst);
                    seen.push((i, r));
                    ControlFlow::Continue(())
                },
            )
            .unwrap();
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
        for_each(
            0..1000,
            3,
            4,
            || false,
            work,
            |i, _| if i == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) },
        )
        .unwrap();
        assert!(begun.into_inner() <= 15);
    }

    #[test]
    fn what_was_begun_when_cancelled_still_comes() {
        for threads in [1, 2, 5] {
            let (begun, cancel) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut seen = Vec::new();
            let work = |i| {
                begun.fetch_add(1, Ordering::SeqCst);
                i
            };
            let cancelled = || cancel.load(Ordering::SeqCst) > 0;
            for_each(3..1000, threads, 4, cancelled, work, |i, _| {
                seen.push(i);
                cancel.store(usize::from(i == 9), Ordering::SeqCst);
                ControlFlow::Continue(())
            })
            .unwrap();
            // The flag was taken back at once; whoever saw it ended the run there.
            let n = begun.into_inner();
            assert_eq!(seen, (3..3 + n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_in_a_worker_does_not_hang() {
        let run = || for_each(0..50, 2, 4, || false, |i| assert_ne!(i, 20), |_, ()| ControlFlow::Continue(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        for_each(0..0, 2, 4, || false, |_| (), |_, ()| ControlFlow::Continue(())).unwrap();
    }
}

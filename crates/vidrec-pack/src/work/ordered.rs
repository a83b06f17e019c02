//! Runs work in parallel, returns results in order, and holds a bounded number of them in memory.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use vidrec_format::stop;

/// How often the sink is called while no result arrives.
const WAIT: Duration = Duration::from_millis(100);

/// What the sink receives.
pub(crate) enum Event<R> {
    /// The next item, in order, and its result.
    Done(usize, R),
    /// The next result is not ready yet. The sink receives this ten times a second.
    Waiting,
}

/// How the work goes on after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    /// Start no further item. Items already started still reach the sink.
    Finish,
    /// Drop all further results.
    Stop,
}

struct OrderedState<R> {
    /// The next item that a worker may start. All later items may follow, except those in `last`.
    next: usize,
    /// The last items, once all of them have room. They are in reverse starting order: the next one is at the end.
    last: Vec<usize>,
    /// The next item that the sink waits for.
    awaited: usize,
    /// No item from this one on is started.
    end: usize,
    done: BTreeMap<usize, R>,
    stopped: bool,
}

struct SharedOrder<R> {
    state: Mutex<OrderedState<R>>,
    changed: Condvar,
}

impl<R> SharedOrder<R> {
    fn lock(&self) -> MutexGuard<'_, OrderedState<R>> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, OrderedState<R>>) -> MutexGuard<'a, OrderedState<R>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits like [`wait`](Self::wait), but only for a limited time.
    fn wait_a_while<'a>(&self, state: MutexGuard<'a, OrderedState<R>>) -> (MutexGuard<'a, OrderedState<R>>, bool) {
        let (state, timeout) = self.changed.wait_timeout(state, WAIT).unwrap_or_else(PoisonError::into_inner);
        (state, timeout.timed_out())
    }

    /// Starts no further item. A second call changes nothing.
    fn finish(&self) {
        let mut state = self.lock();
        // Workers may have started some of the last items but not an earlier one. Those later items are dropped.
        let unbegun = state.last.drain(..).min().unwrap_or(state.next);
        // Once the last items are dropped, `next` lies behind the end. Nothing may move the end back there,
        // because the sink would wait for items that nobody starts.
        state.end = state.end.min(unbegun);
        drop(state);
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }
}

/// Stops the other threads when the thread that holds this unwinds, so that nobody waits for a result that never
/// comes.
struct StopOnPanic<'a, R>(&'a SharedOrder<R>);

impl<R> Drop for StopOnPanic<'_, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Calls `work` for each of `items` on `threads` threads and `sink` on this one, in order.
///
/// At most `window` items are started and not yet taken by the sink. Items are started in order, except the last
/// `window` of them: the most costly of those, by `cost`, starts first. No thread then starts a long item when the
/// others have nothing left to do. If the system cannot start that many threads, fewer run. Returns the number of
/// threads.
///
/// # Errors
///
/// No thread could be started. In that case no work was done.
///
/// # Panics
///
/// If `work` or `sink` panics.
pub(crate) fn for_each<R: Send>(
    items: Range<usize>,
    threads: usize,
    window: usize,
    cost: impl Fn(usize) -> u64 + Sync,
    work: impl Fn(usize) -> R + Sync,
    mut sink: impl FnMut(Event<R>) -> Flow,
) -> io::Result<usize> {
    let window = window.max(1);
    let state = OrderedState {
        next: items.start,
        last: Vec::new(),
        awaited: items.start,
        end: items.end,
        done: BTreeMap::new(),
        stopped: false,
    };
    let shared = SharedOrder { state: Mutex::new(state), changed: Condvar::new() };
    let carry = stop::carry();
    thread::scope(|scope| {
        let _guard = StopOnPanic(&shared);
        let worker = || {
            let _guard = StopOnPanic(&shared);
            carry();
            while let Some(item) = begin(&shared, window, &cost) {
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
        let mut item = items.start;
        while let Some(event) = take(&shared, item) {
            item += usize::from(matches!(event, Event::Done(..)));
            match sink(event) {
                Flow::Continue => {}
                Flow::Finish => shared.finish(),
                Flow::Stop => break,
            }
        }
        shared.stop();
        Ok(started)
    })
}

/// Returns the next item to work on once there is room for it; `None` when nothing is left to do.
fn begin<R>(shared: &SharedOrder<R>, window: usize, cost: &impl Fn(usize) -> u64) -> Option<usize> {
    let mut state = shared.lock();
    loop {
        if state.stopped {
            return None;
        }
        if let Some(item) = state.last.pop() {
            return Some(item);
        }
        if state.next >= state.end {
            return None;
        }
        if state.end <= state.awaited.saturating_add(window) {
            let mut last: Vec<usize> = (state.next..state.end).rev().collect();
            // The sort is stable: of two items with the same cost, the first one starts first.
            last.sort_by_cached_key(|&item| cost(item));
            state.next = state.end;
            state.last = last;
            continue;
        }
        if state.next < state.awaited + window {
            state.next += 1;
            return Some(state.next - 1);
        }
        state = shared.wait(state);
    }
}

/// Returns the result of `item`, or the event that it is not ready yet; `None` if it never comes.
fn take<R>(shared: &SharedOrder<R>, item: usize) -> Option<Event<R>> {
    let mut state = shared.lock();
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
        (state, waited) = shared.wait_a_while(state);
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
                Flow::Continue
            };
            for_each(0..200, threads, 5, |i| i as u64 * 31 % 7, work, sink).unwrap();
            assert_eq!(seen, (0..200).map(|i| (i, i * i)).collect::<Vec<_>>());
            // The sink counts an item a moment after its slot was freed.
            assert!(most.into_inner() <= 6, "{threads} threads");
        }
    }

    #[test]
    fn a_stop_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let work = |_| _ = begun.fetch_add(1, Ordering::SeqCst);
        for_each(
            0..1000,
            3,
            4,
            |_| 0,
            work,
            |event| {
                if matches!(event, Event::Done(10, ())) { Flow::Stop } else { Flow::Continue }
            },
        )
        .unwrap();
        assert!(begun.into_inner() <= 15);
    }

    #[test]
    fn what_was_begun_when_it_is_to_finish_still_comes() {
        for threads in [1, 2, 5] {
            let begun = AtomicUsize::new(0);
            let mut seen = Vec::new();
            let work = |_| _ = begun.fetch_add(1, Ordering::SeqCst);
            for_each(
                3..1000,
                threads,
                4,
                |_| 0,
                work,
                |event| {
                    let Event::Done(i, ()) = event else { return Flow::Continue };
                    seen.push(i);
                    if i == 9 { Flow::Finish } else { Flow::Continue }
                },
            )
            .unwrap();
            let n = begun.into_inner();
            assert!((7..=11).contains(&n), "{n}");
            assert_eq!(seen, (3..3 + n).collect::<Vec<_>>());
        }
    }

    /// Asks to finish at every event from the one on at which `first` items have arrived, and returns the items
    /// that arrived.
    fn finished_from(first: usize, items: usize, threads: usize) -> Vec<usize> {
        /// Events without a result, one every tenth of a second. Only a hang produces this many.
        const MOST_WAITS: usize = 600;
        let (mut waits, mut seen) = (0, Vec::new());
        let work = |i: usize| (0..i * 7919 % 5).for_each(|_| thread::yield_now());
        let sink = |event| {
            match event {
                Event::Done(i, ()) => seen.push(i),
                Event::Waiting => waits += 1,
            }
            assert!(waits < MOST_WAITS, "{items} items, {threads} threads, from {first}: {seen:?}");
            if seen.len() >= first { Flow::Finish } else { Flow::Continue }
        };
        for_each(0..items, threads, 4 * threads, |i| i as u64 * 31 % 7, work, sink).unwrap();
        seen
    }

    #[test]
    fn it_ends_however_often_it_is_asked_to_and_however_few_items_there_are() {
        for threads in [1, 2, 3, 8] {
            for items in 1..=4 * threads {
                for first in 0..=items {
                    let seen = finished_from(first, items, threads);
                    assert!(
                        seen.len() >= first && seen.len() <= items,
                        "{items} items, {threads} threads, from {first}"
                    );
                    assert_eq!(seen, (0..seen.len()).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn a_long_item_does_not_keep_the_sink_from_ending_the_work() {
        let (mut waits, mut seen) = (0, Vec::new());
        let work = |_| thread::sleep(WAIT * 5 / 2);
        for_each(
            0..1000,
            2,
            4,
            |_| 0,
            work,
            |event| match event {
                Event::Waiting => {
                    waits += 1;
                    Flow::Finish
                }
                Event::Done(i, ()) => {
                    seen.push(i);
                    Flow::Continue
                }
            },
        )
        .unwrap();
        assert!(waits > 0 && seen == [0, 1], "{waits} {seen:?}");
    }

    #[test]
    fn a_panic_in_a_worker_does_not_hang() {
        let run = || for_each(0..50, 2, 4, |_| 0, |i| assert_ne!(i, 20), |_| Flow::Continue);
        assert!(std::panic::catch_unwind(run).is_err());
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        for_each(0..0, 2, 4, |_| 0, |_| (), |_| Flow::Continue).unwrap();
    }

    #[test]
    fn of_the_last_items_the_most_costly_are_begun_first() {
        let costs = [9, 1, 1, 1, 3, 5, 5, 4];
        let (begun, mut seen) = (Mutex::new(Vec::new()), Vec::new());
        let work = |i| begun.lock().unwrap().push(i);
        let sink = |event| {
            if let Event::Done(i, ()) = event {
                seen.push(i);
            }
            Flow::Continue
        };
        for_each(0..costs.len(), 1, 4, |i| costs[i], work, sink).unwrap();
        let begun = begun.into_inner().unwrap();
        // The sink decides how many items start in order before the rest has room.
        let in_order = begun.iter().enumerate().take_while(|&(n, &i)| n == i).count();
        assert!(in_order >= 4, "{begun:?}");
        let mut rest: Vec<usize> = (in_order..costs.len()).collect();
        rest.sort_by_key(|&i| std::cmp::Reverse(costs[i]));
        assert_eq!(begun[in_order..], rest, "{begun:?}");
        assert_eq!(seen, (0..costs.len()).collect::<Vec<_>>());
    }

    #[test]
    fn a_finish_among_the_last_items_leaves_no_hole() {
        for threads in [1, 2, 3] {
            let mut seen = Vec::new();
            let work = |_| thread::yield_now();
            for_each(
                0..20,
                threads,
                8,
                |i| i as u64,
                work,
                |event| {
                    let Event::Done(i, ()) = event else { return Flow::Continue };
                    seen.push(i);
                    if i == 12 { Flow::Finish } else { Flow::Continue }
                },
            )
            .unwrap();
            assert!(seen.len() >= 13 && seen.iter().copied().eq(0..seen.len()), "{threads} threads: {seen:?}");
        }
    }
}

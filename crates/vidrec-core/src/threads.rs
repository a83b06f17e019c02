//! Thread pools, and the same work for many numbers on threads of its own. rayon's global pool is not used, because it panics if it
//! cannot start.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use crate::stop;
use vidrec_format::error::{Error, ErrorKind, Result};

/// A pool of `threads` threads; by default, one for each core. They carry the stop of the calling thread.
pub fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    let threads = threads.unwrap_or_else(cores);
    let carry = stop::carry();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).start_handler(move |_| carry()).build();
    pool.map_err(|e| Error::start_pool(threads, e))
}

/// The number of cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` for each number below `count`, at most `at_once` of them at a time, and returns the results in the
/// order of the numbers. The threads carry the stop of the calling thread.
///
/// After an error, no more work begins.
///
/// # Errors
///
/// The first error. Work that ends because of it reports that it was interrupted. This counts only if nothing else
/// went wrong.
pub fn in_order<T: Send>(count: usize, at_once: usize, work: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    if at_once.min(count) > 1 {
        return in_order_while(count, at_once, |number, _| work(number), |_| {});
    }
    (0..count).map(work).collect()
}

/// Like [`in_order`], for work that checks [`Workers::are_stopped`]. It does `meanwhile` in the calling thread.
pub fn in_order_while<T: Send>(
    count: usize,
    at_once: usize,
    work: impl Fn(usize, &Workers) -> Result<T> + Sync,
    meanwhile: impl FnOnce(&Workers),
) -> Result<Vec<T>> {
    let (workers, next, results) = (Workers::default(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let carry = stop::carry();
    let some = || {
        carry();
        while !workers.are_stopped() {
            let number = next.fetch_add(1, Relaxed);
            if number >= count {
                return;
            }
            match work(number, &workers) {
                Ok(result) => lock(&results).push((number, result)),
                Err(e) => workers.stop(e),
            }
        }
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..at_once.min(count)).map(|_| workers.start(scope, &some)).collect();
        meanwhile(&workers);
        for thread in started.into_iter().flatten() {
            if thread.join().is_err() {
                workers.stop(Error::internal("a thread panicked"));
            }
        }
    });
    if let Some(e) = workers.first_error() {
        return Err(e);
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Threads that share the same work.
#[derive(Default)]
pub struct Workers {
    stopped: AtomicBool,
    errors: Mutex<Vec<Error>>,
    state: Mutex<State>,
    /// The calling thread has something to see.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of running threads.
    running: usize,
    /// One of them has told the calling thread to look.
    is_told: bool,
}

impl Workers {
    /// Whether an error has made further work useless.
    pub fn are_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Stops further work because of an error.
    pub fn stop(&self, e: Error) {
        lock(&self.errors).push(e);
        self.stopped.store(true, Relaxed);
    }

    /// Tells the calling thread that there is news.
    pub fn tell(&self) {
        lock(&self.state).is_told = true;
        self.changed.notify_all();
    }

    /// Waits until there is news or all threads have ended, but not longer than this. Returns whether they have ended.
    pub fn end_within(&self, time: Duration) -> bool {
        let idle = |state: &mut State| state.running > 0 && !state.is_told;
        let waited = self.changed.wait_timeout_while(lock(&self.state), time, idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.is_told = false;
        state.running == 0
    }

    fn start<'s>(&'s self, scope: &'s Scope<'s, '_>, work: &'s (impl Fn() + Sync)) -> Option<ScopedJoinHandle<'s, ()>> {
        let one = Running::new(self);
        // If the thread does not start, the closure is dropped, and the count with it.
        let started = Builder::new().spawn_scoped(scope, move || {
            let _one = one;
            work();
        });
        started.map_err(|e| self.stop(Error::start("a thread", e))).ok()
    }

    fn first_error(&self) -> Option<Error> {
        let mut errors = std::mem::take(&mut *lock(&self.errors));
        errors.sort_by_key(|e| e.kind() == ErrorKind::Interrupted);
        errors.into_iter().next()
    }
}

/// One thread, from before its start until it ends or panics.
struct Running<'a>(&'a Workers);

impl<'a> Running<'a> {
    fn new(workers: &'a Workers) -> Self {
        lock(&workers.state).running += 1;
        Running(workers)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).running -= 1;
        self.0.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod workers_tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_an_error_ends_it() {
        for at_once in [1, 3, 64] {
            assert_eq!(in_order(10, at_once, |i| Ok(i * i)).unwrap(), (0..10).map(|i| i * i).collect::<Vec<_>>());
            assert!(in_order(0, at_once, Ok).unwrap().is_empty());
            let seven = |i| if i == 7 { Err(Error::usage("seven")) } else { Ok(()) };
            assert_eq!(in_order(100, at_once, seven).unwrap_err().message(), "seven");
        }
    }

    #[test]
    fn those_that_an_error_stops_do_not_hide_it() {
        let work = |i, workers: &Workers| {
            if i == 0 {
                return Err(Error::usage("the cause"));
            }
            while !workers.are_stopped() {
                std::thread::yield_now();
            }
            Err::<(), _>(Error::interrupted("stopped"))
        };
        assert_eq!(in_order_while(8, 8, work, |_| {}).unwrap_err().message(), "the cause");
    }

    #[test]
    fn a_panic_is_an_error() {
        let e = in_order(2, 2, |_| -> Result<()> { panic!("on purpose") }).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Internal);
    }

    #[test]
    fn the_calling_thread_may_wait_or_stop_the_others() {
        let done = AtomicUsize::new(0);
        let count = |_, _: &Workers| Ok(done.fetch_add(1, Relaxed));
        let wait = |workers: &Workers| while !workers.end_within(Duration::from_millis(1)) {};
        assert_eq!(in_order_while(100, 4, count, wait).unwrap().len(), 100);
        assert_eq!(done.load(Relaxed), 100);
        let until_stopped = |_, workers: &Workers| {
            while !workers.are_stopped() {
                std::thread::yield_now();
            }
            Ok(())
        };
        let stop = |workers: &Workers| workers.stop(Error::interrupted("by the caller"));
        assert_eq!(in_order_while(2, 2, until_stopped, stop).unwrap_err().message(), "by the caller");
    }
}

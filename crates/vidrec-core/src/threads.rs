//! Thread pools, and the same work for many numbers on threads of its own. rayon's global pool is not used, because it panics if it
//! cannot start.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::Builder;
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
        return in_order_while(count, at_once, |number, _| work(number), || Ok(()));
    }
    (0..count).map(work).collect()
}

/// The interval of calls of the function that [`in_order_while`] calls while nothing happens.
pub const TICK: Duration = Duration::from_millis(100);

/// Like [`in_order`], for work that checks a flag, which an error sets. The calling thread calls `tick` at intervals, whose
/// error also ends the work.
pub fn in_order_while<T: Send>(
    count: usize,
    at_once: usize,
    work: impl Fn(usize, &AtomicBool) -> Result<T> + Sync,
    mut tick: impl FnMut() -> Result<()>,
) -> Result<Vec<T>> {
    let (is_stopped, next, carry) = (AtomicBool::new(false), AtomicUsize::new(0), stop::carry());
    let some = |results: Sender<(usize, Result<T>)>| {
        carry();
        while !is_stopped.load(Relaxed) {
            let number = next.fetch_add(1, Relaxed);
            if number >= count {
                return;
            }
            let result = catch_unwind(AssertUnwindSafe(|| work(number, &is_stopped)));
            let result = result.unwrap_or_else(|_| Err(Error::internal("a thread panicked")));
            is_stopped.fetch_or(result.is_err(), Relaxed);
            // The receiver waits for all senders.
            let _ = results.send((number, result));
        }
    };
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let (sender, results) = channel();
        for _ in 0..at_once.min(count) {
            let (sender, some) = (sender.clone(), &some);
            if let Err(e) = Builder::new().spawn_scoped(scope, move || some(sender)) {
                is_stopped.store(true, Relaxed);
                errors.push(Error::start("a thread", e));
            }
        }
        drop(sender);
        loop {
            match results.recv_timeout(TICK) {
                Ok((number, Ok(result))) => done.push((number, result)),
                Ok((_, Err(e))) => errors.push(e),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if errors.is_empty()
                && let Err(e) = tick()
            {
                is_stopped.store(true, Relaxed);
                errors.push(e);
            }
        }
    });
    errors.sort_by_key(|e| e.kind() == ErrorKind::Interrupted);
    if let Some(e) = errors.into_iter().next() {
        return Err(e);
    }
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
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
        let until_stopped = |is_stopped: &AtomicBool| {
            while !is_stopped.load(Relaxed) {
                std::thread::yield_now();
            }
            Err::<(), _>(Error::interrupted("stopped"))
        };
        let work = |i, is_stopped: &AtomicBool| {
            if i == 0 { Err(Error::usage("the cause")) } else { until_stopped(is_stopped) }
        };
        assert_eq!(in_order_while(8, 8, work, || Ok(())).unwrap_err().message(), "the cause");
        let stop = || Err(Error::usage("by the caller"));
        let e = in_order_while(2, 2, |_, is_stopped| until_stopped(is_stopped), stop).unwrap_err();
        assert_eq!(e.message(), "by the caller");
    }

    #[test]
    fn a_panic_is_an_error() {
        let e = in_order(2, 2, |_| -> Result<()> { panic!("on purpose") }).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Internal);
    }
}

//! The same work for many things, some at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::{Error, Result, stop};

/// Does something for each number below `count`, `at_once` of them at a time, and returns what came of it in order. After an
/// error nothing more is begun.
pub(super) fn in_order<T: Send>(
    count: usize,
    at_once: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    if at_once <= 1 || count <= 1 {
        return (0..count).map(work).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let carry = stop::carry();
    let some = || -> Result<Vec<(usize, T)>> {
        carry();
        let mut done = Vec::new();
        while !failed.load(Relaxed) {
            let number = next.fetch_add(1, Relaxed);
            if number >= count {
                break;
            }
            let found = work(number).inspect_err(|_| failed.store(true, Relaxed))?;
            done.push((number, found));
        }
        Ok(done)
    };
    let mut all = std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, some);
        let started: Vec<_> = (0..at_once.min(count)).map(start).collect();
        let ended = started.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err(Error::internal("a thread panicked"))),
            Err(e) => Err(Error::start("a thread", e)),
        });
        ended.collect::<Result<Vec<_>>>()
    })?
    .into_iter()
    .flatten()
    .collect::<Vec<_>>();
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, found)| found).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_an_error_ends_it() {
        for at_once in [1, 3, 64] {
            assert_eq!(in_order(10, at_once, |i| Ok(i * i)).unwrap(), (0..10).map(|i| i * i).collect::<Vec<_>>());
            assert!(in_order(0, at_once, Ok).unwrap().is_empty());
            let e = in_order(100, at_once, |i| if i == 7 { Err(Error::usage("seven")) } else { Ok(()) }).unwrap_err();
            assert_eq!(e.message(), "seven");
        }
    }
}

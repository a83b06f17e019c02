//! The end of work that nobody wants any more, while it waits for something.
//!
//! Work knows its [`Stop`] by the thread that does it, since what waits is far below what is wanted. It belongs to one
//! loader, or to one call of a program: others that read the same data set wait on. Threads that help with the work carry
//! the stop of the one that starts them.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
#[cfg(feature = "remote")]
use std::time::Duration;

#[cfg(any(feature = "pack", feature = "remote"))]
use crate::{Error, Result};

/// How often whoever waits looks whether it still has to.
#[cfg(feature = "remote")]
pub(crate) const LOOK: Duration = Duration::from_millis(50);

thread_local! {
    /// That of the work which this thread does. Nothing is to be dropped when a thread ends: by then, all work is done. To
    /// register a destructor takes memory, and without it the C library ends the process.
    static CURRENT: RefCell<ManuallyDrop<Option<Stop>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Says to some work that nobody wants it any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn stop(&self) {
        self.0.store(true, Relaxed);
    }

    /// That of the work which this thread does, to be handed to other threads that help with it.
    pub fn current() -> Option<Stop> {
        CURRENT.with_borrow(|current| Option::clone(current))
    }
}

/// Does work that ends early once `stop` is true: then whatever of it waits for a server returns within a tenth of a second,
/// and the work ends with [`Interrupted`](crate::ErrorKind::Interrupted).
///
/// The `progress` of a call can stop it as well, but only where the call has something to say. A program that has to end
/// soon after a signal, also while a server is silent, does its work inside of this function, with a flag that the signal
/// sets, and lets `progress` look at the same flag.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
///
/// let stop = Arc::new(AtomicBool::new(false));
/// let opened = vidrec::stoppable(&stop, || vidrec::Dataset::open("no/such/set"));
/// assert!(opened.is_err());
/// ```
pub fn stoppable<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    within(&Some(Stop(stop.clone())), work)
}

/// For a thread that helps with the work of the calling one until it ends: makes it carry its stop.
pub(crate) fn carry() -> impl Fn() + Send + Sync + 'static {
    let stop = Stop::current();
    move || drop(set(stop.clone()))
}

/// Does work that `stop` may end. Such work may be inside of other work.
pub(crate) fn within<T>(stop: &Option<Stop>, work: impl FnOnce() -> T) -> T {
    let _back = Back(set(stop.clone()));
    work()
}

/// Changes the stop of this thread, and returns the one before.
fn set(stop: Option<Stop>) -> Option<Stop> {
    ManuallyDrop::into_inner(CURRENT.replace(ManuallyDrop::new(stop)))
}

/// Restores the stop of the work outside, also after a panic.
struct Back(Option<Stop>);

impl Drop for Back {
    fn drop(&mut self) {
        set(self.0.take());
    }
}

/// Whether nobody wants the work of this thread any more.
#[cfg(any(feature = "pack", feature = "remote"))]
pub(crate) fn is_stopped() -> bool {
    CURRENT.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.0.load(Relaxed)))
}

/// An error if nobody wants the work of this thread any more.
#[cfg(any(feature = "pack", feature = "remote"))]
pub(crate) fn check() -> Result<()> {
    if is_stopped() { Err(Error::interrupted("interrupted")) } else { Ok(()) }
}

#[cfg(all(test, feature = "remote"))]
mod tests {
    use super::*;

    #[test]
    fn work_is_stopped_where_it_is_done() {
        let (one, other) = (Some(Stop::default()), Some(Stop::default()));
        one.iter().for_each(Stop::stop);
        assert!(!is_stopped());
        within(&one, || {
            assert!(is_stopped() && check().is_err());
            within(&other, || assert!(!is_stopped()));
            within(&None, || assert!(!is_stopped()));
            let caught = std::panic::catch_unwind(|| within(&None, || panic!("on purpose")));
            assert!(caught.is_err() && is_stopped());
            let stop = Stop::current();
            std::thread::scope(|scope| {
                let there = scope.spawn(|| (is_stopped(), within(&stop, is_stopped)));
                assert_eq!(there.join().unwrap(), (false, true));
                let carry = carry();
                let there = scope.spawn(move || {
                    carry();
                    is_stopped()
                });
                assert!(there.join().unwrap());
            });
        });
        assert!(!is_stopped() && check().is_ok());
    }
}

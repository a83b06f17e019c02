//! Stops work that is no longer wanted, even while it waits.
//!
//! The [`Stop`] of some work belongs to the thread that does it, because the code that waits is far below the code
//! that wants the result. It belongs to one loader, or to one call of a program: others that read the same data set
//! keep waiting. Threads that help with the work carry the stop of the thread that starts them.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use vidrec_format::error::{Error, Result};

/// The interval at which waiting code checks whether it still has to wait.
pub const LOOK: Duration = Duration::from_millis(50);

thread_local! {
    /// The stop of this thread's work. It has no destructor, because all work is done when the thread ends.
    /// Registering a destructor takes memory, and without memory the C library ends the process.
    static CURRENT: RefCell<ManuallyDrop<Option<Stop>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Tells some work that it is no longer wanted.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the work that checks this stop.
    pub fn stop(&self) {
        self.0.store(true, Relaxed);
    }

    /// Returns the stop of this thread's work, to hand it to other threads that help with the work.
    pub fn current() -> Option<Stop> {
        CURRENT.with_borrow(|current| Option::clone(current))
    }
}

/// Does work that ends early once `stop` is true. Every wait for a server in it then returns within a tenth of a
/// second, and the work ends with [`Interrupted`](vidrec_format::error::ErrorKind::Interrupted).
///
/// The `progress` of a call can stop it, too, but only when the call has progress to report. Some programs must end
/// soon after a signal, even while a server is silent. Such a program does its work inside this function, with a flag
/// that the signal sets, and lets `progress` check the same flag.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
///
/// let stop = Arc::new(AtomicBool::new(false));
/// let bytes = vidrec::stoppable(&stop, || vidrec::parse_bytes("2kB"));
/// assert_eq!(bytes.unwrap(), 2000);
/// ```
pub fn stoppable<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    within(&Some(Stop(stop.clone())), work)
}

/// Returns a function that makes another thread carry the stop of the calling thread. Use it for a thread that helps
/// with this work until the thread ends.
pub fn carry() -> impl Fn() + Send + Sync + 'static {
    let stop = Stop::current();
    move || drop(set(stop.clone()))
}

/// Does work that `stop` may end. Such work may be nested in other work.
pub fn within<T>(stop: &Option<Stop>, work: impl FnOnce() -> T) -> T {
    let _back = Back(set(stop.clone()));
    work()
}

/// Replaces the stop of this thread, and returns the old one.
fn set(stop: Option<Stop>) -> Option<Stop> {
    ManuallyDrop::into_inner(CURRENT.replace(ManuallyDrop::new(stop)))
}

/// Restores the stop of the outer work, even after a panic.
struct Back(Option<Stop>);

impl Drop for Back {
    fn drop(&mut self) {
        set(self.0.take());
    }
}

/// Whether the work of this thread was stopped.
pub fn is_stopped() -> bool {
    CURRENT.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.0.load(Relaxed)))
}

/// Returns an error if the work of this thread was stopped.
pub fn check() -> Result<()> {
    if is_stopped() { Err(Error::interrupted("interrupted")) } else { Ok(()) }
}

#[cfg(test)]
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

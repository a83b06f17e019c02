//! Long work in a thread of its own, so that Python can show progress and handle Ctrl-C meanwhile.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use vidrec::{Progress, ProgressFn};

use crate::error::raise;

/// How long to wait before Python may handle a signal and show progress.
const WAIT: Duration = Duration::from_millis(100);

/// Runs `work`, whose callback notes how far it is. This thread calls `progress` with the latest items done and their
/// number. An exception from there, or from a signal handler such as Ctrl-C's, stops the work by that callback and is
/// raised.
pub fn run<R: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut ProgressFn<'_>) -> vidrec::Result<R> + Send,
) -> PyResult<R> {
    let (latest, unwanted) = (Mutex::new(None::<Progress>), AtomicBool::new(false));
    let note = |how_far: &Progress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(*how_far);
        if unwanted.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let show = || {
        let how_far = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(call), Some(p)) = (progress, how_far) else { return Ok(()) };
        call.call1((p.done, p.total.unwrap_or(p.done).max(p.done))).map(drop)
    };
    thread::scope(|scope| {
        // Closed when the work ends.
        let (open, mut end) = channel::<()>();
        let worker = thread::Builder::new().spawn_scoped(scope, move || {
            let _open = open;
            let mut note = note;
            work(&mut note)
        })?;
        let mut wanted = Ok(());
        loop {
            let waited;
            (end, waited) = py.detach(move || {
                let waited = end.recv_timeout(WAIT);
                (end, waited)
            });
            if wanted.is_ok() {
                wanted = show().and_then(|()| py.check_signals());
                unwanted.store(wanted.is_err(), Relaxed);
            }
            if waited == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        let done = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        wanted.and_then(|()| done.map_err(raise))
    })
}

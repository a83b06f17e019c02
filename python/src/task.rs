//! Long work in a thread of its own, so that Python can show progress and handle Ctrl-C meanwhile.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use vidrec::{Progress, ProgressFn};

/// How long the work goes on before Python may handle a signal and show progress.
const WAIT: Duration = Duration::from_millis(100);

/// Runs `work`, which says now and then how far it has come. `progress` is called on this thread with the latest of what
/// it said. An exception from there, or of a signal handler, makes the work stop, and is raised.
pub fn run<R: Send>(
    py: Python<'_>,
    progress: impl Fn(Progress) -> PyResult<()>,
    work: impl FnOnce(&mut ProgressFn<'_>) -> R + Send,
) -> PyResult<R> {
    let (latest, unwanted) = (Mutex::new(None), AtomicBool::new(false));
    let mut say = |how_far: &Progress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(*how_far);
        if unwanted.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let show = || {
        let how_far = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        how_far.map_or(Ok(()), &progress)
    };
    thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        scope.spawn(move || {
            // Whoever would receive it waits until it comes.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(&mut say))));
        });
        let mut wanted = Ok(());
        loop {
            let done;
            (receiver, done) = py.detach(move || {
                let done = receiver.recv_timeout(WAIT);
                (receiver, done)
            });
            if wanted.is_ok() {
                wanted = show().and_then(|()| py.check_signals());
                unwanted.store(wanted.is_err(), Relaxed);
            }
            match done {
                Err(RecvTimeoutError::Timeout) => (),
                Ok(Ok(result)) => return wanted.map(|()| result),
                Ok(Err(panic)) => resume_unwind(panic),
                Err(RecvTimeoutError::Disconnected) => return Err(lost()),
            }
        }
    })
}

fn lost() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err("the work ended without a result")
}

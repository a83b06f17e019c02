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

/// What `work` has told and Python does not know.
#[derive(Default)]
struct Notes {
    began: bool,
    first: Option<Progress>,
    latest: Option<Progress>,
}

impl Notes {
    fn add(&mut self, how_far: Progress) {
        if self.began {
            self.latest = Some(how_far);
        } else {
            (self.began, self.first) = (true, Some(how_far));
        }
    }

    fn take(&mut self) -> [Option<Progress>; 2] {
        [self.first.take(), self.latest.take()]
    }
}

/// Runs `work`, whose callback notes how far it is. This thread calls `progress` with the items done and their number:
/// those of the first call, by which a rate is measured, and from then on the latest. An exception from there, or from a signal handler such as Ctrl-C's, stops the work by that callback and is
/// raised.
pub fn run<R: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut ProgressFn<'_>) -> vidrec::Result<R> + Send,
) -> PyResult<R> {
    let (notes, unwanted) = (Mutex::new(Notes::default()), AtomicBool::new(false));
    let note = |how_far: &Progress| {
        notes.lock().unwrap_or_else(PoisonError::into_inner).add(*how_far);
        if unwanted.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let show = || {
        let untold = notes.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(call) = progress else { return Ok(()) };
        let tell = |p: Progress| call.call1((p.done, p.total.unwrap_or(p.done).max(p.done))).map(drop);
        untold.into_iter().flatten().try_for_each(tell)
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

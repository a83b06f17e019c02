//! Long work in a thread of its own, so that Python can show progress and handle Ctrl-C meanwhile.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use pyo3::prelude::*;
use vidrec::{Progress, ProgressFn, stoppable};

use crate::error::raise;

/// How long to wait before Python may handle a signal and show progress.
const WAIT: Duration = Duration::from_millis(100);

/// What shows how far work is, and an upload after it. Each is called with the items done and their number.
pub type ProgressCallbacks<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// Runs `work`, whose callback notes how far it is. While it runs and once at its end, this thread calls `progress` with the
/// items done and their number. An exception from there, or from a signal handler such as Ctrl-C's, stops the work by that
/// callback and is raised.
pub fn run<R: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut ProgressFn<'_>) -> vidrec::Result<R> + Send,
) -> PyResult<R> {
    run_and_upload(py, &(progress.cloned(), None), |tell, _| work(tell))
}

/// Does work that may wait for a server, if the data is remote: then an exception from a signal handler, such as Ctrl-C's,
/// ends it.
pub fn wait<R: Send>(py: Python<'_>, is_remote: bool, work: impl FnOnce() -> vidrec::Result<R> + Send) -> PyResult<R> {
    if is_remote { run(py, None, |_| work()) } else { py.detach(work).map_err(raise) }
}

/// As [`run`], for work whose output may be uploaded, with a callback that notes how far the upload is.
pub fn run_and_upload<R: Send>(
    py: Python<'_>,
    (progress, upload): &ProgressCallbacks<'_>,
    work: impl FnOnce(&mut ProgressFn<'_>, &mut ProgressFn<'_>) -> vidrec::Result<R> + Send,
) -> PyResult<R> {
    let (latest, unwanted) = (Mutex::new([None; 2]), Arc::new(AtomicBool::new(false)));
    let note = |which: usize, how_far: &Progress| {
        latest.lock()[which] = Some(*how_far);
        if unwanted.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let show = || {
        let latest: [Option<Progress>; 2] = *latest.lock();
        let mut calls =
            [progress, upload].into_iter().zip(latest).filter_map(|(call, told)| Some((call.as_ref()?, told?)));
        calls.try_for_each(|(call, p)| call.call1((p.done, p.total.unwrap_or(p.done).max(p.done))).map(drop))
    };
    thread::scope(|scope| {
        // Closed when the work ends.
        let (open, end) = channel::<()>();
        let end = Mutex::new(end);
        let (note, stop) = (&note, unwanted.clone());
        let worker = thread::Builder::new().spawn_scoped(scope, move || {
            let _open = open;
            stoppable(&stop, || work(&mut |how_far| note(0, how_far), &mut |how_far| note(1, how_far)))
        })?;
        let mut wanted = Ok(());
        loop {
            let waited = py.detach(|| end.lock().recv_timeout(WAIT));
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

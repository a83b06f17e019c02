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
pub type Shows<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// What `work` has told and Python does not know.
#[derive(Default)]
struct Notes {
    told: Option<Progress>,
    first: Option<Progress>,
    latest: Option<Progress>,
}

impl Notes {
    fn add(&mut self, how_far: Progress) {
        let untold = if self.told.is_none() { &mut self.first } else { &mut self.latest };
        *untold = Some(how_far);
        self.told = Some(how_far);
    }

    /// To be told once more, so that whoever is told can stop the work.
    fn repeat(&mut self) {
        self.latest = self.told;
    }

    fn take(&mut self) -> [Option<Progress>; 2] {
        [self.first.take(), self.latest.take()]
    }
}

/// Runs `work`, whose callback notes how far it is. This thread calls `progress` with the items done and their number:
/// those of the first call, by which a rate is measured, and from then on the latest. An exception from there, or from a
/// signal handler such as Ctrl-C's, stops the work by that callback and is raised.
pub fn run<R: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut ProgressFn<'_>) -> vidrec::Result<R> + Send,
) -> PyResult<R> {
    run_both(py, [progress, None], |tell, _| work(tell))
}

/// As [`run`], for work whose output may be uploaded, with a callback that notes how far the upload is. If nothing shows
/// that, what shows the work is called with what it was told last.
pub fn run_and_upload<R: Send>(
    py: Python<'_>,
    (progress, upload): &Shows<'_>,
    work: impl FnOnce(&mut ProgressFn<'_>, &mut ProgressFn<'_>) -> vidrec::Result<R> + Send,
) -> PyResult<R> {
    run_both(py, [progress.as_ref(), upload.as_ref()], work)
}

/// Does work that may wait for a server, if the data is remote: then an exception from a signal handler, such as Ctrl-C's,
/// ends it.
pub fn wait<R: Send>(py: Python<'_>, is_remote: bool, work: impl FnOnce() -> vidrec::Result<R> + Send) -> PyResult<R> {
    if is_remote { run(py, None, |_| work()) } else { py.detach(work).map_err(raise) }
}

fn run_both<R: Send>(
    py: Python<'_>,
    shows: [Option<&Bound<'_, PyAny>>; 2],
    work: impl FnOnce(&mut ProgressFn<'_>, &mut ProgressFn<'_>) -> vidrec::Result<R> + Send,
) -> PyResult<R> {
    let (notes, unwanted) = (Mutex::new([Notes::default(), Notes::default()]), Arc::new(AtomicBool::new(false)));
    let stop = unwanted.clone();
    let go_on = || if unwanted.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let is_shown = shows[1].is_some();
    let note = |how_far: &Progress| {
        notes.lock()[0].add(*how_far);
        go_on()
    };
    let note_upload = |how_far: &Progress| {
        let [of_work, of_upload] = &mut *notes.lock();
        if is_shown {
            of_upload.add(*how_far)
        } else {
            of_work.repeat()
        }
        go_on()
    };
    let show = || {
        let untold = notes.lock().each_mut().map(Notes::take);
        shows.into_iter().zip(untold).try_for_each(|(call, untold)| {
            let Some(call) = call else { return Ok(()) };
            let tell = |p: Progress| call.call1((p.done, p.total.unwrap_or(p.done).max(p.done))).map(drop);
            untold.into_iter().flatten().try_for_each(tell)
        })
    };
    thread::scope(|scope| {
        // Closed when the work ends.
        let (open, mut end) = channel::<()>();
        let worker = thread::Builder::new().spawn_scoped(scope, move || {
            let _open = open;
            let (mut note, mut note_upload) = (note, note_upload);
            stoppable(&stop, || work(&mut note, &mut note_upload))
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

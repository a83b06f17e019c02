//! Several files at a time.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::local::LocalFile;
use crate::progress::{Progress, ProgressFn, tell};
use crate::remote::Bucket;
use crate::{Error, ErrorKind, Result, stop};

/// Files at a time. A long one has several requests at a time by itself.
const FILES: usize = 4;
/// How often the caller's callback is called while nothing goes on.
const TICK: Duration = Duration::from_millis(100);

/// A file, and where it goes.
#[derive(Clone, Copy)]
pub(super) struct Upload<'a> {
    pub file: &'a LocalFile,
    pub bucket: &'a Bucket,
    /// Which of several data sets it is of.
    pub set: usize,
}

/// What workers say.
enum Said {
    /// More bytes are there.
    Sent(u64),
    /// The file of this data set was there already, with so many bytes.
    Kept(usize, u64),
}

/// Uploads files. Returns how many bytes of each data set were there already.
pub(super) fn run(
    uploads: &[Upload<'_>],
    sets: usize,
    so_far: &mut Progress,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<u64>> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (errors, mut kept) = (Mutex::new(Vec::new()), vec![0; sets]);
    let work = |say: Sender<Said>| {
        while let Some(upload) = uploads.get(next.fetch_add(1, Relaxed)) {
            if let Err(e) = one(upload, &say, &stopped) {
                stopped.store(true, Relaxed);
                errors.lock().unwrap_or_else(PoisonError::into_inner).push(e);
            }
            if stopped.load(Relaxed) {
                return;
            }
        }
    };
    let carry = &stop::carry();
    std::thread::scope(|scope| {
        let (say, said) = channel();
        for number in 0..FILES.min(uploads.len()) {
            let (say, work) = (say.clone(), &work);
            let thread = std::thread::Builder::new().name(format!("upload {number}"));
            if let Err(e) = thread.spawn_scoped(scope, move || {
                carry();
                work(say);
            }) {
                stopped.store(true, Relaxed);
                errors.lock().unwrap_or_else(PoisonError::into_inner).push(Error::start("a thread", e));
            }
        }
        drop(say);
        loop {
            match said.recv_timeout(TICK) {
                Ok(Said::Sent(bytes)) => so_far.done += bytes,
                Ok(Said::Kept(set, bytes)) => {
                    so_far.done += bytes;
                    kept[set] += bytes;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            so_far.bytes = so_far.done;
            if let Err(e) = tell(progress, so_far)
                && !stopped.swap(true, Relaxed)
            {
                errors.lock().unwrap_or_else(PoisonError::into_inner).push(e);
            }
        }
    });
    // The first one stopped the others, which then say that they were interrupted.
    let errors = errors.into_inner().unwrap_or_else(PoisonError::into_inner);
    match errors.into_iter().min_by_key(|e| e.kind() == ErrorKind::Interrupted) {
        Some(e) => Err(e),
        None => Ok(kept),
    }
}

fn one(upload: &Upload<'_>, say: &Sender<Said>, stopped: &AtomicBool) -> Result<()> {
    let Upload { file, bucket, set } = *upload;
    // Nobody listens any more only where the caller is gone.
    let say = |what| say.send(what).map_err(|_| Error::internal("nobody waits for the upload"));
    if file.has_own_name() && bucket.look(file.name())?.is_some_and(|found| found.bytes == file.bytes) {
        return say(Said::Kept(set, file.bytes));
    }
    bucket.upload_pieces(file.name(), &mut file.read()?, &mut |bytes| {
        if stopped.load(Relaxed) {
            return Err(Error::interrupted("interrupted"));
        }
        if bytes > 0 { say(Said::Sent(bytes)) } else { Ok(()) }
    })
}

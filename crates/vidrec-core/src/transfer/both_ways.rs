//! The work that fetches and uploads share: several files at a time, where the `dataset.json` is, and what an error says of the work so
//! far.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::progress::{Progress, ProgressFn, tell};
use crate::threads::in_order_while;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::error::{Error, ErrorKind, Result};

/// Copies `count` files, `at_once` of them at a time, and tells `progress` of it. `copy` gets the number of a file and a
/// function that it calls with the bytes that came since the last call, and at intervals. An error of that function ends
/// the copy.
pub(crate) fn several<T: Send>(
    count: usize,
    at_once: usize,
    so_far: &mut Progress,
    progress: &mut ProgressFn<'_>,
    copy: impl Fn(usize, &dyn Fn(u64) -> Result<()>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let done = AtomicU64::new(0);
    let copy = |number: usize, is_stopped: &AtomicBool| {
        copy(number, &|bytes| {
            done.fetch_add(bytes, Relaxed);
            if is_stopped.load(Relaxed) { Err(Error::interrupted("interrupted")) } else { Ok(()) }
        })
    };
    let mut tell_done = || {
        so_far.done += done.swap(0, Relaxed);
        so_far.bytes = so_far.done;
        tell(progress, so_far)
    };
    let copied = in_order_while(count, at_once, copy, &mut tell_done)?;
    tell_done()?;
    Ok(copied)
}

/// Returns the path of the `dataset.json` of a data set. `verb` is what happens to it: `fetches` or `pushes`.
pub(crate) fn listing_of(set: &Path, verb: &str) -> Result<PathBuf> {
    match set.extension().and_then(|e| e.to_str()) {
        Some("json") => Ok(set.to_owned()),
        Some("rec" | "vidx") => {
            let e = Error::usage(format!("this is a shard, but vidrec {verb} only whole data sets")).file(set);
            Err(e.help("give the folder that it is in"))
        }
        _ => Ok(set.join(FILE_NAME)),
    }
}

/// Whether the same call may succeed later with the files that are done.
pub(crate) fn may_continue(e: &Error) -> bool {
    matches!(e.kind(), ErrorKind::Io | ErrorKind::Interrupted)
}

/// Adds to an error that the files that were `done` are not lost, if another call may resume.
pub(crate) fn to_continue(e: Error, done: &str) -> Error {
    if !may_continue(&e) {
        return e;
    }
    e.also_help(format!("the {done} files remain: run the same call again to continue"))
}

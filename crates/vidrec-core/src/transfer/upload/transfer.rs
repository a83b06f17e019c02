//! Uploads several files at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::local::LocalFile;
use crate::store::remote::Bucket;
use vidrec_format::error::{Error, Result};
use vidrec_format::progress::{Progress, ProgressFn, tell};
use vidrec_format::workers::{Workers, in_order_while};

/// The number of files at a time. A long file has several requests at a time by itself.
const FILES: usize = 4;
/// How often the caller's callback is called while nothing happens.
const TICK: Duration = Duration::from_millis(100);

/// A file and its destination.
#[derive(Clone, Copy)]
pub(super) struct Upload<'a> {
    pub file: &'a LocalFile,
    pub bucket: &'a Bucket,
    /// The number of its data set, if there are several.
    pub set: usize,
}

/// What has happened since the last call of the caller's callback.
#[derive(Default)]
struct News {
    /// Bytes that were sent or were at the location already.
    done: u64,
    /// Bytes of each data set that were at the location already, in all.
    kept: Vec<u64>,
}

/// Uploads files. Returns how many bytes of each data set were at the location already.
pub(super) fn run(
    uploads: &[Upload<'_>],
    sets: usize,
    so_far: &mut Progress,
    progress: &mut ProgressFn<'_>,
) -> Result<Vec<u64>> {
    let news = Mutex::new(News { done: 0, kept: vec![0; sets] });
    let lock = || news.lock().unwrap_or_else(PoisonError::into_inner);
    let mut tell_news = |workers: &Workers| {
        so_far.done += std::mem::take(&mut lock().done);
        so_far.bytes = so_far.done;
        if !workers.are_stopped()
            && let Err(e) = tell(progress, so_far)
        {
            workers.stop(e);
        }
    };
    let upload = |number: usize, workers: &Workers| one(&uploads[number], &lock, workers);
    in_order_while(uploads.len(), FILES, upload, |workers| {
        while !workers.end_within(TICK) {
            tell_news(workers);
        }
        tell_news(workers);
    })?;
    let kept = std::mem::take(&mut lock().kept);
    Ok(kept)
}

fn one<'n>(upload: &Upload<'_>, news: &impl Fn() -> MutexGuard<'n, News>, workers: &Workers) -> Result<()> {
    let Upload { file, bucket, set } = *upload;
    if file.has_own_name() && bucket.look(file.name())?.is_some_and(|found| found.bytes == file.bytes) {
        let mut news = news();
        news.done += file.bytes;
        news.kept[set] += file.bytes;
        drop(news);
        workers.tell();
        return Ok(());
    }
    bucket.upload(file.name(), file.path(), &|sha256| file.prove(sha256), &mut |bytes| {
        if workers.are_stopped() {
            return Err(Error::interrupted("interrupted"));
        }
        if bytes > 0 {
            news().done += bytes;
            workers.tell();
        }
        Ok(())
    })
}

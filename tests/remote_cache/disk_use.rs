//! What caches take on the disk.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use vidrec::cache::{self, CacheReport};

use crate::remote_cache::served::PAGE;

/// The files of pages in a cache, also of objects that are being removed.
pub fn page_files(cache: &Path) -> Vec<PathBuf> {
    let named = |dir: &Path| -> Vec<PathBuf> {
        // Folders come and go.
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let objects = named(&cache.join("objects")).into_iter().chain(named(cache)).map(|object| object.join("pages"));
    objects.filter(|pages| pages.is_file()).collect()
}

/// Bytes that the pages in a cache take on the disk, at least: a file with holes has tables of its own, which the file
/// system may count (ext4: a block if there are more than four pieces, and one more for each 340 of them).
pub fn at_least(cache: &Path) -> u64 {
    let of = |file: PathBuf| std::fs::metadata(file).map_or(0, |meta| meta.blocks() * 512);
    page_files(cache).into_iter().map(of).map(|b| b.saturating_sub(b / 64 + PAGE)).sum()
}

/// Looks at a cache all the time, and panics when dropped if it was ever larger than its limit.
pub struct Watch {
    stop: Arc<AtomicBool>,
    looks: Arc<AtomicU64>,
    thread: Option<JoinHandle<u64>>,
    limit: u64,
}

impl Watch {
    pub fn of(cache: &Path, limit: u64) -> Self {
        let (stop, looks, cache) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default(), cache.to_owned());
        let (of_thread, count) = (stop.clone(), looks.clone());
        let thread = std::thread::spawn(move || {
            let mut most = 0;
            while !of_thread.load(SeqCst) {
                most = most.max(at_least(&cache));
                count.fetch_add(1, SeqCst);
                std::thread::sleep(Duration::from_millis(2));
            }
            most.max(at_least(&cache))
        });
        Watch { stop, looks, thread: Some(thread), limit }
    }

    /// The most that was seen.
    pub fn end(mut self) -> u64 {
        self.stop.store(true, SeqCst);
        let most = self.thread.take().unwrap().join().unwrap();
        assert!(self.looks.load(SeqCst) > 0);
        assert!(most <= self.limit, "{most} bytes on the disk, and the limit is {}", self.limit);
        most
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
    }
}

/// Describes a cache as soon as nobody uses its objects. An answer that came for the last batch may keep them open a moment
/// longer than the loader and the data set.
pub fn when_unused(dir: &Path) -> CacheReport {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let report = cache::show(dir).unwrap();
        if report.objects.iter().all(|object| !object.in_use) {
            return report;
        }
        assert!(Instant::now() < end, "still in use: {report:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

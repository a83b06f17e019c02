//! What caches take on the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;

/// The segments of a cache.
pub fn segments(cache: &Path) -> Vec<PathBuf> {
    let named = |dir: &Path| -> Vec<PathBuf> {
        // Files and folders come and go.
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    named(&cache.join("objects")).into_iter().flat_map(|object| named(&object)).collect()
}

/// Bytes of the segments of a cache.
pub fn bytes(cache: &Path) -> u64 {
    segments(cache).into_iter().map(|file| std::fs::metadata(file).map_or(0, |meta| meta.len())).sum()
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
                most = most.max(bytes(&cache));
                count.fetch_add(1, SeqCst);
                std::thread::sleep(Duration::from_millis(2));
            }
            most.max(bytes(&cache))
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

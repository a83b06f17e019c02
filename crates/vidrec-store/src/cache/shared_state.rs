//! The state that all open objects of a cache share in one process: its slot, its limit, and the waiting threads.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cache::home::Home;
use crate::cache::layout;
use crate::cache::layout::MAP;
use crate::cache::page_map::{PageMap, VACANT};
use crate::cache::removal::Remover;
use crate::cache::slots::Slot;
use vidrec_format::error::{Error, Result};

/// The pause after a search that found nothing to remove.
const PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct SharedState {
    pub home: Home,
    pub limit: u64,
    slot: Slot,
    /// The process that opened the cache. A forked process has a different number and no slot.
    process: u32,
    /// Set when the disk could not store a page. From then on, no more pages are kept.
    stopped: AtomicBool,
    /// The earliest time of the next search for objects to remove.
    look_again: Mutex<Option<Instant>>,
    waiting: (Mutex<()>, Condvar),
}

impl SharedState {
    pub fn open(dir: &Path, limit: u64) -> Result<Self> {
        let home = Home::open(dir)?;
        let slot = Slot::take(dir, |number| free_claims(dir, number))?;
        home.budget.set_limit(limit);
        let common = SharedState {
            home,
            limit,
            slot,
            process: std::process::id(),
            stopped: AtomicBool::new(false),
            look_again: Mutex::new(None),
            waiting: (Mutex::new(()), Condvar::new()),
        };
        // The new limit may be smaller than the last one.
        common.make_room(0);
        Ok(common)
    }

    /// The number of this process in page maps.
    pub fn number(&self) -> u8 {
        self.slot.number
    }

    /// Whether this is the process that opened the cache. A process forked from it has no slot.
    pub fn is_ours(&self) -> bool {
        std::process::id() == self.process
    }

    /// Whether more pages may be kept.
    pub fn may_keep(&self) -> bool {
        !self.stopped.load(Relaxed)
    }

    /// Stops keeping pages.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// The number of a dead process, held so that no other process gets it; `None` if its owner is alive.
    pub fn dead(&self, number: u8) -> Option<Slot> {
        Slot::of_dead(&self.home.dir, number)
    }

    /// Whether other processes use the cache now.
    pub fn is_shared(&self) -> bool {
        Slot::others(&self.home.dir, self.number())
    }

    /// Removes unused objects until `wanted` bytes below the limit are free. Returns whether it may have made some
    /// room.
    pub fn make_room(&self, wanted: u64) -> bool {
        let budget = &self.home.budget;
        let most = self.limit.saturating_sub(wanted);
        if budget.taken() <= most {
            return true;
        }
        // Another thread of this process is already searching.
        let Ok(mut look_again) = self.look_again.try_lock() else { return false };
        if look_again.is_some_and(|at| Instant::now() < at) {
            return false;
        }
        let before = budget.taken();
        // If objects cannot be removed, the caller learns that there is no room.
        let is_enough = Remover::take(&self.home).ok().flatten().and_then(|remover| remover.trim(most).ok());
        *look_again = if is_enough == Some(true) { None } else { Some(Instant::now() + PAUSE) };
        budget.taken() < before
    }

    /// Wakes the threads of this process that wait.
    pub fn notify(&self) {
        // The lock is taken so that a thread that has just checked, and is about to wait, does not miss the
        // wakeup.
        drop(self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.waiting.1.notify_all();
    }

    /// Waits until `is_done` returns true, or until the deadline. It checks whenever a thread of this process has
    /// stored something, and also at intervals, because other processes wake no thread here. Returns whether it is
    /// done.
    pub fn wait(&self, deadline: Instant, mut is_done: impl FnMut() -> bool) -> bool {
        let mut pause = Duration::from_millis(1);
        let mut guard = self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !is_done() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.waiting.1.wait_timeout(guard, left.min(pause));
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        true
    }

    /// The error of a process that was forked from the one that opened the cache.
    pub fn forked(&self) -> Error {
        Error::usage("the cache belongs to the process that opened it, and this one was forked from it")
            .file(&self.home.dir)
            .help("open the cache again in this process")
    }
}

impl Drop for SharedState {
    fn drop(&mut self) {
        // All objects are closed, and have freed their claims.
        if self.is_ours() {
            self.slot.retire();
        }
    }
}

/// Frees the pages that a dead process with this number claimed. The caller holds the number. Bytes of these pages
/// may be on the disk, so the budget keeps counting them.
fn free_claims(dir: &Path, number: u8) -> Result<()> {
    for object in layout::objects(dir)? {
        let path = object.join(MAP);
        // The object is being removed or is damaged: the process that opens it finds out.
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        let Ok(map) = PageMap::open(&path, meta.len()) else { continue };
        for (page, _) in map.iter().filter(|&(_, state)| state == number) {
            map.change(page, number, VACANT);
        }
    }
    Ok(())
}

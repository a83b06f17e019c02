//! An open object of a cache: reading, claiming and storing its pages.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::cache::claims::{Claims, PAGE_BYTES, pages_of, push};
use crate::cache::layout::CLEAN;
use crate::cache::page_map::{ABSENT, PRESENT, PageMap, VACANT, slot_of};
use crate::cache::shared_state::SharedState;
use crate::cache::slots::Slot;
use crate::disk::shared_file::SharedFile;
use crate::disk::whole_folder;
use vidrec_format::error::{Error, ErrorKind, Result};
use vidrec_format::stop;

/// The cached pages of one version of one object, for many threads.
///
/// A process that was forked from the one that opened the object may read, but stores nothing: all absent pages
/// are `full`.
#[derive(Debug, Clone)]
pub(crate) struct CachedObject(Arc<Opened>);

/// The files of an object. As long as this value exists, no process removes the object.
#[derive(Debug)]
pub(super) struct Opened {
    pub common: Arc<SharedState>,
    /// The object's folder.
    pub dir: PathBuf,
    pub length: u64,
    /// Its pages; `None` only while this value is being dropped.
    pub pages: Option<SharedFile>,
    pub map: PageMap,
    /// Pages that this process has claimed. The value is true if bytes of the page may be on the disk already.
    pub claimed: Mutex<HashMap<u64, bool>>,
    /// Whether the mark that says that all is safely on the disk is gone.
    pub is_unmarked: AtomicBool,
}

impl CachedObject {
    pub(super) fn new(opened: Arc<Opened>) -> Self {
        CachedObject(opened)
    }

    /// The length of the object in bytes.
    #[cfg(test)]
    pub fn len(&self) -> u64 {
        self.0.length
    }

    /// Returns the bytes of a range, if all of its pages are present.
    ///
    /// They are read from the disk, and the caller compares a checksum. If it does not match,
    /// [`forget`](Self::forget) the pages and fetch them again. Another process may do the same, and the slice
    /// then changes to the new bytes. If another thread or process may [`evict`](Self::evict) the range, copy the
    /// bytes first, then compare, and then ask whether the range [`stayed`](Self::stayed).
    pub fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        let o = &self.0;
        if range.start > range.end || range.end > o.length {
            return None;
        }
        if !pages_of(&range, o.length).all(|page| o.map.get(page) == PRESENT) {
            return None;
        }
        o.pages.as_ref()?.bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    }

    /// Returns whether all pages of a range are still present after they were read.
    pub fn stayed(&self, range: Range<u64>) -> bool {
        // The fence keeps the earlier reads before the look at the map.
        fence(Acquire);
        pages_of(&range, self.0.length).all(|page| self.0.map.get(page) == PRESENT)
    }

    /// Removes the pages of a range from the cache, to make room for others. Returns how many bytes there is room
    /// for now; 0 if this system cannot remove pages from a file.
    ///
    /// The first or last page of the range may hold bytes of a neighbor. Such a page stays if the page beyond it
    /// is present. From then on, readers of the range may see zeros, so do not evict a range that is borrowed.
    pub fn evict(&self, range: &Range<u64>) -> u64 {
        self.0.evict(range)
    }

    /// Claims the pages of a range that no process has claimed.
    pub fn claim(&self, range: Range<u64>) -> Claims {
        let o = &*self.0;
        let pages = pages_of(&range, o.length);
        let mut claims = Claims::default();
        let mut round = Round::of(o);
        for page in pages.clone() {
            let ranges = match round.claim(page, pages.end - page) {
                Outcome::Present => continue,
                Outcome::Mine => &mut claims.mine,
                Outcome::Others => &mut claims.others,
                Outcome::Full => &mut claims.full,
            };
            push(ranges, page, o.length);
        }
        claims
    }

    /// Stores the bytes of claimed pages and marks the pages as present. `at` is the start of a page. `bytes` end
    /// at the end of a page or of the object.
    ///
    /// # Errors
    ///
    /// The disk is full or failing. Then the pages are no longer claimed, none is marked, and this process stores
    /// no more pages. If the process has too few descriptors, only these pages are not stored. The caller
    /// continues without the cache. It is also an error if the caller has not claimed the pages, or if the process
    /// was forked.
    pub fn store(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let o = &*self.0;
        if !o.common.is_ours() {
            return Err(o.common.forked());
        }
        let end = at.saturating_add(bytes.len() as u64);
        if !at.is_multiple_of(PAGE_BYTES) || end > o.length || !(end.is_multiple_of(PAGE_BYTES) || end == o.length) {
            return Err(Error::internal(format!("bytes {at}..{end} are not pages of the object")).file(&o.dir));
        }
        let pages = pages_of(&(at..end), o.length);
        let own = o.common.number();
        if let Some(page) = pages.clone().find(|&page| o.map.get(page) != own) {
            return Err(Error::internal(format!("page {page} was not claimed")).file(&o.dir));
        }
        let stored = o.unmark().and_then(|()| o.write_at(bytes, at));
        // A shortage in this process passes, but a disk that is full or failing stays so.
        if stored.as_ref().is_err_and(|e| e.kind() != ErrorKind::Resources) {
            o.common.stop();
        }
        let mut claimed = o.claimed();
        for page in pages {
            // Only this process changes pages that have its number. The mark is set after the bytes are written.
            o.map.change(page, own, if stored.is_ok() { PRESENT } else { VACANT });
            claimed.remove(&page);
        }
        drop(claimed);
        o.common.notify();
        stored.map_err(|e| {
            e.help("vidrec continues without storing more pages; free some space on the disk, or trim the cache")
        })
    }

    /// Gives up claims on pages that the caller will not store.
    pub fn give_up(&self, range: Range<u64>) {
        let o = &*self.0;
        if o.common.is_ours() {
            o.give_up(pages_of(&range, o.length));
            o.common.notify();
        }
    }

    /// Waits until no process fetches a page of the range. Each page arrived, was given up, or was claimed by a
    /// process that died. The missing pages can then be claimed. The wait lasts at most `at_most`, and ends when
    /// the thread's work is stopped. Returns whether the wait ended before that time.
    pub fn wait(&self, range: Range<u64>, at_most: Duration) -> bool {
        let o = &*self.0;
        let pages = pages_of(&range, o.length);
        let now = Instant::now();
        let deadline = now.checked_add(at_most).unwrap_or(now + Duration::from_secs(1 << 30));
        o.common.wait(deadline, || !o.is_fetched(pages.clone()) || stop::is_stopped())
    }

    /// Marks pages as absent because their content proved wrong. Slices that readers hold keep their bytes until
    /// the pages are stored again.
    pub fn forget(&self, range: Range<u64>) {
        let o = &*self.0;
        for page in pages_of(&range, o.length) {
            o.map.change(page, PRESENT, VACANT);
        }
    }
}

impl Opened {
    fn claimed(&self) -> MutexGuard<'_, HashMap<u64, bool>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self, pages: impl Iterator<Item = u64>) {
        let mut freed = 0;
        let mut claimed = self.claimed();
        for page in pages {
            let Some(has_bytes) = claimed.remove(&page) else { continue };
            let to = if has_bytes { VACANT } else { ABSENT };
            if self.map.change(page, self.common.number(), to) && to == ABSENT {
                freed += PAGE_BYTES;
            }
        }
        // The budget shrinks after the pages are gone, so it never counts too little.
        self.common.home.budget.give(freed);
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        self.pages.iter().try_for_each(|pages| pages.write_at(bytes, at))
    }

    /// Removes the mark that says that all of the object is safely on the disk. This happens before the first
    /// change.
    pub(super) fn unmark(&self) -> Result<()> {
        if !self.is_unmarked.load(Acquire) {
            whole_folder::remove_mark(&self.dir.join(CLEAN))?;
            self.is_unmarked.store(true, Release);
        }
        Ok(())
    }

    /// Whether a living process, or another thread, is fetching one of these pages.
    fn is_fetched(&self, pages: Range<u64>) -> bool {
        let slots: BTreeSet<u8> = pages.filter_map(|page| slot_of(self.map.get(page))).collect();
        let own = self.common.number();
        slots.into_iter().any(|slot| (slot == own && self.common.is_ours()) || self.common.dead(slot).is_none())
    }

    /// Syncs the whole object to the disk and then sets a mark, if no other process uses the object. Without the
    /// mark, vidrec drops the object after a restart of the machine, because the states of pages may be on the
    /// disk without the pages.
    fn mark(&mut self) -> Result<()> {
        let mark = self.dir.join(CLEAN);
        let Some(pages) = self.pages.take().filter(|_| !mark.exists()) else { return Ok(()) };
        let Some(file) = pages.unmap()?.filter(|file| file.take().unwrap_or(false)) else { return Ok(()) };
        file.sync()?;
        self.map.sync()?;
        whole_folder::put_mark(&mark)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if !self.common.is_ours() {
            return;
        }
        let left: Vec<u64> = self.claimed().keys().copied().collect();
        self.give_up(left.into_iter());
        self.common.notify();
        // Best effort: without the mark, the pages are fetched again after a restart of the machine.
        let _ = self.mark();
    }
}

enum Outcome {
    Present,
    Mine,
    Others,
    Full,
}

/// One call that claims pages. It keeps the room that it took from the budget and has not used yet. It holds the
/// numbers of dead processes until it ends.
struct Round<'a> {
    opened: &'a Opened,
    /// Whether this process has a slot here.
    is_ours: bool,
    may_keep: bool,
    reserved: u64,
    has_made_room: bool,
    dead: HashMap<u8, Option<Slot>>,
}

impl<'a> Round<'a> {
    fn of(opened: &'a Opened) -> Self {
        let (is_ours, may_keep) = (opened.common.is_ours(), opened.common.may_keep() && opened.map.is_whole());
        Round { opened, is_ours, may_keep, reserved: 0, has_made_room: false, dead: HashMap::new() }
    }

    /// Claims a page. `left` is the number of pages until the end of the range.
    fn claim(&mut self, page: u64, left: u64) -> Outcome {
        let map = &self.opened.map;
        loop {
            let state = map.get(page);
            let has_bytes = match state {
                PRESENT => return Outcome::Present,
                _ if !self.is_ours => return Outcome::Full,
                slot if slot_of(slot).is_some() && !self.is_dead(slot) => return Outcome::Others,
                _ if !self.may_keep => return Outcome::Full,
                ABSENT if !self.reserve(left) => return Outcome::Full,
                state => state != ABSENT,
            };
            let own = self.opened.common.number();
            if map.change(page, state, own) {
                self.reserved -= if has_bytes { 0 } else { PAGE_BYTES };
                self.opened.claimed().insert(page, has_bytes);
                return Outcome::Mine;
            }
        }
    }

    /// Whether there is room for a page. Takes room for all remaining pages in one step, if possible.
    fn reserve(&mut self, left: u64) -> bool {
        let common = &self.opened.common;
        let wanted = left.saturating_mul(PAGE_BYTES);
        let mut take = || {
            if self.reserved == 0 {
                self.reserved = common.home.budget.take(wanted, PAGE_BYTES, common.limit);
            }
            self.reserved > 0
        };
        // Searched only once per call, because the result does not change that fast.
        take() || (!std::mem::replace(&mut self.has_made_room, true) && common.make_room(wanted) && take())
    }

    /// Whether the process in a slot is dead. If so, this process may claim its pages until the end of the call.
    fn is_dead(&mut self, slot: u8) -> bool {
        let common = &self.opened.common;
        slot != common.number() && self.dead.entry(slot).or_insert_with(|| common.dead(slot)).is_some()
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        self.opened.common.home.budget.give(self.reserved);
    }
}

//! The pages of an object in the cache on local disk.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::counters::{Counters, add};
use crate::cache::{CachedObject, PAGE_BYTES};
use vidrec_format::allocation;
use vidrec_format::error::Result;

/// The cached pages of an object, and the counters of the data set.
#[derive(Debug, Clone)]
pub(super) struct CachedPages {
    pages: CachedObject,
    counters: Arc<Counters>,
}

/// What to fetch so that a range is in the cache.
#[derive(Debug)]
pub(super) enum Missing {
    /// The caller fetches these pages, and stores them or gives them up. All other pages of the range are present, or
    /// others fetch them.
    Fetch(Vec<Range<u64>>),
    /// There is no room: the caller fetches the range without storing it.
    NoRoom,
}

impl CachedPages {
    pub fn new(pages: CachedObject, counters: Arc<Counters>) -> Self {
        CachedPages { pages, counters }
    }

    /// Returns a range, if all of it is present.
    pub fn get(&self, range: &Range<u64>) -> Option<&[u8]> {
        self.pages.get(range.clone())
    }

    /// Replaces the contents of `buffer` with a range, if all of it is present. It waits until `until`, at most, for
    /// pages that others fetch. Returns whether the range was read.
    pub fn read(&self, range: &Range<u64>, until: Instant, buffer: &mut Vec<u8>) -> Result<bool> {
        if self.pages.get(range.clone()).is_none() {
            let begin = Instant::now();
            self.pages.wait(range.clone(), until.saturating_duration_since(begin));
            self.counters.waited(begin.elapsed());
        }
        let Some(found) = self.pages.get(range.clone()) else { return Ok(false) };
        copy(found, buffer)?;
        // Another process may have evicted the range meanwhile. That is not damage.
        let is_whole = self.pages.stayed(range.clone());
        add(&self.counters.cached_bytes, if is_whole { found.len() as u64 } else { 0 });
        Ok(is_whole)
    }

    /// Removes a range of records from the cache. Returns how many bytes there is room for now.
    pub fn evict(&self, range: &Range<u64>) -> u64 {
        self.pages.evict(range)
    }

    /// Returns what to fetch for a range. The cache keeps all of the range or none of it, so that a reader finds it
    /// in one place.
    pub fn claim(&self, range: &Range<u64>) -> Missing {
        let claims = self.pages.claim(range.clone());
        if claims.full.is_empty() {
            return Missing::Fetch(claims.mine);
        }
        claims.mine.into_iter().for_each(|pages| self.pages.give_up(pages));
        Missing::NoRoom
    }

    /// Stores the fetched bytes of pages that [`find`](Self::find) returned, or gives the pages up. The caller must
    /// not touch these pages afterwards: another thread may find them wrong and claim them again.
    pub fn store(&self, pages: &Range<u64>, bytes: &[u8]) {
        if bytes.len() as u64 != pages.end - pages.start {
            return self.give_up(pages.clone());
        }
        if let Err(e) = self.pages.store(pages.start, bytes) {
            self.counters.cache_failed(&e);
            self.give_up(pages.clone());
        }
    }

    /// Gives up pages that [`find`](Self::find) returned and that will not arrive.
    pub fn give_up(&self, pages: Range<u64>) {
        self.pages.give_up(pages);
    }

    /// Forgets bytes that proved wrong.
    pub fn forget(&self, range: &Range<u64>) {
        self.pages.forget(range.clone());
    }

    /// Waits for pages of a range that others fetch. Returns whether no process fetches any of them now.
    pub fn wait(&self, range: &Range<u64>, at_most: Duration) -> bool {
        self.pages.wait(range.clone(), at_most)
    }
}

pub(super) fn copy(from: &[u8], to: &mut Vec<u8>) -> Result<()> {
    to.clear();
    allocation::reserve(to, from.len(), "a record")?;
    to.extend_from_slice(from);
    Ok(())
}

const _: () = assert!(PAGE_BYTES == super::fill_once::BLOCK_BYTES, "tables are kept in whole blocks");

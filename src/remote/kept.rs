//! The pages of an object that the cache on local disk keeps.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::counters::{Counters, add};
use crate::cache::{CachedObject, PAGE_BYTES};
use crate::{Result, allocation};

/// The cached pages of an object, and the counters of the data set.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pages: CachedObject,
    counters: Arc<Counters>,
}

/// What has to be fetched so that a range is in the cache.
#[derive(Debug)]
pub(super) enum Plan {
    /// These pages, to be stored or given up. What is missing of the range is there, or others fetch it.
    Fetch(Vec<Range<u64>>),
    /// There is no room: it is fetched without being kept.
    NoRoom,
}

impl Kept {
    pub fn new(pages: CachedObject, counters: Arc<Counters>) -> Self {
        Kept { pages, counters }
    }

    /// A range, if all of it is there.
    pub fn get(&self, range: &Range<u64>) -> Option<&[u8]> {
        self.pages.get(range.clone())
    }

    /// Replaces the contents of `buffer` with a range, if all of it is there; waits, at most until `until`, for what others
    /// fetch. Returns whether it is there.
    pub fn read(&self, range: &Range<u64>, until: Instant, buffer: &mut Vec<u8>) -> Result<bool> {
        if self.pages.get(range.clone()).is_none() {
            let begin = Instant::now();
            self.pages.wait(range.clone(), until.saturating_duration_since(begin));
            self.counters.waited(begin.elapsed());
        }
        let Some(found) = self.pages.get(range.clone()) else { return Ok(false) };
        copy(found, buffer)?;
        // Others may have evicted it meanwhile, which is no damage.
        let is_whole = self.pages.stayed(range.clone());
        add(&self.counters.cached_bytes, if is_whole { found.len() as u64 } else { 0 });
        Ok(is_whole)
    }

    /// Takes a range of records out of the cache. Returns how many bytes there is room for now.
    pub fn evict(&self, range: &Range<u64>) -> u64 {
        self.pages.evict(range)
    }

    /// Says what to fetch for a range. All or nothing of it is kept, so that what a reader wants is in one place.
    pub fn plan(&self, range: &Range<u64>) -> Plan {
        let claims = self.pages.claim(range.clone());
        if claims.full.is_empty() {
            return Plan::Fetch(claims.mine);
        }
        claims.mine.into_iter().for_each(|pages| self.pages.give_up(pages));
        Plan::NoRoom
    }

    /// Keeps what was fetched of pages that [`plan`](Self::plan) named, or gives them up. Afterwards they are nothing of the
    /// caller's: once they are there, another thread may find them wrong and claim them again.
    pub fn store(&self, pages: &Range<u64>, bytes: &[u8]) {
        if bytes.len() as u64 != pages.end - pages.start {
            return self.give_up(pages.clone());
        }
        if let Err(e) = self.pages.store(pages.start, bytes) {
            self.counters.cache_failed(&e);
            self.give_up(pages.clone());
        }
    }

    /// Gives up pages that [`plan`](Self::plan) named and that will not come.
    pub fn give_up(&self, pages: Range<u64>) {
        self.pages.give_up(pages);
    }

    /// Forgets bytes that proved wrong.
    pub fn forget(&self, range: &Range<u64>) {
        self.pages.forget(range.clone());
    }

    /// Waits for what others fetch of a range. Returns whether nobody fetches any of it now.
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

//! Removes pages from an object that is in use.
//!
//! The order of the steps matters. A page is claimed first, so that no other process changes it. Then its room
//! returns to the file system, and the page becomes absent. Only then does the budget shrink. If a process is
//! killed in between, it leaves a claim of a dead process, or a budget that is too large.

use std::ops::Range;

use crate::cache::claims::{PAGE_BYTES, pages_of};
use crate::cache::object::Opened;
use crate::cache::page_map::{ABSENT, PRESENT};
use crate::disk::shared_file::SharedFile;

impl Opened {
    /// Removes the pages of a range from the cache. Returns how many bytes there is room for now.
    ///
    /// The first or last page of the range may hold bytes of a neighbor. Such a page stays if the page beyond it
    /// is present. The first and the last page of the object always stay.
    pub(super) fn evict(&self, range: &Range<u64>) -> u64 {
        // Without this, a restart of the machine could bring back marks of pages that are gone.
        if !self.common.is_ours() || !self.map.is_whole() || self.unmark().is_err() {
            return 0;
        }
        let pages = pages_of(range, self.length);
        let is_present = |page: u64| self.map.get(page) == PRESENT;
        let is_shared_start =
            !range.start.is_multiple_of(PAGE_BYTES) && pages.start.checked_sub(1).is_some_and(is_present);
        let is_shared_end = !range.end.is_multiple_of(PAGE_BYTES) && is_present(pages.end);
        let first = (pages.start + u64::from(is_shared_start)).max(1);
        let last = (pages.end - u64::from(is_shared_end && !pages.is_empty()))
            .min(self.length.div_ceil(PAGE_BYTES).saturating_sub(1));
        let mut freed = 0;
        let mut page = first;
        while page < last {
            let claimed = (page..last).take_while(|&page| self.map.change(page, PRESENT, self.common.number())).count();
            freed += self.free(page..page + claimed as u64);
            // The page after the claimed ones is not present.
            page += claimed as u64 + 1;
        }
        self.common.notify();
        freed
    }

    /// Frees adjacent pages that this call has claimed.
    fn free(&self, pages: Range<u64>) -> u64 {
        let bytes = (pages.end - pages.start) * PAGE_BYTES;
        // If the file system cannot free their room, the pages stay.
        let punch = |shared: &SharedFile| shared.punch(pages.start * PAGE_BYTES, bytes);
        let is_free = bytes > 0 && self.pages.as_ref().is_some_and(punch);
        for page in pages {
            self.map.change(page, self.common.number(), if is_free { ABSENT } else { PRESENT });
        }
        // The budget shrinks after the pages are gone, so it never counts too little.
        let freed = if is_free { bytes } else { 0 };
        self.common.home.budget.give(freed);
        freed
    }
}

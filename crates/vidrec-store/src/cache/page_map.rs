//! The states of an object's pages, in memory that all processes share.

use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::disk::shared_map::SharedMap;
use vidrec_format::error::Result;

/// Nothing of the page is on the disk, and the budget does not count it.
pub(super) const ABSENT: u8 = 0;
/// Absent for a reader, but bytes of the page may be on the disk, and the budget counts them.
pub(super) const VACANT: u8 = 254;
/// The whole page is in the file of pages.
pub(super) const PRESENT: u8 = 255;
/// The largest slot. Every other state is a slot: the process with this number is fetching the page, and the
/// budget counts it.
pub(super) const MOST_SLOTS: u8 = 253;

/// The slot of the process that fetches a page in this state.
pub(super) fn slot_of(state: u8) -> Option<u8> {
    (1..=MOST_SLOTS).contains(&state).then_some(state)
}

#[derive(Debug)]
pub(super) struct PageMap(SharedMap);

impl PageMap {
    pub fn open(path: &Path, pages: u64) -> Result<Self> {
        SharedMap::open(path, pages).map(PageMap)
    }

    /// Returns the state of a page. If it is [`PRESENT`], everything that was written before the mark can be read.
    /// Pages beyond the end are absent.
    pub fn get(&self, page: u64) -> u8 {
        let state = usize::try_from(page).ok().and_then(|page| self.0.bytes().get(page));
        state.map_or(ABSENT, |state| state.load(Acquire))
    }

    /// Changes the state of a page if it is `from`. Returns whether it was.
    pub fn change(&self, page: u64, from: u8, to: u8) -> bool {
        let state = usize::try_from(page).ok().and_then(|page| self.0.bytes().get(page));
        state.is_some_and(|state| state.compare_exchange(from, to, Release, Acquire).is_ok())
    }

    /// All pages and their states.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u8)> {
        (0..).zip(self.0.bytes().iter().map(|state| state.load(Acquire)))
    }

    /// Whether other processes see the changes made here.
    pub fn is_whole(&self) -> bool {
        self.0.is_whole()
    }

    pub fn sync(&self) -> Result<()> {
        self.0.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_changes_only_from_what_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [ABSENT, PRESENT, 3]).unwrap();
        let map = PageMap::open(file.path(), 3).unwrap();
        assert!(map.change(0, ABSENT, 7) && !map.change(0, ABSENT, 8) && map.change(1, PRESENT, VACANT));
        assert!(!map.change(3, ABSENT, 7) && !map.change(u64::MAX, ABSENT, 7));
        assert_eq!(map.iter().collect::<Vec<_>>(), [(0, 7), (1, VACANT), (2, 3)]);
        assert_eq!([map.get(2), map.get(3), map.get(u64::MAX)], [3, ABSENT, ABSENT]);
        assert_eq!([0, 1, 253, 254, 255].map(slot_of), [None, Some(1), Some(253), None, None]);
    }
}

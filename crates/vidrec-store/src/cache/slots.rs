//! The numbers of the processes that use a cache. A byte of a page map contains such a number.
//!
//! A number belongs to the process that holds the lock of its file, and only that process changes a page with this
//! number. A process that dies loses the lock, but its pages keep the number. Another process that wants one of
//! these pages takes the lock first and keeps it until it has changed them, so the number cannot get a new owner
//! meanwhile. A process that gets the number of a dead process frees all pages with this number before it claims
//! any.

use std::path::Path;

use crate::cache::layout::SLOTS;
use crate::cache::page_map::MOST_SLOTS;
use crate::disk::claim_file::ClaimFile;
use crate::disk::private_folder;
use vidrec_format::error::{Error, Result};

/// The text of the file of a slot whose owner may have claimed pages.
const USED: &[u8] = b"used\n";

/// The number of this process, or the number of a dead process that this one holds for a moment.
#[derive(Debug)]
pub(super) struct Slot {
    pub number: u8,
    file: ClaimFile,
}

impl Slot {
    /// Takes a number that no process has. `free` frees the pages that a dead process with this number has
    /// claimed.
    pub fn take(dir: &Path, mut free: impl FnMut(u8) -> Result<()>) -> Result<Self> {
        for number in 1..=MOST_SLOTS {
            let Some(slot) = Self::try_take(dir, number)? else { continue };
            if slot.was_left()? {
                free(number)?;
            } else {
                slot.file.write(USED)?;
            }
            return Ok(slot);
        }
        Err(Error::usage(format!("{MOST_SLOTS} processes already use this cache")).file(dir))
    }

    /// Takes the number of a dead process; `None` if its owner lives, or if another process has just taken it.
    pub fn of_dead(dir: &Path, number: u8) -> Option<Self> {
        // If the state of the lock cannot be found out, the owner counts as alive. No process waits forever for
        // its pages.
        Self::try_take(dir, number).unwrap_or(None)
    }

    /// Whether a living process has a number other than `own`.
    pub fn others(dir: &Path, own: u8) -> bool {
        // Numbers are taken in order, so the first one without a file was never taken.
        let mut taken = (1..=MOST_SLOTS).take_while(|&number| path(dir, number).exists());
        taken.any(|number| number != own && Self::of_dead(dir, number).is_none())
    }

    /// Records that no page has this number anymore.
    pub fn retire(&self) {
        // Best effort: otherwise the next owner looks for such pages.
        let _ = self.file.write(b"");
    }

    /// Records the same for all numbers. The caller must have exclusive use of the cache.
    pub fn retire_all(dir: &Path) -> Result<()> {
        private_folder::create(&dir.join(SLOTS))?;
        for number in 1..=MOST_SLOTS {
            if path(dir, number).exists() {
                ClaimFile::open(&path(dir, number))?.write(b"")?;
            }
        }
        Ok(())
    }

    fn try_take(dir: &Path, number: u8) -> Result<Option<Self>> {
        let file = ClaimFile::open(&path(dir, number))?;
        Ok(file.take()?.then_some(Slot { number, file }))
    }

    fn was_left(&self) -> Result<bool> {
        Ok(!self.file.read()?.is_empty())
    }
}

fn path(dir: &Path, number: u8) -> std::path::PathBuf {
    dir.join(SLOTS).join(number.to_string())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_number_and_those_of_dead_owners_are_freed_first() {
        let _starts = crate::process_starts::none();
        let dir = tempfile::tempdir().unwrap();
        Slot::retire_all(dir.path()).unwrap();
        let mut freed = Vec::new();
        let mut take = || {
            Slot::take(dir.path(), |number| {
                freed.push(number);
                Ok(())
            })
            .unwrap()
        };
        let (a, b) = (take(), take());
        assert_eq!((a.number, b.number), (1, 2));
        assert!(Slot::of_dead(dir.path(), 1).is_none());
        a.retire();
        // The second one dies.
        drop((a, b));
        let held = Slot::of_dead(dir.path(), 2).unwrap();
        let (c, d) = (take(), take());
        assert_eq!((c.number, d.number), (1, 3), "2 is held by somebody who frees its pages");
        drop(held);
        assert_eq!(take().number, 2);
        assert_eq!(freed, [2]);
        let all: Vec<_> = (3..253).map(|_| Slot::take(dir.path(), |_| Ok(())).unwrap()).collect();
        assert!(all.len() == 250);
        drop((c, d));
    }

    #[test]
    fn there_are_only_so_many() {
        let _starts = crate::process_starts::none();
        let dir = tempfile::tempdir().unwrap();
        Slot::retire_all(dir.path()).unwrap();
        let all: Vec<_> = (0..253).map(|_| Slot::take(dir.path(), |_| Ok(())).unwrap()).collect();
        let e = Slot::take(dir.path(), |_| Ok(())).unwrap_err();
        assert!(e.to_string().contains("253 processes already use this cache"), "{e}");
        drop(all);
        Slot::retire_all(dir.path()).unwrap();
        assert_eq!(Slot::take(dir.path(), |_| panic!("none was left")).unwrap().number, 1);
    }
}

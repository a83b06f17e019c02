//! The number of bytes that the pages of all objects take. All processes share this number.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

use crate::disk::regular_file::{Links, read_regular};
use crate::disk::shared_map::SharedMap;
use crate::disk::whole_folder;
use vidrec_format::error::Result;

const LENGTH: u64 = 32;
const TAKEN: usize = 0;
const LIMIT: usize = 8;
const BOOT: usize = 16;
/// Proves that the file is a budget, and that its numbers are in this machine's byte order.
const MAGIC: usize = 24;
const MAGIC_NUMBER: u64 = 0x7669_6472_6563_6231;

/// The number is never less than what is on the disk. It grows before the first byte of a page is written, and
/// shrinks after the last one is gone. If a process is killed in between, the number is too large until the next
/// recount.
#[derive(Debug)]
pub(super) struct Budget(SharedMap);

impl Budget {
    /// Opens the budget of a cache, or starts a new one if it is damaged. The caller must have exclusive use of
    /// the cache, and must recount.
    pub fn begin(path: &Path) -> Result<Self> {
        if let Ok(budget) = Self::open(path) {
            return Ok(budget);
        }
        whole_folder::remove(path, &[])?;
        whole_folder::put_file(path, std::iter::once(vec![0; LENGTH as usize]))?;
        let budget = Budget(SharedMap::open(path, LENGTH)?);
        budget.set(MAGIC, MAGIC_NUMBER);
        Ok(budget)
    }

    pub fn open(path: &Path) -> Result<Self> {
        let budget = Budget(SharedMap::open(path, LENGTH)?);
        if budget.get(MAGIC) == MAGIC_NUMBER {
            return Ok(budget);
        }
        Err(vidrec_format::error::Error::lost("a file of the cache was changed from outside").file(path))
    }

    /// Reads the bytes that are taken and the limit. It needs no permission to write the file. `None` if there is
    /// no such file.
    pub fn read(path: &Path) -> Option<(u64, Option<u64>)> {
        let bytes = read_regular(path, LENGTH, Links::Refuse).ok().filter(|bytes| bytes.len() as u64 == LENGTH)?;
        let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let is_ours = word(MAGIC)? == MAGIC_NUMBER;
        is_ours.then_some((word(TAKEN)?, Some(word(LIMIT)?).filter(|&limit| limit > 0)))
    }

    /// Bytes of pages that are present, being fetched, or vacant.
    pub fn taken(&self) -> u64 {
        self.get(TAKEN)
    }

    /// Sets the number of bytes that are taken. The caller must have exclusive use of the cache.
    pub fn recount(&self, bytes: u64) {
        self.set(TAKEN, bytes);
    }

    /// Takes up to `wanted` bytes, in multiples of `step`, without exceeding `limit`. Returns how many bytes it
    /// took.
    pub fn take(&self, wanted: u64, step: u64, limit: u64) -> u64 {
        let Some(taken) = self.0.word(TAKEN).filter(|_| self.0.is_whole()) else { return 0 };
        let room = |now: u64| wanted.min(limit.saturating_sub(now)) / step * step;
        let add = |now: u64| Some(room(now)).filter(|&more| more > 0).and_then(|more| now.checked_add(more));
        let got = taken.fetch_update(SeqCst, SeqCst, add).map_or(0, room);
        // If the file was truncated under the map, no other process sees the number, so it limits nothing.
        if self.0.is_whole() { got } else { 0 }
    }

    /// Gives bytes back.
    pub fn give(&self, bytes: u64) {
        if let Some(taken) = self.0.word(TAKEN) {
            // The closure always returns `Some`, so this cannot fail.
            let _ = taken.fetch_update(SeqCst, SeqCst, |now| Some(now.saturating_sub(bytes)));
        }
    }

    /// Records the limit of the process that opened the cache last.
    pub fn set_limit(&self, bytes: u64) {
        self.set(LIMIT, bytes);
    }

    /// The start of the machine at which the cache was last recounted.
    pub fn boot(&self) -> u64 {
        self.get(BOOT)
    }

    pub fn set_boot(&self, boot: u64) {
        self.set(BOOT, boot);
    }

    fn get(&self, at: usize) -> u64 {
        self.0.word(at).map_or(0, |word: &AtomicU64| word.load(SeqCst))
    }

    fn set(&self, at: usize, number: u64) {
        if let Some(word) = self.0.word(at) {
            word.store(number, SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_the_limit_allows_by_any_number_of_threads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("budget");
        let budget = Budget::begin(&path).unwrap();
        assert_eq!((Budget::read(&path), budget.boot()), (Some((0, None)), 0));
        assert_eq!([budget.take(100, 10, 45), budget.take(100, 10, 45), budget.take(1, 10, 1000)], [40, 0, 0]);
        budget.give(30);
        assert_eq!(budget.taken(), 10);
        let take = |_| std::iter::repeat_with(|| budget.take(30, 10, 10_000)).take_while(|&got| got > 0).sum::<u64>();
        let took: u64 = std::thread::scope(|s| {
            let threads: Vec<_> = (0..4).map(|i| s.spawn(move || take(i))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((took, budget.taken()), (9_990, 10_000));
        budget.give(u64::MAX);
        assert_eq!((budget.taken(), budget.take(u64::MAX, 10, u64::MAX)), (0, u64::MAX / 10 * 10));
        assert_eq!(budget.take(u64::MAX, 1, u64::MAX), u64::MAX % 10);
        budget.set_limit(7);
        assert_eq!(Budget::read(&path), Some((u64::MAX, Some(7))));
    }

    #[test]
    fn a_damaged_one_is_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("budget");
        for bytes in [&[][..], &[7; 31], &[7; 32], &[7; 33]] {
            std::fs::write(&path, bytes).unwrap();
            assert!(Budget::open(&path).is_err() && Budget::read(&path).is_none());
            let budget = Budget::begin(&path).unwrap();
            assert_eq!((budget.taken(), budget.take(10, 10, 10)), (0, 10));
            assert_eq!(Budget::open(&path).unwrap().taken(), 10);
        }
    }
}

//! Objects to cache, and what is on the disk.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::cache::layout;
use crate::cache::{CachedObject, PAGE_BYTES};

/// Held for reading by tests that expect that a lock is free, and for writing by those that start processes: such a
/// process has all locks of this one until it has begun its own program.
pub static GATE: RwLock<()> = RwLock::new(());

/// Keeps other tests from starting processes.
pub fn alone() -> RwLockReadGuard<'static, ()> {
    GATE.read().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of an object: each tells where it is.
pub fn bytes(range: Range<u64>) -> Vec<u8> {
    range.map(|at| (at ^ at >> 8 ^ at >> 16).wrapping_mul(0x9d) as u8 | 1).collect()
}

/// Fetches and stores all that is claimed of a range. Returns how many bytes that were.
pub fn fill(object: &CachedObject, range: Range<u64>) -> u64 {
    let claims = object.claim(range);
    for mine in &claims.mine {
        object.store(mine.start, &bytes(mine.clone())).unwrap();
    }
    claims.mine.iter().map(|mine| mine.end - mine.start).sum()
}

/// Whether a range is there, and right; `None` if somebody evicted it in the middle. Panics if it is wrong.
pub fn is_right(object: &CachedObject, range: Range<u64>) -> Option<bool> {
    // It may be evicted and fetched again within a look, but not within each of them.
    for _ in 0..5 {
        let Some(got) = object.get(range.clone()) else { return Some(false) };
        let is_right = got == bytes(range.clone());
        if is_right || !object.stayed(range.clone()) {
            return is_right.then_some(true);
        }
    }
    panic!("wrong bytes in {range:?}")
}

/// Whether all that is there of the object is right. Returns how many pages that are.
pub fn right_pages(object: &CachedObject) -> u64 {
    let pages = (0..object.len()).step_by(PAGE_BYTES as usize);
    let there = pages.filter(|&at| {
        let range = at..object.len().min(at + PAGE_BYTES);
        is_right(object, range).unwrap_or(false)
    });
    there.count() as u64
}

/// Bytes that all pages take on the disk.
pub fn on_disk(dir: &Path) -> u64 {
    let blocks = |object: &Path| fs::metadata(object.join("pages")).map_or(0, |meta| meta.blocks());
    // In this order, so that an object that is being removed is not counted twice.
    let trash: u64 = layout::trash(dir).unwrap().iter().map(|object| blocks(object)).sum();
    let objects: u64 = layout::objects(dir).unwrap().iter().map(|object| blocks(object)).sum();
    512 * (trash + objects)
}

/// The same without what the file system may count of its own tables, which a file with many holes has: of ext4, a block
/// if there are more than four pieces, and one more for each 340 of them.
pub fn on_disk_at_least(dir: &Path) -> u64 {
    let bytes = on_disk(dir);
    bytes.saturating_sub(bytes / 64 + PAGE_BYTES)
}

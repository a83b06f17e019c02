//! Objects to cache, and checks of the bytes on the disk.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::cache::layout;
use crate::cache::{CachedObject, PAGE_BYTES};

/// The bytes of an object. Each byte tells its position.
pub fn bytes(range: Range<u64>) -> Vec<u8> {
    range.map(|at| (at ^ at >> 8 ^ at >> 16).wrapping_mul(0x9d) as u8 | 1).collect()
}

/// Fetches and stores all pages of a range that it can claim. Returns the number of bytes.
pub fn fill(object: &CachedObject, range: Range<u64>) -> u64 {
    let claims = object.claim(range);
    for mine in &claims.mine {
        object.store(mine.start, &bytes(mine.clone())).unwrap();
    }
    claims.mine.iter().map(|mine| mine.end - mine.start).sum()
}

/// Whether a range is present and right; `None` if another process evicted it in the middle. Panics if it is wrong.
pub fn is_right(object: &CachedObject, range: Range<u64>) -> Option<bool> {
    // It may be evicted and fetched again during one look, but not during each of them.
    for _ in 0..5 {
        let Some(got) = object.get(range.clone()) else { return Some(false) };
        let is_right = got == bytes(range.clone());
        if is_right || !object.stayed(range.clone()) {
            return is_right.then_some(true);
        }
    }
    panic!("wrong bytes in {range:?}")
}

/// Checks that all present pages of the object are right. Returns how many there are.
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
    // This order does not count an object twice that is being removed.
    let trash: u64 = layout::trash(dir).unwrap().iter().map(|object| blocks(object)).sum();
    let objects: u64 = layout::objects(dir).unwrap().iter().map(|object| blocks(object)).sum();
    512 * (trash + objects)
}

/// Like [`on_disk`], without the blocks that the file system may count for its own tables of a file with many holes.
/// ext4 counts a block if there are more than four pieces, and one more for each 340 of them.
pub fn on_disk_at_least(dir: &Path) -> u64 {
    let bytes = on_disk(dir);
    bytes.saturating_sub(bytes / 64 + PAGE_BYTES)
}

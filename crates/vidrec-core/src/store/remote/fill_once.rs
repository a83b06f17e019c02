//! Memory that threads fill block by block while others read the filled blocks.

use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use vidrec_format::allocation;
use vidrec_format::error::Result;

/// The unit that is filled at a time.
pub(super) const BLOCK_BYTES: u64 = 4096;

const EMPTY: u8 = 0;
const FILLING: u8 = 1;
const FULL: u8 = 2;

/// The bytes of an object that will all be read in time: the tables of an index. The system provides memory block by
/// block, as it is filled. A filled block never changes, so its bytes can be borrowed as long as this value exists.
#[derive(Debug)]
pub(super) struct FillOnce {
    bytes: Box<[UnsafeCell<u8>]>,
    states: Box<[AtomicU8]>,
}

// SAFETY: each byte is written by one thread, the one that moved the state of its block from EMPTY to FILLING, and read
// only after that thread has moved it from FILLING to FULL: see `fill` and `get`.
unsafe impl Sync for FillOnce {}

impl FillOnce {
    pub fn new(length: u64) -> Result<Self> {
        let what = "the tables of a remote index";
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes: Box<[u8]> = allocation::zeroed(length, what)?.into_boxed_slice();
        let states = allocation::zeroed::<u8>(length.div_ceil(BLOCK_BYTES as usize), what)?;
        let bytes = Box::into_raw(bytes) as *mut [UnsafeCell<u8>];
        // SAFETY: the pointer comes from a box of as many bytes, and `UnsafeCell<u8>` has the memory layout of `u8`.
        let bytes = unsafe { Box::from_raw(bytes) };
        Ok(FillOnce { bytes, states: states.into_iter().map(AtomicU8::new).collect() })
    }

    fn blocks(&self, range: &Range<u64>) -> &[AtomicU8] {
        let (first, end) = (range.start / BLOCK_BYTES, range.end.div_ceil(BLOCK_BYTES));
        self.states.get(first as usize..end.max(first) as usize).unwrap_or_default()
    }

    /// Returns the bytes of a range, if all of them are filled.
    pub fn get(&self, range: Range<u64>) -> Option<&[u8]> {
        if range.start > range.end || range.end > self.bytes.len() as u64 {
            return None;
        }
        if range.is_empty() {
            return Some(&[]);
        }
        if self.blocks(&range).iter().any(|state| state.load(Ordering::Acquire) != FULL) {
            return None;
        }
        let length = (range.end - range.start) as usize;
        // SAFETY: the range lies in the allocation. All of its blocks are FULL, so no thread writes to them anymore,
        // and the acquiring loads above make what was written before visible here.
        Some(unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().add(range.start as usize).cast(), length) })
    }

    /// Fills the empty blocks that `bytes` covers completely. `at` is the position of `bytes`, a multiple of
    /// [`BLOCK_BYTES`].
    pub fn fill(&self, at: u64, bytes: &[u8]) {
        for (i, block) in (at / BLOCK_BYTES..).zip(bytes.chunks(BLOCK_BYTES as usize)) {
            let begin = (i * BLOCK_BYTES) as usize;
            let is_whole = begin + block.len() == self.bytes.len() || block.len() == BLOCK_BYTES as usize;
            let Some(state) = self.states.get(i as usize).filter(|_| is_whole) else { continue };
            if state.compare_exchange(EMPTY, FILLING, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                // SAFETY: the block ends within the allocation, because it is whole. This thread has just moved its
                // state from EMPTY to FILLING, so no other thread writes to it, and no thread reads it before it is FULL.
                unsafe {
                    let to = self.bytes.as_ptr().add(begin).cast_mut().cast::<u8>();
                    std::ptr::copy_nonoverlapping(block.as_ptr(), to, block.len());
                }
                state.store(FULL, Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_can_be_read_and_nothing_else() {
        let object: Vec<u8> = (0..10_000u32).map(|i| (i % 251) as u8).collect();
        let memory = FillOnce::new(10_000).unwrap();
        assert_eq!((memory.get(0..1), memory.get(5..5), memory.get(9_999..10_001)), (None, Some(&[][..]), None));
        memory.fill(4096, &object[4096..8192]);
        assert_eq!(memory.get(4096..8192).unwrap(), &object[4096..8192]);
        assert_eq!(memory.get(4095..4097), None);
        memory.fill(8192, &object[8192..9000]);
        assert_eq!(memory.get(8192..8193), None, "half a block is none");
        memory.fill(8192, &object[8192..]);
        memory.fill(0, &object[..4096]);
        assert_eq!(memory.get(0..10_000).unwrap(), object);
    }

    #[test]
    fn many_threads_fill_and_read() {
        let memory = FillOnce::new(1 << 20).unwrap();
        std::thread::scope(|scope| {
            for t in 0..4u64 {
                let memory = &memory;
                scope.spawn(move || {
                    for i in 0..256u64 {
                        let block = (i * 7 + t * 64) % 256;
                        memory.fill(block * BLOCK_BYTES, &[block as u8; BLOCK_BYTES as usize]);
                        let other = (block * 3) % 256;
                        let found = memory.get(other * BLOCK_BYTES..(other + 1) * BLOCK_BYTES);
                        assert!(found.is_none_or(|found| found.iter().all(|&b| b == other as u8)));
                    }
                });
            }
        });
        assert!((0..256u64).all(|i| memory.get(i * BLOCK_BYTES..i * BLOCK_BYTES + 9).unwrap() == [i as u8; 9]));
    }
}

//! Files that several processes change at once. They contain numbers in memory that all of these processes map, and
//! bytes that never change once such a number says that they are written. `map.rs` handles files that are only read.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use memmap2::MmapRaw;

use crate::store::disk::sigbus::Watch;
use vidrec_format::error::{Error, Result};

/// A file that is mapped for reading and writing, as atomic numbers. Every process that maps it sees each change at
/// once, and keeps the changes of a process that was killed.
#[derive(Debug)]
pub struct SharedMap {
    /// Declared before the map, so that it is dropped first.
    watch: Watch,
    map: MmapRaw,
}

impl SharedMap {
    /// Maps an open file, which must not be empty.
    pub fn of(file: &File, path: &Path) -> Result<Self> {
        let map = MmapRaw::map_raw(file).map_err(|e| Error::io("map the file", path, e))?;
        // SAFETY: the map has these bytes for as long as it exists. `Watch::over_writable` takes only their address and
        // their number, and the slice is gone when it returns.
        let watch = Watch::over_writable(unsafe { std::slice::from_raw_parts(map.as_ptr(), map.len()) });
        Ok(SharedMap { watch, map })
    }

    /// The eight bytes at `at` as a number in the byte order of this machine, if they lie in the file and are
    /// aligned.
    pub fn word(&self, at: usize) -> Option<&AtomicU64> {
        let map = &self.map;
        let is_inside = at.is_multiple_of(8) && at.checked_add(8).is_some_and(|end| end <= map.len());
        // SAFETY: the eight bytes are inside the map, which is readable and writable and lives as long as the borrow of
        // `self`. They are aligned, since a map begins at a page, and all of their bit patterns are valid. Nothing else in
        // this process refers to the memory without atomics; other processes may change it at any time, which atomics
        // allow. If the file is cut off from outside, `Watch` puts private zeros there, or the system ends the process.
        is_inside.then(|| unsafe { &*map.as_ptr().add(at).cast::<AtomicU64>() })
    }

    /// Copies the bytes from `at` on to `to`. If the file has fewer, it returns false and copies nothing.
    ///
    /// The caller has read with [`word`](Self::word), in the order `Acquire`, that these bytes are written. From then
    /// on, only a process that breaks this rule writes to them. The system has written them: no reference in this process
    /// ever leads to them.
    pub fn copy(&self, at: u64, to: &mut [u8]) -> bool {
        let (map, Ok(at)) = (&self.map, usize::try_from(at)) else { return false };
        if at.checked_add(to.len()).is_none_or(|end| end > map.len()) {
            return false;
        }
        // SAFETY: the source is inside the map, which is readable and lives as long as the borrow of `self`. `to` is
        // memory of Rust's own, so the two do not overlap. Threads of this process write to the map only
        // through atomic numbers at other places. So there is no race inside this process. Another process that breaks the rules may change the bytes or such a
        // number meanwhile, as with every map of a file. Then the copy has arbitrary bytes, and every byte is a valid
        // `u8`. If the file is cut off, `Watch` puts private zeros there, or the system ends the process.
        unsafe { std::ptr::copy_nonoverlapping(map.as_ptr().add(at), to.as_mut_ptr(), to.len()) };
        true
    }

    /// Asks the processor to load bytes that will be copied soon. Changes nothing else, and accepts any range.
    #[inline]
    pub fn prefetch(&self, range: Range<u64>) {
        #[cfg(target_arch = "x86_64")]
        if let (map, Ok(start), Ok(end)) = (&self.map, usize::try_from(range.start), usize::try_from(range.end)) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for at in (start..end.min(map.len())).step_by(64) {
                // SAFETY: the address is inside the map. The instruction reads nothing and raises no fault.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(map.as_ptr().add(at).cast()) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = range;
    }

    /// Whether all pages of the map still belong to the file. If not, other processes do not see what this one
    /// writes.
    pub fn is_whole(&self) -> bool {
        self.watch.lost() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_of_the_file_can_be_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [7; 20]).unwrap();
        let map =
            SharedMap::of(&File::options().read(true).write(true).open(file.path()).unwrap(), file.path()).unwrap();
        let mut copy = [0; 8];
        assert!([13, 20, u64::MAX - 7, u64::MAX].iter().all(|&at| !map.copy(at, &mut copy)) && copy == [0; 8]);
        assert!(map.copy(12, &mut copy) && copy == [7; 8]);
        assert!([0, 8].iter().all(|&at| map.word(at).is_some()));
        assert!([4, 16, 24, usize::MAX, usize::MAX - 7].iter().all(|&at| map.word(at).is_none()));
    }
}

//! Files that several processes change at once. They contain numbers in memory that all of these processes map, and
//! bytes that never change once such a number says that they are written. `map.rs` handles files that are only read.

use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU64};

use memmap2::MmapRaw;

#[cfg(target_os = "linux")]
use super::large_map::LargeMap;
use crate::store::disk::regular_file::in_place;
use crate::store::disk::sigbus::Watch;
use vidrec_format::error::{Error, Result};

/// A file that is mapped for reading and writing, as atomic numbers. Every process that maps it sees each change at
/// once, and keeps the changes of a process that was killed.
#[derive(Debug)]
pub struct SharedMap {
    /// Declared before the map, so that it is dropped first.
    watch: Option<Watch>,
    map: Option<Mapped>,
    path: PathBuf,
}

#[derive(Debug)]
enum Mapped {
    Anywhere(MmapRaw),
    #[cfg(target_os = "linux")]
    ForLargePages(LargeMap),
}

impl Mapped {
    fn as_ptr(&self) -> *const u8 {
        match self {
            Mapped::Anywhere(map) => map.as_ptr(),
            #[cfg(target_os = "linux")]
            Mapped::ForLargePages(map) => map.as_mut_ptr(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Mapped::Anywhere(map) => map.len(),
            #[cfg(target_os = "linux")]
            Mapped::ForLargePages(map) => map.len(),
        }
    }
}

impl SharedMap {
    /// Maps a file, which must have exactly `length` bytes.
    ///
    /// Its bytes should have been written before. Setting the length is not enough, because a full file system cannot
    /// allocate the first block of a mapped page.
    pub fn open(path: &Path, length: u64) -> Result<Self> {
        let io = |e| Error::io("open the file", path, e);
        let file = in_place(OpenOptions::new().read(true).write(true)).open(path).map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        if !meta.is_file() || meta.len() != length {
            let e = Error::lost("a file of the cache was changed from outside").file(path);
            return Err(e.expected(format!("{length} bytes")).found(format!("{} bytes", meta.len())));
        }
        Self::of(&file, path)
    }

    /// Maps an open file.
    pub fn of(file: &File, path: &Path) -> Result<Self> {
        let io = |e| Error::io("map the file", path, e);
        if file.metadata().map_err(io)?.len() == 0 {
            return Ok(SharedMap { watch: None, map: None, path: path.to_owned() });
        }
        Ok(Self::watched(Mapped::Anywhere(MmapRaw::map_raw(file).map_err(io)?), path))
    }

    /// Maps the first `length` bytes of an open file so that the system can use large pages. `length` must not be 0.
    #[cfg(target_os = "linux")]
    pub fn of_large(file: &File, length: u64, path: &Path) -> Result<Self> {
        let io = |e| Error::io("map the file", path, e);
        let length = usize::try_from(length).map_err(|_| io(std::io::ErrorKind::OutOfMemory.into()))?;
        Ok(Self::watched(Mapped::ForLargePages(LargeMap::of(file, length).map_err(io)?), path))
    }

    fn watched(map: Mapped, path: &Path) -> Self {
        // SAFETY: the map has these bytes for as long as it exists. `Watch::over_writable` takes only their address and
        // their number, and the slice is gone when it returns.
        let watch = Watch::over_writable(unsafe { std::slice::from_raw_parts(map.as_ptr(), map.len()) });
        SharedMap { watch: Some(watch), map: Some(map), path: path.to_owned() }
    }

    /// Each byte as a number.
    pub fn bytes(&self) -> &[AtomicU8] {
        let Some(map) = &self.map else { return &[] };
        // SAFETY: the map is readable and writable, has this length, and lives as long as the borrow of `self`. An
        // `AtomicU8` is as large as a byte, has no alignment, and all of its bit patterns are valid. Nothing else in
        // this process refers to the memory without atomics; other processes may change it at any time, which atomics
        // allow. If the file is cut off from outside, `Watch` puts private zeros there, or the system ends the process.
        unsafe { std::slice::from_raw_parts(map.as_ptr().cast(), map.len()) }
    }

    /// The eight bytes at `at` as a number in the byte order of this machine, if they lie in the file and are
    /// aligned.
    pub fn word(&self, at: usize) -> Option<&AtomicU64> {
        let map = self.map.as_ref()?;
        let is_inside = at.is_multiple_of(8) && at.checked_add(8).is_some_and(|end| end <= map.len());
        // SAFETY: as in `bytes`; the eight bytes are inside the map, and aligned, since a map begins at a page.
        is_inside.then(|| unsafe { &*map.as_ptr().add(at).cast::<AtomicU64>() })
    }

    /// Copies the bytes from `at` on to `to`. If the file has fewer, it returns false and copies nothing.
    ///
    /// The caller has read with [`word`](Self::word), in the order `Acquire`, that these bytes are written. From then
    /// on, only a process that breaks this rule writes to them. The system or [`store`](Self::store) has written
    /// them: no reference in this process ever leads to them.
    pub fn copy(&self, at: u64, to: &mut [u8]) -> bool {
        let (Some(map), Ok(at)) = (&self.map, usize::try_from(at)) else { return false };
        if at.checked_add(to.len()).is_none_or(|end| end > map.len()) {
            return false;
        }
        // SAFETY: the source is inside the map, which is readable and lives as long as the borrow of `self`. `to` is
        // memory of Rust's own, so the two do not overlap. Threads of this process write to the map in two ways:
        // through atomic numbers at other places, and by `store` to bytes that no number marks as written yet. So
        // there is no race inside this process. Another process that breaks the rules may change the bytes or such a
        // number meanwhile, as with every map of a file. Then the copy has arbitrary bytes, and every byte is a valid
        // `u8`. If the file is cut off, `Watch` puts private zeros there, or the system ends the process.
        unsafe { std::ptr::copy_nonoverlapping(map.as_ptr().add(at), to.as_mut_ptr(), to.len()) };
        true
    }

    /// Like [`copy`](Self::copy), to rows of `to` that begin `pitch` bytes apart. In the map, the rows follow each
    /// other. If there is not room for all rows, it returns false and may have copied some.
    pub fn copy_rows<const WIDTH: usize>(&self, at: u64, rows: usize, to: &mut [u8], pitch: usize) -> bool {
        let (Some(map), Ok(at)) = (&self.map, usize::try_from(at)) else { return false };
        let end = rows.checked_mul(WIDTH).and_then(|length| at.checked_add(length));
        if end.is_none_or(|end| end > map.len()) {
            return false;
        }
        for row in 0..rows {
            let Some(to) = to.get_mut(row * pitch..).and_then(|to| to.first_chunk_mut::<WIDTH>()) else { return false };
            // SAFETY: as in `copy`; this row of the source ends no later than `end`.
            unsafe { std::ptr::copy_nonoverlapping(map.as_ptr().add(at + row * WIDTH), to.as_mut_ptr(), WIDTH) };
        }
        true
    }

    /// Copies rows of `from`, which begin `pitch` bytes apart, to the bytes from `at` on, where they follow each
    /// other. If either side has no room for all rows, it returns false and may have copied some.
    ///
    /// The caller owns these bytes: no other code in this process reads or writes them until the caller says with
    /// [`word`](Self::word), in the order `Release`, that they are written. They must have memory. Otherwise the
    /// system ends the process or, with [`Watch`], the bytes are lost.
    pub fn store_rows<const WIDTH: usize>(&self, at: u64, rows: usize, from: &[u8], pitch: usize) -> bool {
        let (Some(map), Ok(at)) = (&self.map, usize::try_from(at)) else { return false };
        let end = rows.checked_mul(WIDTH).and_then(|length| at.checked_add(length));
        if end.is_none_or(|end| end > map.len()) {
            return false;
        }
        for row in 0..rows {
            let Some(from) = from.get(row * pitch..).and_then(|from| from.first_chunk::<WIDTH>()) else { return false };
            // SAFETY: the bytes are inside the map, which is writable and lives as long as the borrow of `self`. The
            // row is memory of Rust's own, so the two do not overlap. No other thread of this process uses these
            // bytes now, because the caller owns them. Another process that breaks the rules may use them: then they
            // have any values.
            unsafe {
                std::ptr::copy_nonoverlapping(from.as_ptr(), map.as_ptr().cast_mut().add(at + row * WIDTH), WIDTH)
            };
        }
        true
    }

    /// Like [`store_rows`](Self::store_rows), for one row of any width.
    pub fn store(&self, at: u64, from: &[u8]) -> bool {
        let (Some(map), Ok(at)) = (&self.map, usize::try_from(at)) else { return false };
        if at.checked_add(from.len()).is_none_or(|end| end > map.len()) {
            return false;
        }
        // SAFETY: as in `store_rows`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), map.as_ptr().cast_mut().add(at), from.len()) };
        true
    }

    /// The number of bytes.
    #[cfg(target_os = "linux")]
    pub fn len(&self) -> usize {
        self.map.as_ref().map_or(0, Mapped::len)
    }

    /// Asks the processor to load bytes that will be copied soon. Changes nothing else, and accepts any range.
    #[inline]
    pub fn prefetch(&self, range: Range<u64>) {
        #[cfg(target_arch = "x86_64")]
        if let (Some(map), Ok(start), Ok(end)) = (&self.map, usize::try_from(range.start), usize::try_from(range.end)) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for at in (start..end.min(map.len())).step_by(64) {
                // SAFETY: the address is inside the map. The instruction reads nothing and raises no fault.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(map.as_ptr().add(at).cast()) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = range;
    }

    /// Like [`LargeMap::collapse`]; false for other maps.
    #[cfg(target_os = "linux")]
    pub fn collapse(&self, range: Range<usize>) -> bool {
        matches!(&self.map, Some(Mapped::ForLargePages(map)) if map.collapse(range))
    }

    /// Like [`LargeMap::populate`]; false for other maps.
    #[cfg(target_os = "linux")]
    pub fn populate(&self, range: Range<usize>) -> bool {
        matches!(&self.map, Some(Mapped::ForLargePages(map)) if map.populate(range))
    }

    /// Whether all pages of the map still belong to the file. If not, other processes do not see what this one
    /// writes.
    pub fn is_whole(&self) -> bool {
        self.watch.as_ref().is_none_or(|watch| watch.lost() == 0)
    }

    /// Syncs to the disk what all processes wrote.
    pub fn sync(&self) -> Result<()> {
        let Some(Mapped::Anywhere(map)) = &self.map else { return Ok(()) };
        map.flush().map_err(|e| Error::io("sync to the disk", &self.path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_of_the_file_can_be_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [7; 20]).unwrap();
        let map = SharedMap::open(file.path(), 20).unwrap();
        let mut copy = [0; 8];
        assert!([13, 20, u64::MAX - 7, u64::MAX].iter().all(|&at| !map.copy(at, &mut copy)) && copy == [0; 8]);
        assert!(map.copy(12, &mut copy) && copy == [7; 8]);
        let mut rows = [0; 11];
        assert!(map.copy_rows::<3>(14, 2, &mut rows, 8) && rows == [7, 7, 7, 0, 0, 0, 0, 0, 7, 7, 7]);
        assert!(!map.copy_rows::<3>(15, 2, &mut rows, 8) && !map.copy_rows::<3>(0, 2, &mut rows, 9));
        assert!(!map.copy_rows::<3>(0, usize::MAX, &mut rows, 0) && !map.copy_rows::<3>(u64::MAX, 1, &mut rows, 0));
        assert!([0, 8].iter().all(|&at| map.word(at).is_some()));
        assert!([4, 16, 24, usize::MAX, usize::MAX - 7].iter().all(|&at| map.word(at).is_none()));
        let text = *b"ab..cd..";
        assert!(map.store_rows::<2>(16, 2, &text, 4) && map.store(0, b"xy"));
        assert!(
            !map.store_rows::<2>(17, 2, &text, 4) && !map.store_rows::<2>(0, 1, &text[7..], 0) && !map.store(19, b"xy")
        );
        assert!(!map.store_rows::<2>(u64::MAX, 1, &text, 0) && !map.store(u64::MAX, b"x") && map.store(20, b""));
        assert_eq!(std::fs::read(file.path()).unwrap(), [&b"xy"[..], &[7; 14], b"abcd"].concat());
        let e = SharedMap::open(file.path(), 21).unwrap_err();
        assert!(e.to_string().contains("expected 21 bytes, found 20 bytes"), "{e}");
        std::fs::write(file.path(), b"").unwrap();
        let map = SharedMap::open(file.path(), 0).unwrap();
        assert!(map.bytes().is_empty() && map.word(0).is_none() && map.is_whole());
        map.sync().unwrap();
    }
}

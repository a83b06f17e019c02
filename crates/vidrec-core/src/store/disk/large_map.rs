//! Maps at addresses where the system can use large pages.
//!
//! A frame's planes cover dozens of small pages. Each page costs a fault the first time that a process reads it, an
//! entry in the page tables, and a miss in the processor's table of pages each time. A large page costs one fault and
//! one entry for 2 MiB.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr;

/// Bytes of a large page on most machines. If a machine has another size, the system refuses to create such pages.
pub(crate) const LARGE_PAGE: usize = 2 << 20;

/// `MADV_COLLAPSE` of Linux 6.1 and later. Not every C library defines it.
const COLLAPSE: libc::c_int = 25;

/// The beginning of a file, mapped for reading and writing at a multiple of [`LARGE_PAGE`].
#[derive(Debug)]
pub(super) struct LargeMap {
    start: *mut u8,
    length: usize,
}

// SAFETY: the map belongs to no thread, and only its drop changes it. The users of its memory are responsible for
// that memory.
unsafe impl Send for LargeMap {}
// SAFETY: as above.
unsafe impl Sync for LargeMap {}

impl LargeMap {
    /// Maps the first `length` bytes of a file; `length` must not be 0.
    pub fn of(file: &File, length: usize) -> io::Result<Self> {
        let too_long = || io::Error::from(io::ErrorKind::OutOfMemory);
        let room = length.checked_add(LARGE_PAGE).filter(|_| length > 0).ok_or_else(too_long)?;
        // SAFETY: this reserves addresses that nothing uses, chosen by the system, without permission to read or
        // write.
        let reserved = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(ptr::null_mut(), room, libc::PROT_NONE, flags, -1, 0)
        };
        if reserved == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let before = reserved.addr().next_multiple_of(LARGE_PAGE) - reserved.addr();
        let start = reserved.wrapping_byte_add(before);
        let end = start.wrapping_byte_add(length.next_multiple_of(page()));
        // SAFETY: `start` and `length` lie inside the reserved addresses, which the map replaces and no other code
        // knows. `file` is open.
        let mapped = unsafe {
            let (both, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
            libc::mmap(start, length, both, flags, file.as_raw_fd(), 0)
        };
        let e = io::Error::last_os_error();
        let is_mapped = mapped != libc::MAP_FAILED;
        let rest = if is_mapped { end } else { start };
        let behind = reserved.addr() + room - rest.addr();
        // SAFETY: these are the reserved addresses before and after the map, and nothing uses them. Whole pages are
        // unmapped, and `rest` is at the start of one. If that fails, the addresses stay reserved, and nothing else
        // happens.
        unsafe {
            if before > 0 {
                libc::munmap(reserved, before);
            }
            if behind > 0 {
                libc::munmap(rest, behind);
            }
        }
        if is_mapped { Ok(LargeMap { start: start.cast(), length }) } else { Err(e) }
    }

    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.start
    }

    pub fn len(&self) -> usize {
        self.length
    }

    /// Allocates all pages of a range that the file does not have yet (`MADV_POPULATE_WRITE`), so that later writes
    /// there do not run out of memory. Returns false if the system does not support this, or has no memory for them.
    pub fn populate(&self, range: Range<usize>) -> bool {
        self.advise(range, libc::MADV_POPULATE_WRITE)
    }

    /// Moves the bytes of a range into large pages, and allocates new ones where the file has none (`MADV_COLLAPSE`,
    /// <https://man7.org/linux/man-pages/man2/madvise.2.html>). Each large page of the range must contain some bytes
    /// already. Returns false if the system does not support this, or has no memory for it. Then all bytes stay where
    /// they were.
    pub fn collapse(&self, range: Range<usize>) -> bool {
        self.advise(range, COLLAPSE)
    }

    /// Gives one of these two kinds of advice. Neither changes a byte.
    fn advise(&self, range: Range<usize>, advice: libc::c_int) -> bool {
        let is_inside = range.start <= range.end && range.end <= self.length && range.start.is_multiple_of(LARGE_PAGE);
        // SAFETY: the range lies inside the map. These calls change which pages hold its bytes, but no byte.
        is_inside && unsafe { libc::madvise(self.start.add(range.start).cast(), range.end - range.start, advice) == 0 }
    }
}

impl Drop for LargeMap {
    fn drop(&mut self) {
        // SAFETY: this value owns the map, and nothing borrows from it anymore.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

/// Bytes of a page.
fn page() -> usize {
    // SAFETY: the call takes a number and returns one.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

//! Advice to the operating system's page cache. This is the only file that calls `posix_fadvise`.
//!
//! A system that does not support the advice, or refuses it, only loses speed.

use std::fs::File;
use std::ops::Range;

/// What will happen to a range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// It will be read soon: load it.
    Soon,
    /// It was read and will not be needed for a long time: its pages may be dropped.
    Done,
}

/// Gives advice on a range of a file. Returns whether the system accepted it.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub fn advise(file: &File, range: Range<u64>, advice: Advice) -> bool {
    use std::os::fd::AsRawFd;

    let advice = match advice {
        Advice::Soon => libc::POSIX_FADV_WILLNEED,
        Advice::Done => libc::POSIX_FADV_DONTNEED,
    };
    let (Ok(offset), Ok(length)) = (range.start.try_into(), range.end.saturating_sub(range.start).try_into()) else {
        return false;
    };
    // SAFETY: the descriptor is open as long as `file` is borrowed, and the call reads and writes no memory of ours.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), offset, length, advice) == 0 }
}

/// Gives advice on a range of a file. Returns whether the system accepted it.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
pub(crate) fn advise(_: &File, _: Range<u64>, _: Advice) -> bool {
    false
}

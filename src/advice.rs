//! What the operating system is told of memory and files: the only place that calls `posix_fadvise` and `madvise`.
//!
//! All of it is advice: a system that does not know it, or refuses it, loses speed and nothing else.

use std::fs::File;
use std::ops::Range;

/// What comes next for a stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    /// It will be read soon: bring it in.
    Soon,
    /// It was read and will not be needed for long: its pages may go.
    Done,
    /// It will be read in no order: do not read on by itself after what was asked for.
    Random,
}

/// Gives advice on a stretch of a file; whether the system took it.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub(crate) fn advise(file: &File, range: Range<u64>, advice: Advice) -> bool {
    use std::os::fd::AsRawFd;

    let advice = match advice {
        Advice::Soon => libc::POSIX_FADV_WILLNEED,
        Advice::Done => libc::POSIX_FADV_DONTNEED,
        Advice::Random => libc::POSIX_FADV_RANDOM,
    };
    let (Ok(offset), Ok(length)) = (range.start.try_into(), range.end.saturating_sub(range.start).try_into()) else {
        return false;
    };
    // SAFETY: the descriptor is open as long as `file` is borrowed, and the call reads and writes no memory of ours.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), offset, length, advice) == 0 }
}

/// Gives advice on a stretch of a file; whether the system took it.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
pub(crate) fn advise(_: &File, _: Range<u64>, _: Advice) -> bool {
    false
}

/// Asks for large pages under `memory`, before it is written to for the first time: 512 times fewer of them have to be
/// found and cleared. Whether the system took it; memory under 4 MiB is left as it is.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_huge_pages<T>(memory: &mut [T]) -> bool {
    const PAGE: usize = 4096;
    let bytes = size_of_val(memory);
    // Whole pages that lie within the memory; on machines with larger pages the system refuses what does not fit them.
    let start = memory
        .as_mut_ptr()
        .cast::<u8>()
        .wrapping_add(memory.as_ptr().addr().next_multiple_of(PAGE) - memory.as_ptr().addr());
    let len = bytes.saturating_sub(PAGE) / PAGE * PAGE;
    // SAFETY: the pages lie within `memory`, which is borrowed; this advice changes no byte of them.
    bytes >= 4 << 20 && unsafe { libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE) == 0 }
}

/// Asks for large pages under `memory`; whether the system took it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_huge_pages<T>(_: &mut [T]) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_change_no_byte() {
        for len in [0, 1, 4095, 5 << 20, (9 << 20) + 17] {
            let mut memory = vec![7_u8; len];
            // Refused where the system was built without them.
            let taken = prefer_huge_pages(&mut memory[len.min(3)..]);
            assert!(!taken || len >= 4 << 20);
            assert!(memory.iter().all(|&b| b == 7));
        }
    }

    #[test]
    fn advice_changes_no_byte() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![7; 100_000]).unwrap();
        for advice in [Advice::Soon, Advice::Done, Advice::Random] {
            let taken = advise(file.as_file(), 5000..90_000, advice);
            assert!(taken || !cfg!(target_os = "linux"), "{advice:?}");
            advise(file.as_file(), 0..0, advice);
            assert_eq!(std::fs::read(file.path()).unwrap(), vec![7; 100_000]);
        }
        assert!(!advise(file.as_file(), u64::MAX..u64::MAX, Advice::Soon), "past any file");
    }
}

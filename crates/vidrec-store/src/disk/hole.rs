//! Returns the room of a part of a file to the file system.

use std::fs::File;
use std::io;

/// Makes a hole that reads as zeros: `fallocate` with `FALLOC_FL_PUNCH_HOLE`,
/// <https://man7.org/linux/man-pages/man2/fallocate.2.html>. The file keeps its length.
#[cfg(target_os = "linux")]
pub(super) fn punch(file: &File, at: u64, length: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let out_of_range = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let (at, length) = (at.try_into().map_err(out_of_range)?, length.try_into().map_err(out_of_range)?);
    let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: the descriptor is open as long as `file` is borrowed, and the call takes no memory of ours. Maps of the
    // file show zeros from then on, which every reader of a map allows for.
    if unsafe { libc::fallocate(file.as_raw_fd(), how, at, length) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Would make a hole that reads as zeros, but this system cannot.
#[cfg(not(target_os = "linux"))]
pub(super) fn punch(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_hole_reads_as_zeros_and_the_rest_stays() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [7; 10_000]).unwrap();
        match punch(file.as_file(), 4096, 4096) {
            Ok(()) => {
                let bytes = std::fs::read(file.path()).unwrap();
                assert!((0..10_000).all(|i| bytes[i] == if (4096..8192).contains(&i) { 0 } else { 7 }));
            }
            // A file system may not support it.
            Err(e) => assert_eq!(e.raw_os_error(), Some(libc::EOPNOTSUPP)),
        }
        assert!(punch(file.as_file(), u64::MAX, 1).is_err() && punch(file.as_file(), 0, 0).is_err());
    }
}

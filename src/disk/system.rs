//! System calls that the standard library does not offer.

use std::io;
use std::path::Path;

/// Exchanges the names of two files or folders in one step: `renameat2` with `RENAME_EXCHANGE`,
/// <https://man7.org/linux/man-pages/man2/rename.2.html>.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let c_path = |path: &Path| std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from);
    let (a, b) = (c_path(a)?, c_path(b)?);
    // SAFETY: both strings end with a zero byte and live until the call returns, and the call keeps no pointer.
    let done =
        unsafe { libc::renameat2(libc::AT_FDCWD, a.as_ptr(), libc::AT_FDCWD, b.as_ptr(), libc::RENAME_EXCHANGE) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Exchanges the names of two files or folders in one step, which this system cannot do.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Syncs everything written to the file system of `path` to the disk. Returns false if the system can only sync single
/// files.
#[cfg(target_os = "linux")]
pub(super) fn sync_file_system(path: &Path) -> io::Result<bool> {
    use std::os::fd::AsRawFd;
    let file = std::fs::File::open(path)?;
    // SAFETY: the descriptor is open until `file` is dropped; the call has no other argument.
    if unsafe { libc::syncfs(file.as_raw_fd()) } == 0 { Ok(true) } else { Err(io::Error::last_os_error()) }
}

/// Syncs everything written to the file system of `path` to the disk. This system can only sync single files.
#[cfg(not(target_os = "linux"))]
pub(super) fn sync_file_system(_: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_is_synced() {
        assert_eq!(sync_file_system(Path::new(".")).unwrap(), cfg!(target_os = "linux"));
        assert!(!cfg!(target_os = "linux") || sync_file_system(Path::new("not-there")).is_err());
    }
}

//! System calls that the standard library does not offer. A system that does not support advice on its page cache, or refuses
//! it, only loses speed.

use std::fs::File;
use std::io;
use std::ops::Range;
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

/// Would exchange the names of two files or folders in one step, but this system cannot.
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

/// The size in bytes of the file system of `path`, if it is in memory (tmpfs). `u64::MAX` if it has no limit of its
/// own. `None` for every other file system.
#[cfg(target_os = "linux")]
pub(super) fn size_in_memory(path: &Path) -> io::Result<Option<u64>> {
    use std::os::fd::AsRawFd;
    let folder = std::fs::File::open(path)?;
    let mut found = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the descriptor is open until `folder` is dropped, and `found` has room for what the call writes.
    if unsafe { libc::fstatfs(folder.as_raw_fd(), found.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all zeros is a valid value, and the call has filled it in.
    let found = unsafe { found.assume_init() };
    // The types differ from system to system.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast)]
    let (kind, blocks, block) = (found.f_type as i64, found.f_blocks as u64, found.f_bsize as u64);
    let size = if blocks == 0 { u64::MAX } else { blocks.saturating_mul(block) };
    #[allow(clippy::unnecessary_cast)]
    let is_in_memory = kind == libc::TMPFS_MAGIC as i64;
    Ok(is_in_memory.then_some(size))
}

/// Would tell the size of a file system in memory, but only Linux is known to have one.
#[cfg(not(target_os = "linux"))]
pub(super) fn size_in_memory(_: &Path) -> io::Result<Option<u64>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The number of the user that this process acts for.
#[cfg(unix)]
pub(super) fn user() -> u32 {
    // SAFETY: the call takes nothing and always succeeds.
    unsafe { libc::geteuid() }
}

/// Other systems do not number their users.
#[cfg(not(unix))]
pub(super) fn user() -> u32 {
    0
}

/// The expected use of a range of a file.
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

//! Opens files that another user may have created: a data set comes from a download or a shared folder.
//!
//! A pipe would make its reader wait forever. A device returns bytes without end, and merely opening it may have an
//! effect. So only regular files are opened, and there is a limit for files that are read whole.
//!
//! **Links.** The files of a data set may be symbolic links: people keep record files on another disk and link them
//! into the folder of a data set. Reading through a link shows its reader only what the same person could open
//! anyway. Files that only vidrec writes (plans, journals, locks, staged files, receipts and notes of parts) are
//! never links. They decide what vidrec writes, renames and removes, so a link there is an attempt to redirect it.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use crate::store::read_at::Advice;
use vidrec_format::error::{Error, Result};

/// Whether the name of a file may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// For the files of data sets, and for inputs.
    Follow,
    /// For files that only vidrec writes.
    Refuse,
}

/// Opens a regular file for reading.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): it is not a regular file.
pub fn open_regular(path: &Path, links: Links) -> Result<File> {
    open_if_there(path, links)?.ok_or_else(|| missing(path))
}

/// Like [`open_regular`]; `None` if there is no file of this name.
pub fn open_if_there(path: &Path, links: Links) -> Result<Option<File>> {
    open_with(path, links, OpenOptions::new().read(true))
}

/// Like [`open_if_there`], with options: for writing, or to create the file.
pub(crate) fn open_with(path: &Path, links: Links, how: &mut OpenOptions) -> Result<Option<File>> {
    match try_open(path, links, how) {
        Ok(Ok(file)) => Ok(Some(file)),
        Ok(Err(kind)) => Err(not_regular(path, kind)),
        Err(e) if is_missing(&e) => Ok(None),
        Err(e) => Err(Error::io("open the file", path, e)),
    }
}

/// Opens a regular file, with the system's own errors. It does not open anything else, and returns its type.
pub fn try_open(path: &Path, links: Links, how: &mut OpenOptions) -> io::Result<Result<File, FileType>> {
    let look = if links == Links::Follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
    // The check comes first, because opening a device may have an effect.
    match look {
        Ok(meta) if !meta.is_file() => return Ok(Err(meta.file_type())),
        Err(e) if !is_missing(&e) => return Err(e),
        _ => {}
    }
    let file = without_waiting(how, links).open(path)?;
    // The file may have been replaced in the meantime.
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_file() { Ok(file) } else { Err(kind) })
}

/// Refuses a folder that only vidrec creates, if its name is a link.
pub fn refuse_link(folder: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_symlink() => Err(not_regular(folder, meta.file_type())),
        _ => Ok(()),
    }
}

/// Refuses a name that leads to a folder, a pipe or a device, which a new file would replace.
pub fn refuse_others(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(meta) if !meta.is_file() => Err(not_regular(path, meta.file_type())),
        _ => Ok(()),
    }
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
///
/// [`Limit`](vidrec_format::error::ErrorKind::Limit): it is longer.
pub fn read_regular(path: &Path, most: u64, links: Links) -> Result<Vec<u8>> {
    read_if_there(path, most, links)?.ok_or_else(|| missing(path))
}

/// Like [`read_regular`]; `None` if there is no file of this name.
pub fn read_if_there(path: &Path, most: u64, links: Links) -> Result<Option<Vec<u8>>> {
    let Some(file) = open_if_there(path, links)? else { return Ok(None) };
    let failed = |e| Error::io("read the file", path, e);
    let too_long = |found: u64| {
        let e = Error::limit("the file is too long").file(path);
        Err(e.expected(format!("at most {most} bytes")).found(format!("{found} bytes")))
    };
    let length = file.metadata().map_err(failed)?.len();
    if length > most {
        return too_long(length);
    }
    let mut bytes = Vec::new();
    let room = bytes.try_reserve_exact(length as usize);
    room.map_err(|_| Error::no_memory("a file", length as usize).file(path))?;
    // The file may have grown since.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most { too_long(bytes.len() as u64) } else { Ok(Some(bytes)) }
}

/// The error about a file that does not exist.
pub fn missing(path: &Path) -> Error {
    // The error has the same words as one from the system.
    #[cfg(unix)]
    let e = io::Error::from_raw_os_error(libc::ENOENT);
    #[cfg(not(unix))]
    let e = io::Error::from(io::ErrorKind::NotFound);
    Error::io("open the file", path, e)
}

/// Whether an error says that there is no such file, because the name does not exist or its parent is not a folder.
fn is_missing(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Refuses a link where none may be, and does not wait for the other end of a pipe.
#[cfg(unix)]
fn without_waiting(how: &mut OpenOptions, links: Links) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let no_links = if links == Links::Refuse { libc::O_NOFOLLOW } else { 0 };
    how.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | no_links)
}

#[cfg(not(unix))]
fn without_waiting(how: &mut OpenOptions, _: Links) -> &mut OpenOptions {
    how
}

/// Opens files that only this program creates, such as locks, logs and caches. It refuses a link, which could lead to
/// another user's file.
pub(crate) fn in_place(how: &mut OpenOptions) -> &mut OpenOptions {
    without_waiting(how, Links::Refuse)
}

/// Like [`in_place`]; if the file is created, only this user can read it.
pub(crate) fn private(how: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(how, 0o600);
    in_place(how)
}

fn not_regular(path: &Path, kind: FileType) -> Error {
    if kind.is_symlink() {
        return Error::usage("this is a symbolic link")
            .file(path)
            .help("vidrec reserves this name and never makes it a link: remove it");
    }
    Error::usage("this is not a regular file").file(path).found(words(kind))
}

fn words(kind: FileType) -> &'static str {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&kind) {
        return "a named pipe";
    }
    if kind.is_dir() { "a folder" } else { "a socket or a device" }
}

/// Whether two descriptions are those of one file, by any name.
pub(super) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (a.dev(), a.ino()) == (b.dev(), b.ino())
    }
    #[cfg(not(unix))]
    {
        a.modified().ok() == b.modified().ok()
    }
}

/// Gives advice on a range of a file. Returns whether the system accepted it: without it, only speed is lost.
pub fn advise(file: &File, range: Range<u64>, advice: Advice) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        use rustix::fs::Advice::{DontNeed, WillNeed};
        let advice = if advice == Advice::Soon { WillNeed } else { DontNeed };
        // Without a length, the advice would be for the rest of the file.
        let length = std::num::NonZeroU64::new(range.end.saturating_sub(range.start));
        length.is_none() || rustix::fs::fadvise(file, range.start, length, advice).is_ok()
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    {
        let _ = (file, range, advice);
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;
    use vidrec_format::error::ErrorKind;

    #[test]
    fn nothing_but_regular_files_of_their_limit_is_read() {
        let _starts = crate::process_start_lock::some();
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), b"0123").unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        symlink("/dev/zero", at("zeros")).unwrap();
        symlink("file", at("link")).unwrap();
        symlink("pipe", at("to-pipe")).unwrap();
        for links in [Links::Follow, Links::Refuse] {
            assert_eq!(read_regular(&at("file"), 4, links).unwrap(), b"0123");
            assert_eq!(read_regular(&at("file"), 3, links).unwrap_err().kind(), ErrorKind::Limit);
            for name in ["pipe", "zeros", "to-pipe", "."] {
                let e = read_regular(&at(name), 1 << 20, links).unwrap_err();
                let text = e.to_string();
                let is_said = text.contains("not a regular file") || text.contains("a symbolic link");
                assert!(e.kind() == ErrorKind::Usage && is_said, "{name}: {e}");
            }
            assert!(read_if_there(&at("none"), 1, links).unwrap().is_none());
            assert!(read_if_there(&at("file/none"), 1, links).unwrap().is_none());
            assert_eq!(open_regular(&at("none"), links).unwrap_err().kind(), ErrorKind::Io);
        }
        assert_eq!(read_regular(&at("link"), 4, Links::Follow).unwrap(), b"0123");
        assert!(["pipe", "zeros", "to-pipe", "."].iter().all(|name| refuse_others(&at(name)).is_err()));
        assert!(["file", "link", "none"].iter().all(|name| refuse_others(&at(name)).is_ok()));
        let e = read_regular(&at("link"), 4, Links::Refuse).unwrap_err().to_string();
        assert!(e.contains("a symbolic link") && e.contains("remove it"), "{e}");
        let mut how = OpenOptions::new();
        let e = open_with(&at("link"), Links::Refuse, how.write(true).create(true)).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage);
        assert!(open_with(&at("new"), Links::Refuse, how.write(true).create(true)).unwrap().is_some());
    }
}

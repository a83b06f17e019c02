//! Opening files that somebody else may have put there: a data set comes from a download or a shared folder.
//!
//! A pipe would keep its reader waiting for ever, a device gives bytes without end, and opening one may do something. So
//! nothing but a regular file is opened, and what is read whole has a limit.
//!
//! **Links.** The files of a data set may be symbolic links: people keep record files on another disk and link them into
//! the folder of a data set. Reading through a link shows its reader what the same person could open anyway. Files that only
//! vidrec writes (plans, journals, locks, staged files, receipts and notes of parts) are never links. vidrec writes, renames
//! and removes by them, so a link there is somebody's attempt to make it work elsewhere.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::{Error, Result};

/// Whether the name of a file may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Of the files of data sets, and of inputs.
    Follow,
    /// Of files that only vidrec writes.
    Refuse,
}

/// Opens a regular file for reading.
///
/// # Errors
///
/// [`Usage`](crate::ErrorKind::Usage): it is something else.
pub(crate) fn open_regular(path: &Path, links: Links) -> Result<File> {
    open_if_there(path, links)?.ok_or_else(|| missing(path))
}

/// Like [`open_regular`]; `None` if there is no file of this name.
pub(crate) fn open_if_there(path: &Path, links: Links) -> Result<Option<File>> {
    open_with(path, links, OpenOptions::new().read(true))
}

/// Like [`open_if_there`], in another way: for writing, or to create the file.
pub(crate) fn open_with(path: &Path, links: Links, how: &mut OpenOptions) -> Result<Option<File>> {
    let failed = |e| Error::io("open the file", path, e);
    let look = if links == Links::Follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
    // Before it is opened, because opening a device may do something.
    match look {
        Ok(meta) if !meta.is_file() => return Err(not_regular(path, meta.file_type())),
        Err(e) if !is_missing(&e) => return Err(failed(e)),
        _ => {}
    }
    let file = match without_waiting(how, links).open(path) {
        Err(e) if is_missing(&e) => return Ok(None),
        file => file.map_err(failed)?,
    };
    // Somebody may have replaced it in the meantime.
    let meta = file.metadata().map_err(failed)?;
    if meta.is_file() { Ok(Some(file)) } else { Err(not_regular(path, meta.file_type())) }
}

/// Refuses a folder that only vidrec makes, if its name is a link.
#[cfg(feature = "pack")]
pub(crate) fn refuse_link(folder: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(meta) if meta.is_symlink() => Err(not_regular(folder, meta.file_type())),
        _ => Ok(()),
    }
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit): it is longer.
pub(crate) fn read_regular(path: &Path, most: u64, links: Links) -> Result<Vec<u8>> {
    read_if_there(path, most, links)?.ok_or_else(|| missing(path))
}

/// Like [`read_regular`]; `None` if there is no file of this name.
pub(crate) fn read_if_there(path: &Path, most: u64, links: Links) -> Result<Option<Vec<u8>>> {
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
    // It may have grown since.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most { too_long(bytes.len() as u64) } else { Ok(Some(bytes)) }
}

fn missing(path: &Path) -> Error {
    // In the words of the system.
    #[cfg(unix)]
    let e = io::Error::from_raw_os_error(libc::ENOENT);
    #[cfg(not(unix))]
    let e = io::Error::from(io::ErrorKind::NotFound);
    Error::io("open the file", path, e)
}

/// Whether no file has the name: nothing has, or what should be its folder is none.
fn is_missing(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

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

fn not_regular(path: &Path, kind: FileType) -> Error {
    if kind.is_symlink() {
        return Error::usage("this is a symbolic link")
            .file(path)
            .help("only vidrec uses this name, for no link: remove it");
    }
    Error::usage("not a regular file").file(path).found(words(kind))
}

fn words(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    match () {
        () if kind.is_dir() => "a folder",
        () => "something else",
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;
    use crate::ErrorKind;

    #[test]
    fn nothing_but_regular_files_of_their_limit_is_read() {
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
        let e = read_regular(&at("link"), 4, Links::Refuse).unwrap_err().to_string();
        assert!(e.contains("a symbolic link") && e.contains("remove it"), "{e}");
        let mut how = OpenOptions::new();
        let e = open_with(&at("link"), Links::Refuse, how.write(true).create(true)).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage);
        assert!(open_with(&at("new"), Links::Refuse, how.write(true).create(true)).unwrap().is_some());
    }
}

//! A file that is read at given positions, without a map and without a cursor.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::store::disk::open_files::{Held, Share};
use crate::store::disk::regular_file::{Links, open_regular};
use crate::store::disk::system::{Advice, advise};
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

/// A file for positional reads by many threads. It stays open, unless too many files are open. Then each read opens
/// it.
#[derive(Debug)]
pub struct PositionalFile {
    path: PathBuf,
    identity: Identity,
    kept: Option<(File, Held)>,
}

/// Shows whether a path still leads to the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    length: u64,
    /// Device and inode number.
    #[cfg(unix)]
    inode: (u64, u64),
    #[cfg(not(unix))]
    modified: Option<std::time::SystemTime>,
}

impl Identity {
    fn of(meta: &Metadata) -> Self {
        Identity {
            length: meta.len(),
            #[cfg(unix)]
            inode: (std::os::unix::fs::MetadataExt::dev(meta), std::os::unix::fs::MetadataExt::ino(meta)),
            #[cfg(not(unix))]
            modified: meta.modified().ok(),
        }
    }
}

impl PositionalFile {
    /// Opens a file, and keeps it open unless `share` is used up.
    pub fn open(path: &Path, share: &'static Share) -> Result<Self> {
        let file = open_regular(path, Links::Follow)?;
        let meta = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?;
        let kept = share.take().map(|held| (file, held));
        Ok(PositionalFile { path: path.to_owned(), identity: Identity::of(&meta), kept })
    }

    /// Length of the file when it was opened.
    pub fn len(&self) -> u64 {
        self.identity.length
    }

    /// Replaces the contents of `buffer` with a range of the file.
    pub fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        self.with(|file| read_at(file, range, buffer))?
    }

    /// Gives advice on a range of the file.
    pub fn advise(&self, range: Range<u64>, advice: Advice) {
        // Without the advice, only speed is lost.
        let _ = self.with(|file| advise(file, range, advice));
    }

    fn with<T>(&self, f: impl FnOnce(&File) -> T) -> Result<T> {
        if let Some((file, _)) = &self.kept {
            return Ok(f(file));
        }
        let file = open_regular(&self.path, Links::Follow)?;
        let meta = file.metadata().map_err(|e| Error::io("read the file's size", &self.path, e))?;
        if Identity::of(&meta) != self.identity {
            return Err(Error::lost("the file was replaced or truncated after it was opened")
                .file(&self.path)
                .expected(format!("{} bytes", self.identity.length))
                .found(format!("{} bytes", meta.len()))
                .help("open the data set again"));
        }
        Ok(f(&file))
    }
}

/// Replaces the contents of `buffer` with a range of an open file.
fn read_at(file: &File, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
    let wanted = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    allocation::resize(buffer, wanted, 0, "a record")?;
    read_exact_at(file, buffer, range.start).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            let e = Error::format("record-bounds", "the file ends early: it was truncated while it was open");
            let found = file.metadata().map_or(0, |meta| meta.len().saturating_sub(range.start));
            e.at(range.start).expected(format!("{wanted} bytes")).found(format!("{found} bytes"))
        }
        _ => Error::io("read from the file", "", e).at(range.start),
    })
}

/// Fills a buffer with the bytes of a file from `at` on.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
}

/// Writes bytes to a file from `at` on.
#[cfg(unix)]
pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut buffer[done..], at + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => done += n,
        }
    }
    Ok(())
}

/// Files of caches, which are the only ones that are written so, exist only on Unix.
#[cfg(not(unix))]
pub(crate) fn write_all_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    static NONE: Share = Share::new(|| 0);
    static SOME: Share = Share::new(|| 100);

    #[test]
    fn a_file_that_is_not_kept_open_is_read_as_one_that_is_while_it_is_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"0123456789").unwrap();
        let (closed, open) = (PositionalFile::open(&path, &NONE), PositionalFile::open(&path, &SOME));
        let (closed, open) = (closed.unwrap(), open.unwrap());
        assert!(closed.kept.is_none() && open.kept.is_some());
        let mut buffer = Vec::new();
        for file in [&closed, &open] {
            file.read(2..5, &mut buffer).unwrap();
            assert_eq!((&buffer[..], file.len()), (&b"234"[..], 10));
            file.advise(0..10, Advice::Soon);
        }
        // Replaced by another file of the same length: the open file still has its old contents.
        std::fs::write(dir.path().join("y"), b"abcdefghij").unwrap();
        std::fs::rename(dir.path().join("y"), &path).unwrap();
        let e = closed.read(2..5, &mut buffer).unwrap_err();
        assert!(e.to_string().contains("replaced") && e.path() == Some(&path), "{e}");
        open.read(2..5, &mut buffer).unwrap();
        assert_eq!(buffer, b"234");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(closed.read(2..5, &mut buffer).unwrap_err().kind(), vidrec_format::error::ErrorKind::Io);
    }
}

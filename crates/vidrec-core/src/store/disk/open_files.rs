//! Files that are read at given positions, and limits on the maps and open files that data sets hold.
//!
//! A data set may have more shards than a process may have maps (65,530 on Linux by default) or open files (often
//! 1024), and the rest of the process needs some too. Files beyond the share of data sets are opened for each read.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::regular_file::{Links, advise, is_same_file, open_regular};
use crate::store::read_at::{Advice, ReadAt};
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};
use vidrec_format::machine;

/// The number of maps or files that all data sets of this process may hold together, and what each of them holds.
#[derive(Debug)]
pub struct Share(LazyLock<(u64, Held)>);

/// One map or file of a [`Share`]. It is returned on drop.
pub type Held = Arc<()>;

/// Maps: three quarters of what the system allows.
pub static MAPS: Share = Share::new(|| (max_map_count() / 4 * 3, Held::default()));
/// Files that stay open: half of what the process may have.
pub static FILES: Share = Share::new(|| (machine::open_files().map_or(u64::MAX, |most| most / 2), Held::default()));

impl Share {
    const fn new(most: fn() -> (u64, Held)) -> Self {
        Share(LazyLock::new(most))
    }

    /// Takes one; `None` if none is left. Threads that take some at once may exceed the share by one each.
    pub fn take(&self) -> Option<Held> {
        let (most, held) = &*self.0;
        // One is the share's own.
        (Arc::strong_count(held) as u64 <= *most).then(|| held.clone())
    }
}

fn max_map_count() -> u64 {
    let said = std::fs::read_to_string("/proc/sys/vm/max_map_count");
    let usual = if cfg!(target_os = "linux") { 65_530 } else { u64::MAX };
    said.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(usual)
}

/// A file for positional reads by many threads. It stays open, unless too many files are open. Then each read opens
/// it.
#[derive(Debug)]
pub struct PositionalFile {
    path: PathBuf,
    /// Shows whether the path still leads to the same file.
    meta: Metadata,
    kept: Option<(File, Held)>,
}

impl PositionalFile {
    /// Opens a file, and keeps it open unless `share` is used up.
    pub fn open(path: &Path, share: &Share) -> Result<Self> {
        let file = open_regular(path, Links::Follow)?;
        let meta = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?;
        let kept = share.take().map(|held| (file, held));
        Ok(PositionalFile { path: path.to_owned(), meta, kept })
    }

    fn with<T>(&self, f: impl FnOnce(&File) -> T) -> Result<T> {
        if let Some((file, _)) = &self.kept {
            return Ok(f(file));
        }
        let file = open_regular(&self.path, Links::Follow)?;
        let meta = file.metadata().map_err(|e| Error::io("read the file's size", &self.path, e))?;
        if meta.len() != self.len() || !is_same_file(&meta, &self.meta) {
            return Err(Error::lost("the file was replaced or truncated after it was opened")
                .file(&self.path)
                .expected(format!("{} bytes", self.len()))
                .found(format!("{} bytes", meta.len()))
                .help("open the data set again"));
        }
        Ok(f(&file))
    }
}

impl ReadAt for PositionalFile {
    fn len(&self) -> u64 {
        self.meta.len()
    }

    fn copy(&self, range: Range<u64>, _: &mut dyn FnMut() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        self.with(|file| read_at(file, range, buffer))?
    }

    fn advise(&self, range: Range<u64>, advice: Advice) {
        // Without the advice, only speed is lost.
        let _ = self.with(|file| advise(file, range, advice));
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

    static NONE: Share = Share::new(|| (0, Held::default()));
    static SOME: Share = Share::new(|| (100, Held::default()));

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
            file.copy(2..5, &mut || 0..0, &mut buffer).unwrap();
            assert_eq!((&buffer[..], file.len()), (&b"234"[..], 10));
            file.advise(0..10, Advice::Soon);
        }
        // Replaced by another file of the same length: the open file still has its old contents.
        std::fs::write(dir.path().join("y"), b"abcdefghij").unwrap();
        std::fs::rename(dir.path().join("y"), &path).unwrap();
        let e = closed.copy(2..5, &mut || 0..0, &mut buffer).unwrap_err();
        assert!(e.to_string().contains("replaced") && e.path() == Some(&path), "{e}");
        open.copy(2..5, &mut || 0..0, &mut buffer).unwrap();
        assert_eq!(buffer, b"234");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            closed.copy(2..5, &mut || 0..0, &mut buffer).unwrap_err().kind(),
            vidrec_format::error::ErrorKind::Io
        );
    }

    #[test]
    fn no_more_is_taken_than_there_is() {
        static THREE: Share = Share::new(|| (3, Held::default()));
        let mut held: Vec<_> = (0..3).map(|_| THREE.take().unwrap()).collect();
        assert!(THREE.take().is_none());
        held.pop();
        let again = THREE.take();
        assert!(again.is_some() && THREE.take().is_none());
        drop((held, again));
        assert_eq!(Arc::strong_count(&THREE.0.1), 1);
    }
}

//! A file mapped for reading: the only place that maps, and its safety argument.

use std::fs::File;
use std::ops::{Deref, Range};
use std::path::Path;

use memmap2::Mmap;

use crate::advice::Advice;
use crate::{Error, Result};

/// The bytes of a file, read through the page cache without a copy and shared by all threads and forked processes.
///
/// A mapped file must not be changed in place or cut while it is open: the operating system then ends the process
/// with `SIGBUS` or shows the new bytes. vidrec itself replaces files by renaming, which leaves open maps whole.
#[derive(Debug)]
pub(crate) struct MappedFile(Option<Mmap>);

impl MappedFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io("open the file", path, e))?;
        let meta = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?;
        if !meta.is_file() {
            return Err(Error::usage("not a regular file").file(path));
        }
        if meta.len() == 0 {
            return Ok(MappedFile(None));
        }
        // SAFETY: the map is private to this type and only ever read. What remains is that somebody else cuts or
        // rewrites the file in place, which no reader of a map can rule out; the type's documentation says so. All
        // reads are bounds-checked against the mapped length, and no value read is trusted to stay the same.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io("map the file", path, e))?;
        Ok(MappedFile(Some(map)))
    }

    /// Gives advice on a stretch of the file. [`Advice::Soon`] alone has a meaning for a map.
    #[cfg(unix)]
    pub(crate) fn advise(&self, range: Range<u64>, advice: Advice) {
        let Some(map) = &self.0 else { return };
        let place = |at: u64| usize::try_from(at).map_or(map.len(), |at| at.min(map.len()));
        let (begin, end) = (place(range.start), place(range.end));
        if advice == Advice::Soon && begin < end {
            // Advice that is not taken costs speed only.
            let _ = map.advise_range(memmap2::Advice::WillNeed, begin, end - begin);
        }
    }

    /// Gives advice on a stretch of the file: there is none to give here.
    #[cfg(not(unix))]
    pub(crate) fn advise(&self, _: Range<u64>, _: Advice) {}
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_what_the_file_holds() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"").unwrap();
        assert_eq!(&MappedFile::open(&path).unwrap()[..], b"");
        std::fs::write(&path, b"abc").unwrap();
        let map = MappedFile::open(&path).unwrap();
        assert_eq!(&map[..], b"abc");
        // A file that is replaced by rename, as vidrec does, leaves the map as it was.
        std::fs::write(dir.path().join("y"), b"new").unwrap();
        std::fs::rename(dir.path().join("y"), &path).unwrap();
        assert_eq!(&map[..], b"abc");
        assert!(MappedFile::open(dir.path()).is_err());
    }
}

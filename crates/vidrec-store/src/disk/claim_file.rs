//! A small file that belongs to one process at a time, or to several that share it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::disk::folder_lock::try_lock;
use crate::disk::regular_file::{in_place, private};
use vidrec_format::error::{Error, Result};

/// The most bytes that are read from such a file.
const LONGEST: u64 = 4096;

/// An open file whose lock decides who may do what. It is never removed, so its name always leads to it. The system
/// releases the locks of a process that dies, except those that a forked process has inherited and keeps open.
#[derive(Debug)]
pub(crate) struct ClaimFile {
    file: File,
    path: PathBuf,
}

impl ClaimFile {
    /// Opens the file, and creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path);
        Ok(ClaimFile { file: opened.map_err(|e| Error::io("open", path, e))?, path: path.to_owned() })
    }

    /// Opens an existing file, only to read it and to lock it.
    pub fn open_to_read(path: &Path) -> Result<Self> {
        let opened = in_place(OpenOptions::new().read(true)).open(path);
        Ok(ClaimFile { file: opened.map_err(|e| Error::io("open", path, e))?, path: path.to_owned() })
    }

    /// Waits until no other handle holds the lock of the file, then takes it. Returns false if that takes longer than
    /// `at_most`.
    pub fn take_within(&self, at_most: Duration) -> Result<bool> {
        let begin = Instant::now();
        while !try_lock(&self.file).map_err(|e| Error::io("lock", &self.path, e))? {
            if begin.elapsed() >= at_most {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(true)
    }

    /// The first bytes of the file.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut file = &self.file;
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(LONGEST).read_to_end(&mut bytes));
        read.map_err(|e| Error::io("read", &self.path, e))?;
        Ok(bytes)
    }

    /// Replaces the bytes of the file. A process that is killed meanwhile leaves fewer of them.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut file = &self.file;
        let written = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).and_then(|_| file.write_all(bytes));
        written.map_err(|e| Error::io("write", &self.path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_or_several_share_it_and_it_says_what_was_written_last() {
        let _starts = crate::process_starts::none();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        assert!(ClaimFile::open_to_read(&path).is_err());
        let (a, b) = (ClaimFile::open(&path).unwrap(), ClaimFile::open(&path).unwrap());
        assert!(a.take().unwrap() && !b.take().unwrap());
        a.write(b"first, and longer").unwrap();
        a.write(b"second").unwrap();
        assert!(!b.share_within(Duration::from_millis(20)).unwrap(), "it gives up");
        a.release().unwrap();
        let share = |file: &ClaimFile| file.share_within(Duration::from_millis(20)).unwrap();
        assert!(share(&b));
        assert!(!a.take().unwrap());
        assert!(share(&a));
        assert_eq!(b.read().unwrap(), b"second");
        assert_eq!(ClaimFile::open_to_read(&path).unwrap().read().unwrap(), b"second");
        assert!(ClaimFile::open(&dir.path().join("no/folder")).is_err());
    }
}

//! A small file that belongs to one thread of all processes at a time.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::store::disk::regular_file::{in_place, private};
use crate::store::per_process::PerProcess;
use vidrec_format::error::{Error, Result};

/// The most bytes that are read from such a file.
const LONGEST: u64 = 4096;

/// A small open file.
#[derive(Debug)]
pub(crate) struct ClaimFile {
    file: File,
    path: PathBuf,
}

/// The right to hold a lock in this process.
static THREADS: PerProcess<Mutex<()>> = PerProcess::new();

/// The lock of a file, until this is dropped. The lock is one of POSIX: the system releases it when the process dies, and
/// a forked process does not inherit it. Such a lock does not tell the threads of a process apart, so a mutex does. To
/// close any handle of the file would release the lock, so nothing else opens the file.
#[derive(Debug)]
pub(crate) struct Claim {
    _file: ClaimFile,
    _of_threads: MutexGuard<'static, ()>,
}

impl Claim {
    /// Waits until no other thread or process holds the lock of the file, and takes it. Creates the file if it does
    /// not exist. `None` if another process holds the lock longer than `at_most`.
    pub fn within(path: &Path, at_most: Duration) -> Result<Option<Self>> {
        let of_threads = THREADS.get().lock().unwrap_or_else(PoisonError::into_inner);
        let (file, begin) = (ClaimFile::open(path)?, Instant::now());
        while !try_lock(&file.file).map_err(|e| Error::io("lock", path, e))? {
            if begin.elapsed() >= at_most {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Some(Claim { _file: file, _of_threads: of_threads }))
    }
}

#[cfg(unix)]
fn try_lock(file: &File) -> std::io::Result<bool> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;

    match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

#[cfg(not(unix))]
fn try_lock(_: &File) -> std::io::Result<bool> {
    Err(std::io::ErrorKind::Unsupported.into())
}

impl ClaimFile {
    /// Opens the file, and creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path);
        Ok(ClaimFile { file: opened.map_err(|e| Error::io("open", path, e))?, path: path.to_owned() })
    }

    /// Opens an existing file, only to read it.
    pub fn open_to_read(path: &Path) -> Result<Self> {
        let opened = in_place(OpenOptions::new().read(true)).open(path);
        Ok(ClaimFile { file: opened.map_err(|e| Error::io("open", path, e))?, path: path.to_owned() })
    }

    /// The first bytes of the file.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut file = &self.file;
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(LONGEST).read_to_end(&mut bytes));
        read.map_err(|e| Error::io("read", &self.path, e))?;
        Ok(bytes)
    }

    /// Writes behind the bytes that were read or written last.
    pub fn write_on(&self, bytes: &[u8]) -> Result<()> {
        (&self.file).write_all(bytes).map_err(|e| Error::io("write", &self.path, e))
    }

    /// Replaces the bytes of the file.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut file = &self.file;
        let written = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(bytes)).and_then(|()| {
            let length = bytes.len() as u64;
            if file.metadata()?.len() == length { Ok(()) } else { file.set_len(length) }
        });
        written.map_err(|e| Error::io("write", &self.path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_has_a_lock_at_a_time_and_a_file_says_what_was_written_last() {
        let dir = tempfile::tempdir().unwrap();
        let (path, lock) = (dir.path().join("x"), dir.path().join("lock"));
        assert!(ClaimFile::open_to_read(&path).is_err());
        let claim = || Claim::within(&lock, Duration::from_millis(20)).unwrap().unwrap();
        let first = claim();
        let write = |text: &[u8]| ClaimFile::open(&path).unwrap().write(text).unwrap();
        write(b"first, and longer");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _claim = claim();
                ClaimFile::open_to_read(&path).unwrap().read().unwrap()
            });
            write(b"second");
            drop(first);
            assert_eq!(other.join().unwrap(), b"second");
        });
        assert!(ClaimFile::open(&dir.path().join("no/folder")).is_err());
    }
}

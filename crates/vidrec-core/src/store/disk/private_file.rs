//! Files that only this user can read, and whose names are never links: those of caches. One is a lock.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::regular_file::{in_place, private};
use crate::store::per_process::PerProcess;
use vidrec_format::error::{Error, Result};

/// The most bytes that are read of a small file.
const MOST_BYTES: u64 = 4096;

/// Only one thread of this process at a time may have a lock.
static THREADS: PerProcess<Mutex<()>> = PerProcess::new();

/// The lock of a file, until this is dropped. The lock is one of POSIX: the system releases it when the process dies, and
/// a forked process does not inherit it. Such a lock does not tell the threads of a process apart, so a mutex does. To
/// close any handle of the file would release the lock, so nothing else opens the file.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
    _thread: MutexGuard<'static, ()>,
}

impl Lock {
    /// Waits until no other thread or process holds the lock of the file, and takes it. Creates the file if it does
    /// not exist. `None` if another process holds the lock longer than `at_most`.
    pub fn within(path: &Path, at_most: Duration) -> Result<Option<Self>> {
        let thread = THREADS.lock();
        let (file, begin) = (open(path)?, Instant::now());
        while !try_lock(&file).map_err(|e| Error::io("lock", path, e))? {
            if begin.elapsed() >= at_most {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Some(Lock { _file: file, _thread: thread }))
    }
}

/// Opens an existing file to read it.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    in_place(OpenOptions::new().read(true)).open(path)
}

/// Opens an existing file to write to it.
pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
    in_place(OpenOptions::new().write(true)).open(path)
}

/// Creates a file, which must not exist.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Makes a file longer, or cuts it.
pub(crate) fn set_length(file: &File, length: u64) -> io::Result<()> {
    file.set_len(length)
}

/// Writes a file that appears when it is complete. It has the name `temporary` before.
pub(crate) fn put(temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(temporary);
    file?.write_all(bytes)?;
    std::fs::rename(temporary, path)
}

/// Opens a small file that only this user can read, and creates it if it does not exist.
pub(crate) fn open(path: &Path) -> Result<File> {
    let opened = private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path);
    opened.map_err(|e| Error::io("open", path, e))
}

/// Reads a small file.
pub(crate) fn read(path: &Path) -> Result<String> {
    let mut text = Vec::new();
    let read = open_to_read(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
    read.map_err(|e| Error::io("read", path, e))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes to a position of a small file.
pub(crate) fn write(mut file: &File, path: &Path, at: u64, text: &str) -> Result<()> {
    let written = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(text.as_bytes()));
    written.map_err(|e| Error::io("write", path, e))
}

#[cfg(unix)]
fn try_lock(file: &File) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;

    match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

#[cfg(not(unix))]
fn try_lock(_: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

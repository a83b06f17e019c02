//! A lock that lets only one process at a time write in a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::location::refuse_to_write;
use crate::{Error, Result};

const NAME: &str = ".vidrec.lock";

/// A lock on a folder, held while a data set is written there. The system releases it when a process dies.
///
/// The lock file is removed at the end. A lock file that a killed process left behind is reused.
#[derive(Debug)]
pub(crate) struct FolderLock {
    // Keeps the file locked.
    _file: File,
    path: PathBuf,
    /// Whether the data set here is what an interrupted run wrote, and was completed under this lock.
    pub completed: bool,
}

impl FolderLock {
    /// Locks `dir`, and creates it if it does not exist.
    pub fn take(dir: &Path) -> Result<Self> {
        Self::try_take(dir)?.ok_or_else(|| {
            Error::usage("another process is writing a data set here")
                .file(dir)
                .help("wait until it is done, or write to another folder")
        })
    }

    /// Like [`take`](Self::take); `None` if another process holds the lock.
    pub fn try_take(dir: &Path) -> Result<Option<Self>> {
        refuse_to_write(dir)?;
        fs::create_dir_all(dir).map_err(|e| Error::io("create the folder", dir, e))?;
        let path = dir.join(NAME);
        let io = |e| Error::io("create", &path, e);
        loop {
            let file = match OpenOptions::new().write(true).create(true).truncate(false).open(&path) {
                // Its former owner has removed the folder in the meantime.
                Err(e) if e.kind() == io::ErrorKind::NotFound && !dir.exists() => {
                    fs::create_dir_all(dir).map_err(|e| Error::io("create the folder", dir, e))?;
                    continue;
                }
                file => file.map_err(io)?,
            };
            match try_lock(&file) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(e) => return Err(io(e)),
            }
            if is_still_named(&file, &path).map_err(io)? {
                return Ok(Some(FolderLock { _file: file, path, completed: false }));
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Best effort: a lock file that stays blocks nobody.
        let _ = fs::remove_file(&self.path);
    }
}

/// Tries to lock an open file. Returns false if another process holds the lock.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// Whether `path` still names the open file. Its former owner may have renamed or removed it before we locked it.
#[cfg(unix)]
pub(crate) fn is_still_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (ours.dev(), ours.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// On other systems, no other process can rename an open file.
#[cfg(not(unix))]
pub(crate) fn is_still_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_waits_and_nothing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let first = FolderLock::take(dir.path()).unwrap();
        let e = FolderLock::take(dir.path()).unwrap_err();
        assert!(e.to_string().contains("another process"), "{e}");
        drop(first);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        fs::write(dir.path().join(NAME), b"left by a killed process").unwrap();
        FolderLock::take(dir.path()).unwrap();
    }
}

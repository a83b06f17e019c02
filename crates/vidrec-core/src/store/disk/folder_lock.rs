//! A lock that lets only one process at a time write in a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::folder::refuse_file;
use super::regular_file::{Links, is_same_file, open_regular, open_with};
use crate::store::location::refuse_to_write;
use vidrec_format::error::{Error, Result};

const NAME: &str = ".vidrec.lock";
/// The number of attempts while other processes remove the folder or check its lock.
const TRIES: u32 = 1000;

/// A lock on a folder, held while a data set is written there. The system releases it when a process dies.
///
/// The lock file is removed at the end. A lock file that a killed process left behind is reused.
#[derive(Debug)]
pub struct FolderLock {
    // Keeps the file locked.
    _file: File,
    path: PathBuf,
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
        let path = dir.join(NAME);
        let io = |e| Error::io("create", &path, e);
        for _ in 0..TRIES {
            match fs::create_dir_all(dir) {
                // Other processes may remove empty parents meanwhile.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => {
                    refuse_file(dir)?;
                    return Err(Error::io("create the folder", dir, e));
                }
                Ok(()) => {}
            }
            let mut how = OpenOptions::new();
            let opened = open_with(&path, Links::Refuse, how.write(true).create(true).truncate(false))?;
            // Its former owner may have removed the folder.
            let Some(file) = opened else { continue };
            match is_taken(file.try_lock()).map_err(io)? {
                true if is_still_named(&file, &path).map_err(io)? => return Ok(Some(FolderLock { _file: file, path })),
                true => {}
                // A process that checks whether the lock is held has it for a moment.
                false if is_looked_at(&file) => std::thread::sleep(Duration::from_millis(1)),
                false => return Ok(None),
            }
        }
        Err(io(io::ErrorKind::NotFound.into()))
    }
}

/// Whether another process is writing a data set in `dir`. This takes the lock from no process.
pub fn is_being_written(dir: &Path) -> bool {
    let Ok(file) = open_regular(&dir.join(NAME), Links::Refuse) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Whether all processes that hold an open file's lock only check it.
fn is_looked_at(file: &File) -> bool {
    file.try_lock_shared().is_ok_and(|()| file.unlock().is_ok())
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Best effort: a lock file that stays blocks no process.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether an attempt to lock a file succeeded. Returns false if another process holds the lock.
pub(crate) fn is_taken(tried: std::result::Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// Whether `path` still names the open file. Its former owner may have renamed or removed it before we locked it.
pub(crate) fn is_still_named(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok(is_same_file(&named, &ours)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn whoever_looks_takes_a_lock_from_nobody() {
        let _starts = crate::process_start_lock::none();
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), b"").unwrap();
        let left = fs::File::open(dir.path().join(NAME)).unwrap();
        left.lock_shared().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| left.unlock());
            FolderLock::take(dir.path()).unwrap();
        });
    }

    #[test]
    #[cfg(unix)]
    fn a_lock_that_is_a_link_leads_nowhere() {
        let _starts = crate::process_start_lock::none();
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join(NAME)).unwrap();
        assert!(FolderLock::take(dir.path()).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }
}

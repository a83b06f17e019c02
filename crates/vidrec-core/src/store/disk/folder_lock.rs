//! A lock that lets only one process at a time write in a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::regular_file::open_regular;
use super::regular_file::{Links, open_with};
use crate::store::location::refuse_to_write;
use vidrec_format::error::{Error, Result};

const NAME: &str = ".vidrec.lock";
/// The number of times that a folder is created again when others remove it.
const CREATIONS: u32 = 100;

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
        create(dir)?;
        let path = dir.join(NAME);
        let io = |e| Error::io("create", &path, e);
        let mut tries = 0;
        loop {
            let mut how = OpenOptions::new();
            let file = match open_with(&path, Links::Refuse, how.write(true).create(true).truncate(false))? {
                Some(file) => file,
                // Its former owner has removed the folder in the meantime.
                None if !dir.exists() || tries < CREATIONS => {
                    tries += 1;
                    create(dir)?;
                    continue;
                }
                None => return Err(io(io::ErrorKind::NotFound.into())),
            };
            match try_lock(&file) {
                Ok(true) => {}
                // A process that checks whether the lock is held has it for a moment.
                Ok(false) if is_looked_at(&file) => continue,
                Ok(false) => return Ok(None),
                Err(e) => return Err(io(e)),
            }
            if is_still_named(&file, &path).map_err(io)? {
                return Ok(Some(FolderLock { _file: file, path }));
            }
        }
    }
}

/// Whether another process is writing a data set in `dir`. This takes the lock from no process.
pub fn is_being_written(dir: &Path) -> bool {
    let Ok(file) = open_regular(&dir.join(NAME), Links::Refuse) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Creates a folder and its missing parents. Other processes may remove empty ones meanwhile.
fn create(dir: &Path) -> Result<()> {
    let mut created = fs::create_dir_all(dir);
    for _ in 0..CREATIONS {
        match &created {
            Err(e) if e.kind() == io::ErrorKind::NotFound => created = fs::create_dir_all(dir),
            _ => break,
        }
    }
    created.map_err(|e| super::folder::refuse_file(dir).err().unwrap_or_else(|| Error::io("create the folder", dir, e)))
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

/// Other systems do not let a process rename a file that another one has open.
#[cfg(not(unix))]
pub(crate) fn is_still_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
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

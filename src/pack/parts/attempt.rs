//! The working folder of an attempt, which the next attempt finds if this one dies.

use std::fs;
use std::path::{Path, PathBuf};

use crate::disk::{FolderLock, LockName, remove_file, whole_folder};
use crate::{Error, Result};

/// Attempts of one part at the same time, on one machine or several.
const MOST: u32 = 64;

/// There while an attempt packs. An attempt that finds it knows that the one before died without a word: killed, out of
/// memory, or crashed in a codec.
const AT_WORK: &str = "at-work";

/// Folder of the data set in a working folder.
const SET: &str = "set";

/// A working folder that this attempt has for itself.
pub(super) struct Attempt {
    pub number: u32,
    pub dir: PathBuf,
    lock: FolderLock,
    /// Whether an attempt in this folder died.
    pub died: bool,
}

impl Attempt {
    /// The first working folder of the part in `attempts` that nobody uses, with what a dead attempt has left there.
    pub fn begin(attempts: &Path, part: u32) -> Result<Self> {
        for number in 1..=MOST {
            let dir = attempts.join(format!("{part:05}-{number}"));
            let Some(lock) = FolderLock::try_take(&dir)? else { continue };
            let mark = dir.join(AT_WORK);
            let died = mark.exists();
            whole_folder::put_mark(&mark)?;
            return Ok(Attempt { number, dir, lock, died });
        }
        Err(Error::usage(format!("{MOST} attempts of part {part} are at work")).file(attempts))
    }

    /// Removes what attempts of a part have left that died after they had written its receipt.
    pub fn remove_left(attempts: &Path, part: u32) -> Result<()> {
        let Ok(entries) = fs::read_dir(attempts) else { return Ok(()) };
        let prefix = format!("{part:05}-");
        let of_part = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
        for dir in of_part.map(|entry| entry.path()) {
            let Some(lock) = FolderLock::try_take(&dir)? else { continue };
            Attempt { number: 0, dir, lock, died: true }.remove()?;
        }
        Ok(())
    }

    /// Says that the attempt ended of itself, with an error.
    pub fn ended(&self) -> Result<()> {
        remove_file(&self.dir.join(AT_WORK))
    }

    /// By what others on this machine see whether the attempt is alive.
    pub fn lock_name(&self) -> Option<LockName> {
        self.lock.name()
    }

    /// The folder to pack into.
    pub fn set(&self) -> PathBuf {
        self.dir.join(SET)
    }

    /// Removes the working folder. The lock goes last: until then nobody else begins here.
    pub fn remove(self) -> Result<()> {
        whole_folder::remove(&self.set(), &[])?;
        self.ended()?;
        drop(self.lock);
        // Another attempt may have begun here in the meantime.
        whole_folder::remove_if_empty(&self.dir);
        Ok(())
    }
}

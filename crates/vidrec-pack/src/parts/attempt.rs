//! The working folder of an attempt. If the attempt dies, the next one finds the folder.

use std::fs;
use std::path::{Path, PathBuf};

use vidrec_format::error::{Error, Result};
use vidrec_store::disk::{FolderLock, LockName, remove_file, whole_folder};

/// The most attempts of one part at the same time, on one machine or several.
const MOST: u32 = 64;

/// The mark that exists while an attempt packs. An attempt that finds it knows that the one before died without a
/// message: it was killed, ran out of memory, or crashed in a codec.
const AT_WORK: &str = "at-work";

/// The folder of the data set inside a working folder.
const SET: &str = "set";

/// A working folder that only this attempt uses.
pub(super) struct Attempt {
    pub number: u32,
    pub dir: PathBuf,
    lock: FolderLock,
    /// Whether an earlier attempt in this folder died.
    pub died: bool,
}

impl Attempt {
    /// Takes the first working folder of the part in `attempts` that nobody uses, with anything that a dead
    /// attempt left in it.
    pub fn begin(attempts: &Path, part: u32) -> Result<Self> {
        for number in 1..=MOST {
            let dir = attempts.join(format!("{part:05}-{number}"));
            let Some(lock) = FolderLock::try_take(&dir)? else { continue };
            let mark = dir.join(AT_WORK);
            let died = mark.exists();
            whole_folder::put_mark(&mark)?;
            return Ok(Attempt { number, dir, lock, died });
        }
        Err(Error::usage(format!("{MOST} attempts of part {part} are already running")).file(attempts))
    }

    /// Removes what attempts of a part left behind when they died after they had written its receipt.
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

    /// Removes the mark, because the attempt itself ended with an error.
    pub fn ended(&self) -> Result<()> {
        remove_file(&self.dir.join(AT_WORK))
    }

    /// Returns the lock that shows others on this machine whether the attempt is alive.
    pub fn lock_name(&self) -> Option<LockName> {
        self.lock.name()
    }

    /// Returns the folder to pack into.
    pub fn set(&self) -> PathBuf {
        self.dir.join(SET)
    }

    /// Removes the working folder. The lock goes last, so nobody else begins here before.
    pub fn remove(self) -> Result<()> {
        whole_folder::remove(&self.set(), &[])?;
        self.ended()?;
        drop(self.lock);
        // Another attempt may have begun here in the meantime.
        whole_folder::remove_if_empty(&self.dir);
        Ok(())
    }
}

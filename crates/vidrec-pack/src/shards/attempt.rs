//! The folder in which a process writes shards until they are complete.

use std::path::{Path, PathBuf};

use vidrec_core::store::disk::{FolderLock, folder};
use vidrec_format::error::{Error, Result};

/// The most processes that pack shards of a plan at the same time in one folder.
const MOST: u32 = 1024;

/// A working folder that only this process uses.
pub(super) struct Attempt {
    pub number: u32,
    pub dir: PathBuf,
    lock: FolderLock,
}

impl Attempt {
    /// Takes the first working folder that no process uses. What a killed process left there is removed.
    pub fn begin(attempts: &Path) -> Result<Self> {
        for number in 1..=MOST {
            let dir = attempts.join(number.to_string());
            let Some(lock) = FolderLock::try_take(&dir)? else { continue };
            let attempt = Attempt { number, dir, lock };
            folder::remove(&attempt.shard(), &[])?;
            folder::create(&attempt.shard())?;
            return Ok(attempt);
        }
        Err(Error::usage(format!("{MOST} processes already pack shards of this plan")).file(attempts))
    }

    /// Returns the folder of the open shard.
    pub fn shard(&self) -> PathBuf {
        self.dir.join("shard")
    }

    /// Removes the working folder. The lock goes last, so no other process begins here before.
    pub fn remove(self) -> Result<()> {
        folder::remove(&self.shard(), &[])?;
        drop(self.lock);
        // Another process may have begun here in the meantime.
        folder::remove_if_empty(&self.dir);
        Ok(())
    }
}

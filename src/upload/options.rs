//! What is uploaded, and how.

use std::path::PathBuf;

use crate::Storage;
use crate::disk::own_folder;

/// Options of [`push`](crate::push).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PushOptions {
    /// How the storage is reached. Its cache is not used.
    pub storage: Storage,
    /// Replace another data set that is already there. Off by default: then it is an error.
    pub overwrite: bool,
    /// Nobody else publishes at this location at the same time, so the store need not keep publishers apart. Off by
    /// default: a store that cannot do that is refused.
    pub only_publisher: bool,
}

/// Options of [`write_remote`](crate::write_remote).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteOutput {
    /// As [`PushOptions::storage`].
    pub storage: Storage,
    /// A folder of this machine with room for the whole output, which is written first to a folder in it that no other user
    /// can enter. Default `None`: `TMPDIR`, or else the user's cache folder (`$XDG_CACHE_HOME/vidrec`, `~/.cache/vidrec`).
    pub scratch: Option<PathBuf>,
    /// As [`PushOptions::overwrite`].
    pub overwrite: bool,
    /// As [`PushOptions::only_publisher`].
    pub only_publisher: bool,
}

impl RemoteOutput {
    /// The folder in which the output is made first: [`scratch`](Self::scratch), or its default.
    pub fn scratch_folder(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(own_folder::for_scratch)
    }

    pub(super) fn push(&self) -> PushOptions {
        let RemoteOutput { storage, overwrite, only_publisher, .. } = self.clone();
        PushOptions { storage, overwrite, only_publisher }
    }
}

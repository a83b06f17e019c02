//! A file that only grows, and is on the disk after each piece.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::folder::{self, sync_folder};
use crate::{Error, Result};

#[derive(Debug)]
pub(crate) struct LogFile {
    file: File,
    path: PathBuf,
}

impl LogFile {
    /// Begins an empty file, in place of one that is there.
    pub fn create(path: &Path) -> Result<Self> {
        let mut how = OpenOptions::new();
        let file = how.write(true).create(true).truncate(true).open(path).map_err(|e| Error::io("create", path, e))?;
        sync_folder(folder::folder_of(path))?;
        Ok(LogFile { file, path: path.to_owned() })
    }

    /// Continues a file that is right up to byte `end`; the rest is cut off.
    pub fn reopen(path: &Path, end: u64) -> Result<Self> {
        let io = |e| Error::io("continue", path, e);
        let mut file = OpenOptions::new().write(true).open(path).map_err(io)?;
        file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end))).map_err(io)?;
        Ok(LogFile { file, path: path.to_owned() })
    }

    /// Adds to the end and brings it to the disk.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| Error::io("write", &self.path, e))?;
        self.file.sync_all().map_err(|e| Error::io("bring to the disk", &self.path, e))
    }

    /// Removes the file at `path`, if there is one.
    pub fn remove(path: &Path) -> Result<()> {
        if fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
        folder::remove(path)?;
        sync_folder(folder::folder_of(path))
    }
}

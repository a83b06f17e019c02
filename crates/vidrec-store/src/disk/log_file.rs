//! A file that only grows. Each append is synced to the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::folder::{self, sync_folder};
use super::regular_file::{Links, open_with};
use vidrec_format::error::{Error, Result};

#[derive(Debug)]
pub struct LogFile {
    file: File,
    path: PathBuf,
}

impl LogFile {
    /// Creates an empty file. An existing file is emptied.
    pub fn create(path: &Path) -> Result<Self> {
        let file = open(path, OpenOptions::new().write(true).create(true).truncate(true))?;
        sync_folder(folder::folder_of(path))?;
        Ok(LogFile { file, path: path.to_owned() })
    }

    /// Opens a file that is valid up to byte `end`, and truncates it there.
    pub fn reopen(path: &Path, end: u64) -> Result<Self> {
        let io = |e| Error::io("reopen", path, e);
        let mut file = open(path, OpenOptions::new().write(true))?;
        file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end))).map_err(io)?;
        Ok(LogFile { file, path: path.to_owned() })
    }

    /// Appends to the file and syncs it to the disk.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| Error::io("write", &self.path, e))?;
        self.file.sync_all().map_err(|e| Error::io("sync to the disk", &self.path, e))
    }

    /// Removes the file at `path` if it exists.
    pub fn remove(path: &Path) -> Result<()> {
        if fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
        folder::remove(path)?;
        sync_folder(folder::folder_of(path))
    }
}

fn open(path: &Path, how: &mut OpenOptions) -> Result<File> {
    let missing = || Error::io("open the file", path, std::io::ErrorKind::NotFound.into());
    open_with(path, Links::Refuse, how)?.ok_or_else(missing)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("log"));
        fs::write(&file, b"of somebody else").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(LogFile::create(&link).is_err() && LogFile::reopen(&link, 0).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"of somebody else");
        LogFile::remove(&link).unwrap();
        LogFile::create(&link).unwrap().append(b"a line").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"of somebody else");
    }
}

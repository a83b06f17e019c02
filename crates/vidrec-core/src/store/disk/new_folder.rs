//! A folder that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::folder::{folder_of, refuse_file, sync_folder};
use super::folder_lock::{is_still_named, is_taken};
use crate::store::location::refuse_to_write;
use vidrec_format::error::{Error, Result};

/// The amount that was written into a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Number of files.
    pub files: u64,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// A folder that is written beside its final place. Files are written to `.NAME.partial`, and
/// [`publish`](Self::publish) renames it. If this value is dropped before, it removes the partial folder. A partial
/// folder that a killed process left is reused.
pub struct NewFolder {
    temporary: PathBuf,
    path: PathBuf,
    published: bool,
    written: Written,
    // Keeps the folder locked.
    _locked: Option<File>,
}

impl NewFolder {
    /// Starts a folder at `path`, which must not exist or must be an empty folder.
    pub fn create(path: &Path) -> Result<Self> {
        refuse_to_write(path)?;
        refuse_file(path)?;
        let name = path.file_name().ok_or_else(|| Error::usage("not a valid name for a folder").file(path))?;
        let parent = folder_of(path);
        fs::create_dir_all(parent).map_err(|e| Error::io("create the folder", parent, e))?;
        let temporary = parent.join(format!(".{}.partial", name.to_string_lossy()));
        let locked = begin(&temporary)?;
        let written = Written::default();
        let folder = NewFolder { temporary, path: path.to_owned(), published: false, written, _locked: locked };
        if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Error::usage("the folder is not empty").file(path).help("choose a new folder"));
        }
        Ok(folder)
    }

    /// Creates a file of this name, in the folder or in one below it.
    pub fn file(&self, name: impl AsRef<Path>) -> Result<NewFile> {
        let path = self.temporary.join(name);
        let folder = path.parent().unwrap_or(&self.temporary);
        fs::create_dir_all(folder).map_err(|e| Error::io("create the folder", folder, e))?;
        let file = File::create_new(&path).map_err(|e| Error::io("create the file", &path, e))?;
        Ok(NewFile { out: BufWriter::with_capacity(1 << 18, file), path, bytes: 0 })
    }

    /// Completes a file and counts it. Where the system can sync a whole file system, [`publish`](Self::publish) syncs
    /// the file: an export may have a million small files.
    pub fn finish(&mut self, file: NewFile) -> Result<()> {
        self.written.files += 1;
        self.written.bytes += file.bytes;
        let written = file.out.into_inner().map_err(io::IntoInnerError::into_error);
        let synced = written.and_then(|file| if cfg!(target_os = "linux") { Ok(()) } else { file.sync_all() });
        synced.map_err(|e| Error::io("write", &file.path, e))
    }

    /// Writes a complete file.
    pub fn write(&mut self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        let mut file = self.file(name)?;
        file.write(bytes)?;
        self.finish(file)
    }

    /// Makes a hard link to a file, or a symbolic link if that is not possible. Returns whether it is symbolic. The
    /// bytes of the file are not counted.
    pub fn link(&mut self, from: &Path, name: impl AsRef<Path>) -> Result<bool> {
        self.written.files += 1;
        link(from, &self.temporary.join(name))
    }

    /// Syncs everything to the disk, and renames the folder to its final name.
    pub fn publish(mut self) -> Result<Written> {
        #[cfg(target_os = "linux")]
        File::open(&self.temporary)
            .and_then(|folder| Ok(rustix::fs::syncfs(folder)?))
            .map_err(|e| Error::io("sync to the disk", &self.temporary, e))?;
        sync_folder(&self.temporary)?;
        #[cfg(not(unix))]
        let _ = fs::remove_dir(&self.path);
        fs::rename(&self.temporary, &self.path).map_err(|e| Error::io("rename the folder", &self.path, e))?;
        self.published = true;
        sync_folder(folder_of(&self.path))?;
        Ok(self.written)
    }
}

/// Makes a hard link, or a symbolic link if that is not possible. Returns whether it is symbolic.
fn link(from: &Path, to: &Path) -> Result<bool> {
    let from = fs::canonicalize(from).map_err(|e| Error::io("find the file", from, e))?;
    let Err(hard) = fs::hard_link(&from, to) else { return Ok(false) };
    let failed = |e| Error::io(&format!("create a link to {}", from.display()), to, e);
    if matches!(hard.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return Err(failed(hard));
    }
    #[cfg(unix)]
    let soft = std::os::unix::fs::symlink(&from, to);
    #[cfg(not(unix))]
    let soft: io::Result<()> = Err(io::ErrorKind::Unsupported.into());
    soft.map(|()| true).map_err(|_| failed(hard))
}

/// Creates an empty folder and locks it. A folder that a killed process left behind is emptied.
fn begin(temporary: &Path) -> Result<Option<File>> {
    let io = |e| Error::io("create the folder", temporary, e);
    loop {
        fs::create_dir_all(temporary).map_err(io)?;
        // Other systems cannot open a folder, and so cannot lock it.
        let folder = if cfg!(unix) { Some(File::open(temporary).map_err(io)?) } else { None };
        if let Some(folder) = &folder {
            if !is_taken(folder.try_lock()).map_err(io)? {
                let e = Error::usage("another process is writing this folder").file(temporary);
                return Err(e.help("wait until it is done"));
            }
            if !is_still_named(folder, temporary).map_err(io)? {
                continue;
            }
        }
        if fs::read_dir(temporary).map_err(io)?.next().is_none() {
            return Ok(folder);
        }
        fs::remove_dir_all(temporary).map_err(|e| Error::io("remove the leftover folder", temporary, e))?;
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if !self.published {
            // Best effort: the next writer of the same folder replaces a partial folder that stays.
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

/// A file of a [`NewFolder`], while it is written.
pub struct NewFile {
    out: BufWriter<File>,
    path: PathBuf,
    /// Length so far.
    pub bytes: u64,
}

impl NewFile {
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|e| Error::io("write", &self.path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut folder = NewFolder::create(&path).unwrap();
        folder.write("a/b.txt", b"text").unwrap();
        assert!(!path.exists());
        assert!(NewFolder::create(&path).is_err_and(|e| e.to_string().contains("another process")));
        assert_eq!(folder.publish().unwrap(), Written { files: 1, bytes: 4 });
        assert_eq!(fs::read(path.join("a/b.txt")).unwrap(), b"text");
        assert!(NewFolder::create(&path).is_err_and(|e| e.to_string().contains("the folder is not empty")));

        let other = dir.path().join("other");
        fs::create_dir(dir.path().join(".other.partial")).unwrap();
        fs::write(dir.path().join(".other.partial/left"), b"by a killed process").unwrap();
        let folder = NewFolder::create(&other).unwrap();
        assert!(!folder.temporary.join("left").exists());
        drop(folder);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }
}

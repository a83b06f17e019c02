//! A folder that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::folder::{folder_of, refuse_file, sync_folder};
use super::folder_lock::{is_still_named, try_lock};
use super::link;
use super::system::{exchange, sync_file_system};
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
    /// Whether some written files may not be on the disk yet.
    unsynced: bool,
    // Keeps the folder locked.
    _locked: Option<File>,
}

impl NewFolder {
    /// Starts a folder at `path`, which must not exist or must be an empty folder.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = Self::replace(path)?;
        if path.exists() {
            let mut entries = fs::read_dir(path).map_err(|e| Error::io("list the folder", path, e))?;
            if entries.next().is_some() {
                return Err(Error::usage("the folder is not empty").file(path).help("choose a new folder"));
            }
        }
        Ok(folder)
    }

    /// Like [`create`](Self::create), but replaces an existing folder.
    pub fn replace(path: &Path) -> Result<Self> {
        refuse_to_write(path)?;
        refuse_file(path)?;
        let name = path.file_name().ok_or_else(|| Error::usage("not a valid name for a folder").file(path))?;
        let parent = folder_of(path);
        fs::create_dir_all(parent).map_err(|e| Error::io("create the folder", parent, e))?;
        let temporary = parent.join(format!(".{}.partial", name.to_string_lossy()));
        let locked = begin(&temporary)?;
        undo(path, &aside(path)).map_err(|e| Error::io("restore the folder", path, e))?;
        Ok(NewFolder {
            temporary,
            path: path.to_owned(),
            published: false,
            written: Written::default(),
            unsynced: false,
            _locked: locked,
        })
    }

    /// The path at which a file of this name is written for now.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.temporary.join(name)
    }

    /// Creates a file of this name, in the folder or in one below it.
    pub fn file(&self, name: impl AsRef<Path>) -> Result<NewFile> {
        let path = self.join(name);
        let folder = path.parent().unwrap_or(&self.temporary);
        fs::create_dir_all(folder).map_err(|e| Error::io("create the folder", folder, e))?;
        let file = fs::File::create_new(&path).map_err(|e| Error::io("create the file", &path, e))?;
        Ok(NewFile { out: BufWriter::with_capacity(1 << 18, file), path, bytes: 0 })
    }

    /// Completes a file and counts it.
    pub fn finish(&mut self, file: NewFile) -> Result<()> {
        self.count(file.bytes);
        let written = file.out.into_inner().map_err(std::io::IntoInnerError::into_error).and_then(|f| f.sync_all());
        written.map_err(|e| Error::io("sync to the disk", &file.path, e))
    }

    /// Writes a complete file.
    pub fn write(&mut self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        let mut file = self.file(name)?;
        file.write(bytes)?;
        self.finish(file)
    }

    /// Writes a complete file, but leaves the sync to [`publish`](Self::publish). Meant for many small files.
    pub fn write_many(&mut self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        if cfg!(not(target_os = "linux")) {
            return self.write(name, bytes);
        }
        let mut file = self.file(name)?;
        file.write(bytes)?;
        file.out.flush().map_err(|e| Error::io("write", &file.path, e))?;
        self.unsynced = true;
        self.count(file.bytes);
        Ok(())
    }

    /// Counts a file of this name that was written by other means, and syncs it to the disk.
    pub fn adopt(&mut self, name: impl AsRef<Path>) -> Result<()> {
        let path = self.join(name);
        let synced = File::open(&path).and_then(|file| file.sync_all().and_then(|()| file.metadata()));
        self.count(synced.map_err(|e| Error::io("sync to the disk", &path, e))?.len());
        Ok(())
    }

    /// Makes a hard link to a file, or a symbolic link if that is not possible. Returns whether it is symbolic. The
    /// bytes of the file are not counted.
    pub fn link(&mut self, from: &Path, name: impl AsRef<Path>) -> Result<bool> {
        self.count(0);
        link::link(from, &self.join(name))
    }

    fn count(&mut self, bytes: u64) {
        self.written.files += 1;
        self.written.bytes += bytes;
    }

    /// Renames the folder to its final name.
    pub fn publish(mut self) -> Result<Written> {
        if self.unsynced {
            sync_file_system(&self.temporary).map_err(|e| Error::io("sync to the disk", &self.temporary, e))?;
        }
        sync_folder(&self.temporary)?;
        let failed = |e| Error::io("rename the folder", &self.path, e);
        let is_empty = fs::read_dir(&self.path).map_or(true, |mut entries| entries.next().is_none());
        if is_empty {
            #[cfg(not(unix))]
            let _ = fs::remove_dir(&self.path);
            fs::rename(&self.temporary, &self.path).map_err(failed)?;
        } else {
            swap(&self.temporary, &self.path, &aside(&self.path)).map_err(failed)?;
            let replaced = |e| Error::io("remove the replaced folder", &self.temporary, e);
            fs::remove_dir_all(&self.temporary).map_err(replaced)?;
        }
        self.published = true;
        sync_folder(folder_of(&self.path))?;
        Ok(self.written)
    }
}

/// The name of the replaced folder for a moment on systems that cannot exchange names.
fn aside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.replaced"))
}

/// Creates an empty folder and locks it. A folder that a killed process left behind is emptied.
fn begin(temporary: &Path) -> Result<Option<File>> {
    let io = |e| Error::io("create the folder", temporary, e);
    loop {
        fs::create_dir_all(temporary).map_err(io)?;
        let locked = lock(temporary)?;
        if let Some(folder) = &locked
            && !is_still_named(folder, temporary).map_err(io)?
        {
            continue;
        }
        if fs::read_dir(temporary).map_err(io)?.next().is_none() {
            return Ok(locked);
        }
        fs::remove_dir_all(temporary).map_err(|e| Error::io("remove the leftover folder", temporary, e))?;
    }
}

#[cfg(unix)]
fn lock(temporary: &Path) -> Result<Option<File>> {
    let io = |e| Error::io("lock the folder", temporary, e);
    let folder = File::open(temporary).map_err(io)?;
    if try_lock(&folder).map_err(io)? {
        return Ok(Some(folder));
    }
    Err(Error::usage("another process is writing this folder").file(temporary).help("wait until it is done"))
}

/// Other systems cannot open a folder, and so cannot lock it.
#[cfg(not(unix))]
fn lock(_: &Path) -> Result<Option<File>> {
    Ok(None)
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
    out: BufWriter<fs::File>,
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

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Exchanges the names of the folders `new` and `old`, in one step if the system can.
///
/// On other systems, the old folder has the name `aside` for a moment. [`undo`] restores it after a crash in that
/// moment.
pub(super) fn swap(new: &Path, old: &Path, aside: &Path) -> io::Result<()> {
    match exchange(new, old) {
        Err(e) if matches!(e.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            fs::rename(old, aside)?;
            fs::rename(new, old)?;
            fs::rename(aside, new)
        }
        exchanged => exchanged,
    }
}

/// Restores a folder that an interrupted [`swap`] left aside.
pub(super) fn undo(old: &Path, aside: &Path) -> io::Result<()> {
    if aside.exists() && !old.exists() { fs::rename(aside, old) } else { Ok(()) }
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
        drop(NewFolder::create(&other).unwrap());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_replaced_whole_and_a_leftover_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("old"), b"").unwrap();
        fs::create_dir(dir.path().join(".out.partial")).unwrap();
        fs::write(dir.path().join(".out.partial/left"), b"by a killed process").unwrap();
        let mut folder = NewFolder::replace(&path).unwrap();
        folder.write("new", b"").unwrap();
        assert!(path.join("old").exists());
        folder.publish().unwrap();
        let names: Vec<_> = fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["new"]);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }
}

#[cfg(test)]
mod swap_tests {
    use super::*;

    #[test]
    fn each_gets_the_name_of_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b, aside] = ["a", "b", "aside"].map(|name| dir.path().join(name));
        for (folder, file) in [(&a, "new"), (&b, "old")] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join(file), "").unwrap();
        }
        swap(&a, &b, &aside).unwrap();
        assert!(b.join("new").exists() && a.join("old").exists() && !aside.exists());
        // As after a crash on a system that cannot exchange names.
        fs::rename(&b, &aside).unwrap();
        undo(&b, &aside).unwrap();
        assert!(b.join("new").exists());
        undo(&b, &aside).unwrap();
    }
}

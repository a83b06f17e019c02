//! A file that appears under its name only when it is complete.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Writes to `.NAME.tmp` in the same folder; [`sync`](Self::sync) and then [`publish`](Self::publish) make it `NAME`.
///
/// The temporary file is locked while it is written, so a second writer of the same name is refused, and one that a
/// killed process left behind is taken over. Dropped before `publish`, it is removed.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    out: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
    published: bool,
}

impl AtomicFile {
    pub fn create(path: &Path) -> Result<Self> {
        let name = path.file_name().ok_or_else(|| Error::usage("not a file name").file(path))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".tmp");
        let temporary = path.with_file_name(hidden);
        let file = open_locked(&temporary)?;
        let out = BufWriter::with_capacity(1 << 20, file);
        Ok(AtomicFile { out, temporary, path: path.to_owned(), published: false })
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|e| Error::io("write", &self.temporary, e))
    }

    /// Replaces the first bytes of the file, which were written before.
    pub fn patch_start(&mut self, bytes: &[u8]) -> Result<()> {
        let patch = |out: &mut BufWriter<File>| -> io::Result<()> {
            out.seek(SeekFrom::Start(0))?;
            out.write_all(bytes)?;
            out.seek(SeekFrom::End(0)).map(drop)
        };
        patch(&mut self.out).map_err(|e| Error::io("write", &self.temporary, e))
    }

    /// Makes sure that what was written is on the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all())
            .map_err(|e| Error::io("bring to the disk", &self.temporary, e))
    }

    /// Gives the file its name, in place of a file that had it. Call [`sync`](Self::sync) before.
    pub fn publish(mut self) -> Result<()> {
        fs::rename(&self.temporary, &self.path).map_err(|e| Error::io("give the file its name", &self.path, e))?;
        self.published = true;
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.published {
            // Best effort: a temporary file that stays is taken over by the next writer of the same name.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn open_locked(temporary: &Path) -> Result<File> {
    let io = |e| Error::io("create", temporary, e);
    loop {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(temporary).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::usage("another process is writing this file")
                    .file(temporary)
                    .help("wait until it is done, or write to another folder"));
            }
            Err(TryLockError::Error(e)) => return Err(io(e)),
        }
        if is_still_named(&file, temporary).map_err(io)? {
            file.set_len(0).map_err(io)?;
            return Ok(file);
        }
    }
}

/// Whether `path` still names the open file: its former owner may have published it between our open and our lock.
#[cfg(unix)]
fn is_still_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (ours.dev(), ours.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Elsewhere an open file cannot be renamed by another process.
#[cfg(not(unix))]
fn is_still_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Writes a small file whole: temporary name, sync, rename.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.sync()?;
    file.publish()
}

/// Makes renames and removals in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let opened = File::open(folder).and_then(|f| f.sync_all());
        opened.map_err(|e| Error::io("bring the folder to the disk", folder, e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appears_only_when_published() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"0123").unwrap();
        file.patch_start(b"ab").unwrap();
        file.write_all(b"4").unwrap();
        file.sync().unwrap();
        assert!(!path.exists());
        file.publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ab234");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn a_second_writer_is_refused_and_a_leftover_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let first = AtomicFile::create(&path).unwrap();
        assert!(AtomicFile::create(&path).unwrap_err().to_string().contains("another process"));
        drop(first);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        fs::write(dir.path().join(".a.tmp"), b"left by a killed process").unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}

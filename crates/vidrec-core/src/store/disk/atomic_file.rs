//! Files that appear under their names only when they are complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::folder;
use super::folder_lock::{is_still_named, is_taken};
use super::regular_file::{Links, open_with, refuse_others};
use crate::store::location::refuse_to_write;
use vidrec_format::error::{Error, Result};

/// Writes to `.NAME.tmp` in the same folder; [`sync`](Self::sync) and then [`publish`](Self::publish) make it `NAME`.
///
/// The temporary file is locked while it is written, so a second writer of the same name gets an error. A file that a
/// killed process left behind is replaced. If this is dropped before `publish`, it removes the file, unless
/// the temporary file is marked as kept.
#[derive(Debug)]
pub struct AtomicFile {
    out: BufWriter<File>,
    pub temporary: Temporary,
    path: PathBuf,
}

/// A temporary file that is removed on drop, unless it is marked as kept.
#[derive(Debug)]
pub struct Temporary {
    pub path: PathBuf,
    pub keep: bool,
}

impl Temporary {
    /// A complete file that stays where it is until it is renamed.
    pub fn kept(path: PathBuf) -> Self {
        Temporary { path, keep: true }
    }

    /// Renames the file, which then stays. A file of the new name is replaced.
    pub fn rename(&mut self, to: &Path) -> Result<()> {
        fs::rename(&self.path, to).map_err(|e| Error::io("rename the file", to, e))?;
        (self.path, self.keep) = (to.to_owned(), true);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.keep {
            // Best effort: the next writer of the same name replaces a temporary file that stays.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl AtomicFile {
    pub fn create(path: &Path) -> Result<Self> {
        refuse_to_write(path)?;
        refuse_others(path)?;
        let temporary = temporary_name(path)?;
        Ok(Self::with_file(open_locked(&temporary, true)?, temporary, path))
    }

    /// Like [`create`](Self::create), but keeps the contents of the temporary file. The next write goes to its start.
    pub fn reopen(path: &Path) -> Result<Self> {
        let temporary = temporary_name(path)?;
        Ok(Self::with_file(open_locked(&temporary, false)?, temporary, path))
    }

    fn with_file(file: File, temporary: PathBuf, path: &Path) -> Self {
        let out = BufWriter::with_capacity(1 << 20, file);
        AtomicFile { out, temporary: Temporary { path: temporary, keep: false }, path: path.to_owned() }
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|e| Error::io("write", &self.temporary.path, e))
    }

    /// Reads the next bytes of a file that was [reopened](Self::reopen) and not yet written to. Returns 0 at its end.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        loop {
            match io::Read::read(self.out.get_mut(), bytes) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|e| Error::io("read", &self.temporary.path, e)),
            }
        }
    }

    /// Truncates the file to `length` bytes. The next write goes there.
    pub fn cut(&mut self, length: u64) -> Result<()> {
        let file = self.out.get_mut();
        file.set_len(length)
            .and_then(|()| file.seek(SeekFrom::Start(length)).map(drop))
            .map_err(|e| Error::io("truncate", &self.temporary.path, e))
    }

    /// Makes sure that everything written is on the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all())
            .map_err(|e| Error::io("sync to the disk", &self.temporary.path, e))
    }

    /// Closes the file without renaming it, which [`publish`] does later. Call [`sync`](Self::sync) before.
    pub fn seal(self) -> Temporary {
        self.temporary
    }

    /// Renames the file to its final name, and replaces an existing file. Call [`sync`](Self::sync) before, and
    /// [`sync_folder`] or a sync of more than the folder after.
    ///
    /// [`sync_folder`]: super::folder::sync_folder
    pub fn place(self) -> Result<()> {
        let path = self.path.clone();
        self.seal().rename(&path)
    }

    /// Like [`place`](Self::place), and syncs the folder.
    pub fn publish(self) -> Result<()> {
        let path = self.path.clone();
        self.place()?;
        folder::sync_folder(folder::folder_of(&path))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a file that appears under its name only when it is complete, and replaces an existing file. Until then, it
/// has a temporary name in the same folder. If this process is killed, the next call replaces the temporary file.
///
/// # Errors
///
/// [`Io`](vidrec_format::error::ErrorKind::Io): `write` or the file system failed.
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): another process is writing the file.
///
/// ```
/// use std::io::Write;
///
/// let path = std::env::temp_dir().join(format!("vidrec-example-{}.txt", std::process::id()));
/// vidrec::write_whole(&path, |file| file.write_all(b"all of it"))?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_whole(path: impl AsRef<Path>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let path = path.as_ref();
    let mut file = AtomicFile::create(path)?;
    write(&mut file).and_then(|()| file.flush()).map_err(|e| Error::io("write", path, e))?;
    file.place()
}

/// Removes the temporary files in `dir` whose final names are `wanted`. No other process may be writing there.
pub fn remove_temporaries(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    let io = |e| Error::io("list the folder", dir, e);
    for entry in fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name();
        let of = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
        if of.is_some_and(&wanted) {
            folder::remove_file(&entry.path())?;
        }
    }
    Ok(())
}

fn temporary_name(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| Error::usage("not a file name").file(path))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".tmp");
    Ok(path.with_file_name(hidden))
}

/// Opens or creates a file, which is empty if it is to be `new`, and locks it. A file that a killed process left behind is
/// then removed rather than truncated, because it may be a hard link to a file that is in use.
fn open_locked(temporary: &Path, new: bool) -> Result<File> {
    let io = |e| Error::io("create", temporary, e);
    loop {
        let found = fs::symlink_metadata(temporary).ok().filter(|_| new);
        if found.as_ref().is_some_and(fs::Metadata::is_symlink) {
            // Only the link is removed.
            folder::remove_file(temporary)?;
            continue;
        }
        let mut how = OpenOptions::new();
        let opened = open_with(temporary, Links::Refuse, how.read(true).write(true).create(true).truncate(false))?;
        let file = opened.ok_or_else(|| io(io::ErrorKind::NotFound.into()))?;
        // Until it is locked, another process may mistake it for a leftover, or its former owner may publish it.
        if !is_taken(file.try_lock()).map_err(io)? {
            return Err(Error::usage("another process is writing this file")
                .file(temporary)
                .help("wait until it is done, or write to another folder"));
        }
        if !is_still_named(&file, temporary).map_err(io)? {
            continue;
        }
        if !new || found.is_none() && file.metadata().map_err(io)?.len() == 0 {
            return Ok(file);
        }
        folder::remove_file(temporary)?;
    }
}

/// Writes a small file atomically: write under a temporary name, sync, rename, sync the folder.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.sync()?;
    file.publish()
}

/// Renames a complete file, unless the new name exists. Returns whether it did. If several processes try, on one
/// machine or on several that share a folder, exactly one succeeds.
pub fn name_once(from: &Path, to: &Path) -> Result<bool> {
    let done = match fs::hard_link(from, to) {
        Ok(()) => true,
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => false,
        // Some servers of shared folders repeat a call whose answer was lost.
        Err(e) => {
            let there = fs::read(to).map_err(|_| Error::io("create a link", to, e))?;
            fs::read(from).is_ok_and(|own| own == there)
        }
    };
    folder::remove_file(from)?;
    folder::sync_folder(folder::folder_of(to))?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_leftover_that_is_a_second_name_costs_the_first_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (path, shared) = (dir.path().join("a"), dir.path().join("shared"));
        fs::write(&shared, b"in use").unwrap();
        fs::hard_link(&shared, dir.path().join(".a.tmp")).unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read(&shared).unwrap()), (b"new".to_vec(), b"in use".to_vec()));
    }
}

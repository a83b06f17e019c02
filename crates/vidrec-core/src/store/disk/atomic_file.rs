//! A file that appears under its name only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::folder;
use super::folder_lock::{is_still_named, try_lock};
use super::regular_file::{Links, open_if_there, open_with, refuse_others};
use crate::store::location::refuse_to_write;
use vidrec_format::error::{Error, Result};

/// Writes to `.NAME.tmp` in the same folder; [`sync`](Self::sync) and then [`publish`](Self::publish) make it `NAME`.
///
/// The temporary file is locked while it is written, so a second writer of the same name gets an error. A file that a
/// killed process left behind is replaced. If this is dropped before `publish`, it removes the file, unless
/// [`keep`](Self::keep) was called.
#[derive(Debug)]
pub struct AtomicFile {
    out: BufWriter<File>,
    temporary: Temporary,
    path: PathBuf,
}

/// A temporary file that is removed on drop, unless it is marked as kept.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    keep: bool,
}

impl Temporary {
    /// A complete file that stays where it is until it is renamed.
    pub fn kept(path: PathBuf) -> Self {
        Temporary { path, keep: true }
    }

    pub fn keep(&mut self) {
        self.keep = true;
    }

    pub fn is_kept(&self) -> bool {
        self.keep
    }

    /// Renames the file, which then stays. A file of the new name is replaced.
    pub fn rename(&mut self, to: &Path) -> Result<()> {
        fs::rename(&self.path, to).map_err(|e| Error::io("rename the file", to, e))?;
        let from = std::mem::replace(&mut self.path, to.to_owned());
        self.keep = true;
        // If both names lead to the same file, POSIX leaves both.
        if from == self.path { Ok(()) } else { folder::remove_file(&from) }
    }

    /// The temporary name of `path`, after a leftover of that name is removed.
    pub fn vacant(path: &Path) -> Result<Self> {
        let path = temporary_name(path)?;
        remove_leftover(&path)?;
        Ok(Temporary { path, keep: false })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file even if it was marked as kept.
    pub fn discard(mut self) {
        self.keep = false;
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
        Ok(Self::with_file(create_locked(&temporary)?, temporary, path))
    }

    /// Like [`create`](Self::create), but keeps the contents of the temporary file. The next write goes to its start.
    pub fn reopen(path: &Path) -> Result<Self> {
        let temporary = temporary_name(path)?;
        Ok(Self::with_file(open_locked(&temporary)?, temporary, path))
    }

    fn with_file(file: File, temporary: PathBuf, path: &Path) -> Self {
        let out = BufWriter::with_capacity(1 << 20, file);
        AtomicFile { out, temporary: Temporary { path: temporary, keep: false }, path: path.to_owned() }
    }

    /// Keeps the temporary file when this is dropped.
    pub fn keep(&mut self) {
        self.temporary.keep();
    }

    /// The path of the temporary file.
    pub fn temporary_path(&self) -> &Path {
        self.temporary.path()
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

    /// Overwrites the first bytes of the file.
    pub fn patch_start(&mut self, bytes: &[u8]) -> Result<()> {
        let patch = |out: &mut BufWriter<File>| -> io::Result<()> {
            out.seek(SeekFrom::Start(0))?;
            out.write_all(bytes)?;
            out.seek(SeekFrom::End(0)).map(drop)
        };
        patch(&mut self.out).map_err(|e| Error::io("write", &self.temporary.path, e))
    }

    /// Makes sure that everything written is on the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all())
            .map_err(|e| Error::io("sync to the disk", &self.temporary.path, e))
    }

    /// Removes the temporary file even if it was marked as kept.
    pub fn discard(mut self) {
        self.temporary.keep = false;
    }

    /// Closes the file without renaming it, which [`publish`] does later. Call [`sync`](Self::sync) before.
    pub fn seal(self) -> Temporary {
        self.temporary
    }

    /// Renames the file to its final name, and replaces an existing file. Call [`sync`](Self::sync) before, and
    /// [`sync_folder`] or a sync of more than the folder after.
    ///
    /// [`sync_folder`]: super::folder::sync_folder
    pub fn place(mut self) -> Result<()> {
        fs::rename(&self.temporary.path, &self.path).map_err(|e| Error::io("rename the file", &self.path, e))?;
        self.keep();
        Ok(())
    }

    /// Like [`place`](Self::place), and syncs the folder.
    pub fn publish(self) -> Result<()> {
        let path = self.path.clone();
        self.place()?;
        folder::sync_folder(folder::folder_of(&path))
    }

    /// SHA-256 of everything written.
    pub fn sha256(&mut self) -> Result<[u8; 32]> {
        let digest = |out: &mut BufWriter<File>| out.flush().and_then(|()| sha256_of(out.get_mut()));
        digest(&mut self.out).map_err(|e| Error::io("read", &self.temporary.path, e))
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

/// SHA-256 of a file, from its first byte to its last.
pub(super) fn sha256_of(file: &mut File) -> io::Result<[u8; 32]> {
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    file.seek(SeekFrom::Start(0))?;
    loop {
        match io::Read::read(file, &mut buffer) {
            Ok(0) => return Ok(digest.finalize().into()),
            Ok(n) => digest.update(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
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

/// Creates an empty file and locks it. A file that a killed process left behind is removed rather than truncated,
/// because it may be a hard link to a file that is in use.
fn create_locked(temporary: &Path) -> Result<File> {
    let io = |e| Error::io("create", temporary, e);
    loop {
        match OpenOptions::new().read(true).write(true).create_new(true).open(temporary) {
            Ok(file) => {
                // Until it is locked, another process may mistake it for a leftover.
                if try_lock(&file).map_err(io)? && is_still_named(&file, temporary).map_err(io)? {
                    return Ok(file);
                }
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => remove_leftover(temporary)?,
            Err(e) => return Err(io(e)),
        }
    }
}

fn remove_leftover(temporary: &Path) -> Result<()> {
    let io = |e| Error::io("remove the leftover file", temporary, e);
    if fs::symlink_metadata(temporary).is_ok_and(|meta| meta.is_symlink()) {
        // If the name is a link, only the link is removed.
        return folder::remove_file(temporary);
    }
    match open_if_there(temporary, Links::Refuse)? {
        Some(file) if !try_lock(&file).map_err(io)? => Err(is_busy(temporary)),
        Some(_) => folder::remove_file(temporary),
        None => Ok(()),
    }
}

fn is_busy(temporary: &Path) -> Error {
    Error::usage("another process is writing this file")
        .file(temporary)
        .help("wait until it is done, or write to another folder")
}

/// Opens or creates a file and locks it.
fn open_locked(temporary: &Path) -> Result<File> {
    let io = |e| Error::io("create", temporary, e);
    loop {
        let mut how = OpenOptions::new();
        let opened = open_with(temporary, Links::Refuse, how.read(true).write(true).create(true).truncate(false))?;
        let file = opened.ok_or_else(|| io(io::ErrorKind::NotFound.into()))?;
        if !try_lock(&file).map_err(io)? {
            return Err(is_busy(temporary));
        }
        // Its former owner may have published it between our open and our lock.
        if is_still_named(&file, temporary).map_err(io)? {
            return Ok(file);
        }
    }
}

/// Writes a small file atomically: write under a temporary name, sync, rename, sync the folder.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.sync()?;
    file.publish()
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

//! A file that takes only as much room on the disk as was written to it, at any positions.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::disk::folder_lock::{is_still_named, share_within, try_lock};
use crate::disk::hole;
use crate::disk::map::MappedFile;
use crate::disk::open_files::Held;
use crate::disk::regular_file::{Links, in_place, open_regular, private};
use vidrec_format::error::{Error, Result};

/// How long a process with the exclusive lock may need to remove the file.
const LONGEST_REMOVAL: Duration = Duration::from_secs(60);

/// A file of fixed length that many threads write at given positions. Its lock is shared by many handles, or held by
/// one exclusively. The system releases the locks of a process that dies.
#[derive(Debug)]
pub(crate) struct SparseFile {
    file: File,
    path: PathBuf,
}

impl SparseFile {
    /// Creates a file of `length` bytes without allocating room on the disk.
    pub fn create(path: &Path, length: u64) -> Result<Self> {
        let io = |e| Error::io("create", path, e);
        let file = private(OpenOptions::new().read(true).write(true).create_new(true)).open(path).map_err(io)?;
        file.set_len(length).map_err(io)?;
        Ok(SparseFile { file, path: path.to_owned() })
    }

    /// Opens a file; `None` if it does not exist. A link to a file elsewhere is an error.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let io = |e| Error::io("open the file", path, e);
        match std::fs::symlink_metadata(path) {
            Ok(meta) if !meta.is_file() => return Err(Error::lost("this is not a regular file").file(path)),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(io(e)),
        }
        match in_place(OpenOptions::new().read(true).write(true)).open(path) {
            Ok(file) => Ok(Some(SparseFile { file, path: path.to_owned() })),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io(e)),
        }
    }

    pub fn len(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(|e| Error::io("read the file's size", &self.path, e))?.len())
    }

    /// Bytes that the file takes on the disk; `None` if the system does not say.
    pub fn taken(&self) -> Option<u64> {
        #[cfg(unix)]
        return self.file.metadata().ok().map(|meta| std::os::unix::fs::MetadataExt::blocks(&meta) * 512);
        #[cfg(not(unix))]
        None
    }

    /// Waits until no handle holds the exclusive lock, then shares the lock. Returns false if the file has lost its
    /// name in the meantime, because its owner removed it.
    ///
    /// # Errors
    ///
    /// A handle holds the exclusive lock for longer than a removal takes.
    pub fn share(&self) -> Result<bool> {
        let io = |e| Error::io("lock", &self.path, e);
        if !share_within(&self.file, &self.path, LONGEST_REMOVAL)? {
            let e = Error::usage("another process holds the file and does not release it");
            return Err(e.file(&self.path).help("end that process (lslocks names it), or name another folder"));
        }
        is_still_named(&self.file, &self.path).map_err(io)
    }

    /// Takes the exclusive lock. Returns false if others share the lock, or if the file has lost its name. In both
    /// cases, this handle also loses the lock that it had.
    pub fn take(&self) -> Result<bool> {
        let io = |e| Error::io("lock", &self.path, e);
        Ok(try_lock(&self.file).map_err(io)? && is_still_named(&self.file, &self.path).map_err(io)?)
    }

    /// Records that the file was used now. Other files of its kind may be removed first.
    pub fn touch(&self) {
        // Best effort: without it, this file may be removed first.
        let _ = self.file.set_modified(SystemTime::now());
    }

    /// Maps the file.
    pub fn map(&self, held: Option<Held>) -> Result<MappedFile> {
        MappedFile::of(&self.file, &self.path, held)
    }

    /// Writes all of `bytes` at `at`.
    pub fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        write_all_at(&self.file, bytes, at).map_err(|e| Error::io("write", &self.path, e).at(at))
    }

    /// Returns the room of a range to the file system. The range then reads as zeros. Returns false if this system
    /// cannot.
    pub fn punch(&self, at: u64, length: u64) -> bool {
        hole::punch(&self.file, at, length).is_ok()
    }

    /// Syncs to the disk what all processes wrote.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| Error::io("sync to the disk", &self.path, e))
    }
}

/// Whether a process uses the file, as far as this process is allowed to know. It takes a lock for a moment, and
/// changes nothing.
pub(crate) fn is_in_use(path: &Path) -> bool {
    let Ok(file) = open_regular(path, Links::Refuse) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_all_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn it_takes_what_was_written_and_gives_it_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        assert!(SparseFile::open(&path).unwrap().is_none());
        let file = SparseFile::create(&path, 1 << 40).unwrap();
        assert!(SparseFile::create(&path, 1).is_err());
        assert_eq!(file.taken(), Some(0));
        file.write_at(&[7; 8192], 1 << 30).unwrap();
        file.sync().unwrap();
        assert_eq!((file.taken(), file.len().unwrap()), (Some(8192), 1 << 40));
        if file.punch(1 << 30, 4096) {
            file.sync().unwrap();
            assert_eq!((file.taken(), file.len().unwrap()), (Some(4096), 1 << 40));
        }
        std::os::unix::fs::symlink(&path, dir.path().join("link")).unwrap();
        assert!(SparseFile::open(&dir.path().join("link")).unwrap_err().to_string().contains("not a regular file"));
        assert!(SparseFile::open(dir.path()).is_err());
    }

    /// Waits until a lock is free. Another test may be starting a process, which has all locks for a moment.
    fn until(is_free: impl FnMut() -> bool) {
        assert!(std::iter::repeat_with(is_free).take(1_000_000).any(|is_free| is_free));
    }

    #[test]
    fn many_share_it_or_one_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let open = || SparseFile::open(&path).unwrap().unwrap();
        drop(SparseFile::create(&path, 1).unwrap());
        until(|| !is_in_use(&path));
        let (a, b) = (open(), open());
        assert!(a.share().unwrap() && b.share().unwrap() && !open().take().unwrap() && is_in_use(&path));
        drop(a);
        until(|| b.take().unwrap());
        assert!(is_in_use(&path));
        let late = open();
        std::fs::rename(&path, dir.path().join("y")).unwrap();
        assert!(!b.take().unwrap(), "it has lost its name");
        drop(b);
        assert!(!late.share().unwrap() && !late.take().unwrap());
    }
}

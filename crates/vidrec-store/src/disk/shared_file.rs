//! A mapped file that this process shares with others. A process may have very many such files.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::disk::map::MappedFile;
use crate::disk::open_files::{Held, Share};
use crate::disk::sparse_file::{SparseFile, is_in_use};
use vidrec_format::error::{Error, Result};
use vidrec_format::machine::Shortage;

/// Held by the thread that has opened a file only for a write.
static WRITING: Mutex<()> = Mutex::new(());

/// A shared file and its bytes. As long as this value exists, no other process gets the exclusive lock of the file.
///
/// It keeps a descriptor if there is one to spare. Otherwise the file is opened for each write, and only its map
/// keeps the lock: on Linux, a map keeps its file open.
#[derive(Debug)]
pub(crate) struct SharedFile {
    pub bytes: MappedFile,
    path: PathBuf,
    kept: Option<(SparseFile, Held)>,
}

impl SharedFile {
    /// Maps `file`, whose lock the caller shares. `maps` and `files` limit how many of both may be open.
    ///
    /// # Errors
    ///
    /// [`Resources`](vidrec_format::error::ErrorKind::Resources): there are no more maps, or no more descriptors on a
    /// system whose maps do not keep locks.
    pub fn new(file: SparseFile, path: &Path, maps: &'static Share, files: &'static Share) -> Result<Self> {
        let map = maps.take().ok_or_else(|| too_many(path, "maps", Shortage::Memory, "raise vm.max_map_count"))?;
        let bytes = file.map(Some(map))?;
        let kept = match files.take() {
            Some(held) => Some((file, held)),
            None => {
                drop(file);
                None
            }
        };
        // An empty file has no map, and no bytes that could be lost.
        if kept.is_none() && !bytes.is_empty() && !(cfg!(target_os = "linux") && is_in_use(path)) {
            let shortage = Shortage::Descriptors;
            return Err(too_many(path, "files", shortage, &shortage.help()));
        }
        Ok(SharedFile { bytes, path: path.to_owned(), kept })
    }

    /// Writes all of `bytes` at `at`.
    pub fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        self.with_file(|file| file.write_at(bytes, at))
    }

    /// Returns the room of a range to the file system. The range then reads as zeros. Returns false if this system
    /// does not support that, or if there is no descriptor for it.
    pub fn punch(&self, at: u64, length: u64) -> bool {
        self.with_file(|file| Ok(file.punch(at, length))).unwrap_or(false)
    }

    fn with_file<T>(&self, work: impl FnOnce(&SparseFile) -> Result<T>) -> Result<T> {
        if let Some((file, _)) = &self.kept {
            return work(file);
        }
        // One at a time, so that many writers do not need many descriptors. The lock protects no state that a panic
        // could leave half done.
        let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        // A locked file cannot have been removed or replaced.
        let file = SparseFile::open(&self.path)?.ok_or_else(|| Error::lost("the file is gone").file(&self.path))?;
        work(&file)
    }

    /// Drops the map and returns the file; `None` if it is gone. The file may no longer be shared.
    pub fn unmap(self) -> Result<Option<SparseFile>> {
        let SharedFile { bytes, path, kept } = self;
        drop(bytes);
        match kept {
            Some((file, _)) => Ok(Some(file)),
            None => SparseFile::open(&path),
        }
    }
}

fn too_many(path: &Path, what: &str, shortage: Shortage, help: &str) -> Error {
    Error::lost(format!("this process has too many {what} open")).file(path).blame(shortage).help(help)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    static MAPS: Share = Share::new(|| 100);
    static FILES: Share = Share::new(|| 1);
    static NONE: Share = Share::new(|| 0);

    #[test]
    fn a_map_keeps_the_lock_of_a_file_that_has_no_descriptor() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        drop(SparseFile::create(&path, 4096).unwrap());
        for files in [&FILES, &NONE] {
            let file = SparseFile::open(&path).unwrap().unwrap();
            assert!(file.share().unwrap());
            let shared = SharedFile::new(file, &path, &MAPS, files).unwrap();
            assert_eq!(shared.kept.is_some(), std::ptr::eq(files, &FILES));
            assert!(is_in_use(&path));
            shared.write_at(&[7; 10], 100).unwrap();
            assert_eq!(shared.bytes[99..111], [0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0]);
            if shared.punch(0, 4096) {
                assert_eq!(shared.bytes[99..111], [0; 12]);
            }
            let alone = shared.unmap().unwrap().unwrap();
            assert!(alone.take().unwrap());
        }
        let file = SparseFile::open(&path).unwrap().unwrap();
        let e = SharedFile::new(file, &path, &NONE, &FILES).unwrap_err();
        assert_eq!(e.kind(), vidrec_format::error::ErrorKind::Resources, "{e}");
    }
}

//! A large file in memory that the processes of one user share. The last of them removes it.
//!
//! Each process that uses the file shares its lock. The system releases the lock of a process that dies. If a process
//! gets the lock exclusively, no other process uses the file. A process only ever waits for another one that is about
//! to remove the file, and not for long.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::folder_lock::{is_still_named, try_lock};
use super::positional::{read_exact_at, write_all_at};
use super::regular_file::{in_place, private};
use super::shared_map::SharedMap;
use super::{private_folder, system};
use vidrec_format::error::{Error, Hint, Result};

/// The number of attempts while other processes create or remove the file.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);
const NEW: &str = "new-";
const SUFFIX: &str = ".planes";

/// An open file in memory, and its map.
#[derive(Debug)]
pub struct MemoryFile {
    map: SharedMap,
    file: File,
    path: PathBuf,
    /// The process that opened the file. A forked process has the file and its lock, but must not remove it.
    process: u32,
}

/// The default folder of such files.
pub const IN_MEMORY: &str = "/dev/shm";

/// The size of the file system of `dir`, which must be in memory.
pub fn room(dir: &Path) -> Result<u64> {
    let size = system::size_in_memory(dir).map_err(|e| Error::io("read the kind of file system of", dir, e))?;
    size.ok_or_else(|| {
        let e =
            Error::usage("the folder for decoded planes is not on a file system in memory").file(dir).expected("tmpfs");
        e.hint(Hint::Set("decoded_cache_dir"))
    })
}

impl MemoryFile {
    /// Opens the file `key` of `length` bytes in this user's folder in `dir`. If the file does not exist, creates it
    /// with `header` as its first bytes and zeros after them. Removes all files of this kind that no process uses.
    pub fn open(dir: &Path, key: &str, length: u64, header: &[u8]) -> Result<Self> {
        for tried in 0..TRIES {
            if tried > 0 {
                std::thread::sleep(PAUSE);
            }
            let folder = own_folder(dir)?;
            let path = folder.join(format!("{key}{SUFFIX}"));
            remove_unused(&folder, &path);
            let file = match in_place(OpenOptions::new().read(true).write(true)).open(&path) {
                Ok(file) => use_existing(file, &path, length, header)?,
                Err(e) if e.kind() == ErrorKind::NotFound => make(&folder, &path, length, header)?,
                Err(e) => return Err(Error::io("open the file", &path, e)),
            };
            let Some(file) = file else { continue };
            let (map, process) = (SharedMap::of(&file, &path)?, std::process::id());
            return Ok(MemoryFile { map, file, path, process });
        }
        Err(Error::usage("another process has been removing the file for too long").file(dir))
    }

    pub fn map(&self) -> &SharedMap {
        &self.map
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes bytes that other processes do not know of yet. If there is no memory for them, this returns an error,
    /// without a signal.
    pub fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        write_all_at(&self.file, bytes, at)
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // Best effort: the next process that opens such a file removes what stays.
            let _ = remove_if_unused(&self.file, &self.path);
            let _ = self.path.parent().map(fs::remove_dir);
        }
    }
}

/// Shares an existing file. `None` if it is being removed.
fn use_existing(file: File, path: &Path, length: u64, header: &[u8]) -> Result<Option<File>> {
    let io = |e| Error::io("lock", path, e);
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Ok(None),
        Err(fs::TryLockError::Error(e)) => return Err(io(e)),
    }
    if !is_still_named(&file, path).map_err(io)? {
        return Ok(None);
    }
    let found = file.metadata().map_err(io)?.len();
    let mut begin = vec![0; header.len()];
    if found == length && read_exact_at(&file, &mut begin, 0).is_ok() && begin == header {
        return Ok(Some(file));
    }
    if remove_if_unused(&file, path).map_err(io)? {
        return Ok(None);
    }
    let e = Error::usage("other processes store decoded planes of this data set with a different limit").file(path);
    let e = e.expected(format!("{length} bytes")).found(format!("{found} bytes"));
    Err(e.help("give all processes on the machine the same limit").hint(Hint::Set("decoded_cache")))
}

/// Creates the file. `None` if another process was first.
fn make(folder: &Path, path: &Path, length: u64, header: &[u8]) -> Result<Option<File>> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("{NEW}{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
    let new = folder.join(name);
    let io = |e| Error::io("make the file", path, e);
    let options = private(OpenOptions::new().read(true).write(true).create_new(true)).open(&new);
    let file = match options {
        // The last user of another file has removed the folder, or a dead process had this name.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => return Ok(None),
        file => file.map_err(io)?,
    };
    // The lock belongs to the file, not to its name. A process that already holds it takes the file for an unused
    // one.
    let is_shared = file.try_lock_shared().is_ok();
    let made = if is_shared { file.set_len(length) } else { Err(ErrorKind::NotFound.into()) };
    let named = made.and_then(|()| write_all_at(&file, header, 0)).and_then(|()| fs::hard_link(&new, path));
    let _ = fs::remove_file(&new);
    match named {
        Ok(()) => Ok(Some(file)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => Ok(None),
        Err(e) => Err(io(e)),
    }
}

/// Removes an open file if no other handle has its lock. Returns whether it did. The caller gives up its own lock.
fn remove_if_unused(file: &File, path: &Path) -> io::Result<bool> {
    if !try_lock(file)? {
        return Ok(false);
    }
    if is_still_named(file, path)? {
        fs::remove_file(path)?;
    }
    Ok(true)
}

/// Removes files that killed processes left, except the file `keep`. A file that cannot be removed stays: it only
/// takes memory.
fn remove_unused(folder: &Path, keep: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_ours = name.starts_with(NEW) || name.ends_with(SUFFIX);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
        if path == keep || !is_ours || !is_file {
            continue;
        }
        let file = in_place(OpenOptions::new().read(true).write(true)).open(&path);
        let _ = file.and_then(|file| remove_if_unused(&file, &path));
    }
}

/// This user's folder in `dir`, which all users share. It is created if it does not exist. A folder that other users could
/// have created or can change is refused, because its name can be guessed.
fn own_folder(dir: &Path) -> Result<PathBuf> {
    let folder = dir.join(format!("vidrec-{}", system::user()));
    private_folder::create(&folder)?;
    match private_folder::claim(&folder, "the folder for decoded planes") {
        // The last process that used the folder has just removed it.
        Err(e) if e.is_missing() => Ok(folder),
        claimed => claimed.map(|()| folder).map_err(|e| e.hint(Hint::Set("decoded_cache_dir"))),
    }
}

//! A large file in memory that the processes of one user share. The last of them removes it.
//!
//! Each process that uses the file shares its lock. The system releases the lock of a process that dies. If a process
//! gets the lock exclusively, no other process uses the file. A process only ever waits for another one that is about
//! to remove the file, and not for long.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::folder_lock::{is_still_named, try_lock};
use super::large_map::LARGE_PAGE;
use super::memory_folder::MemoryFolder;
use super::regular_file::in_place;
use super::shared_map::SharedMap;
use super::system;
use vidrec_format::allocation;
use vidrec_format::error::Hint;
use vidrec_format::error::{Error, Result};

/// How often an attempt is made while other processes create or remove the file.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);
/// Bytes for which large pages are created at a time. Each time, the system asks all processors of the machine for
/// pages that they have set aside.
const PREPARED: usize = 8 * LARGE_PAGE;
const NEW: &str = "new-";
const SUFFIX: &str = ".planes";

/// An open file in memory, and its map.
#[derive(Debug)]
pub struct MemoryFile {
    map: SharedMap,
    /// Which large pages this process knows to be present.
    ready: Vec<AtomicBool>,
    /// Whether the system has created large pages for this process.
    has_large: AtomicBool,
    file: File,
    path: PathBuf,
    notice: Option<String>,
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
            let MemoryFolder { path: folder, notice } = MemoryFolder::find(dir)?;
            let path = folder.join(format!("{key}{SUFFIX}"));
            remove_unused(&folder, &path);
            let file = match in_place(OpenOptions::new().read(true).write(true)).open(&path) {
                Ok(file) => use_existing(file, &path, length, header)?,
                Err(e) if e.kind() == ErrorKind::NotFound => make(&folder, &path, length, header)?,
                Err(e) => return Err(Error::io("open the file", &path, e)),
            };
            let Some(file) = file else { continue };
            let map = SharedMap::of_large(&file, length, &path)?;
            let mut ready = allocation::with_capacity(map.len() / LARGE_PAGE, "which pages are there")?;
            ready.resize_with(map.len() / LARGE_PAGE, AtomicBool::default);
            let (has_large, process) = (AtomicBool::default(), std::process::id());
            return Ok(MemoryFile { map, ready, has_large, file, path, notice, process });
        }
        Err(Error::usage("another process has been removing the file for too long").file(dir))
    }

    pub fn map(&self) -> &SharedMap {
        &self.map
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the user should know about the file's location.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Writes bytes that other processes do not know of yet. If there is no memory for them, this returns an error,
    /// without a signal.
    pub fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }

    /// Gives the file large pages for the bytes that any process will write next. Call it when the bytes `taken` have
    /// been handed out. Bytes are handed out in the order of the file, each to one process, so exactly one process
    /// prepares each step.
    ///
    /// Nothing depends on it: a write without large pages allocates small ones.
    pub fn prepare(&self, taken: Range<u64>) {
        let range = to_prepare(taken, self.map.len());
        // A large page is made from small ones, and needs at least one of them. This does not change existing bytes.
        let has_one = |page| system::allocate(&self.file, page as u64..page as u64 + 1).is_ok();
        if range.is_empty() || !range.clone().step_by(LARGE_PAGE).all(has_one) || !self.map.collapse(range.clone()) {
            return;
        }
        self.has_large.store(true, Relaxed);
        self.ready[range.start / LARGE_PAGE..range.end / LARGE_PAGE]
            .iter()
            .for_each(|ready| ready.store(true, Relaxed));
    }

    /// Whether all of some bytes have memory in large pages. If so, storing them through [`map`](Self::map) takes
    /// less time than a [`write`](Self::write).
    pub fn is_ready(&self, bytes: Range<u64>) -> bool {
        let pages = (bytes.start / LARGE_PAGE as u64) as usize..bytes.end.div_ceil(LARGE_PAGE as u64) as usize;
        let Some(ready) = self.ready.get(pages.clone()) else { return false };
        // Another process may have prepared these pages.
        let is_there = |at: usize| self.has_large.load(Relaxed) && self.map.populate(at..at + LARGE_PAGE);
        pages.zip(ready).all(|(page, ready)| {
            let is_ready = ready.load(Relaxed) || is_there(page * LARGE_PAGE);
            ready.store(is_ready, Relaxed);
            is_ready
        })
    }
}

/// The bytes for which large pages are created when the bytes `taken` have been handed out. This is one step ahead.
fn to_prepare(taken: Range<u64>, length: usize) -> Range<usize> {
    let length = length / LARGE_PAGE * LARGE_PAGE;
    let ahead = |taken: u64| match usize::try_from(taken / PREPARED as u64 + 2) {
        _ if taken == 0 => 0,
        Ok(steps) => steps.saturating_mul(PREPARED).min(length),
        Err(_) => length,
    };
    ahead(taken.start)..ahead(taken.end)
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
    if found == length && file.read_exact_at(&mut begin, 0).is_ok() && begin == header {
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
    let options = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&new);
    let file = match options {
        // The last user of another file has removed the folder, or a dead process had this name.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => return Ok(None),
        file => file.map_err(io)?,
    };
    // The lock belongs to the file, not to its name. A process that already holds it takes the file for an unused
    // one.
    let is_shared = file.try_lock_shared().is_ok();
    let made = if is_shared { file.set_len(length) } else { Err(ErrorKind::NotFound.into()) };
    let named = made.and_then(|()| file.write_all_at(header, 0)).and_then(|()| fs::hard_link(&new, path));
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

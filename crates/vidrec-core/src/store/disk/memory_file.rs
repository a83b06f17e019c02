//! A large file in memory that the processes of one user share. The last of them removes it.
//!
//! Each process that uses the file shares its lock. The system releases the lock of a process that dies. If a process
//! gets the lock exclusively, no other process uses the file. A process only ever waits for another one that is about
//! to remove the file, and not for long.
//!
//! All of these processes map the file. It contains numbers that they change, and bytes that never change once such a
//! number says that they are written. `map.rs` handles files that are only read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use memmap2::MmapRaw;

use super::folder_lock::{is_still_named, is_taken};
use super::open_files::{read_exact_at, write_all_at};
use super::private;
use super::regular_file::{self, in_place};
use super::sigbus::Watch;
use vidrec_format::error::{Error, Hint, Result};

/// The number of attempts while other processes create or remove the file.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);
const SUFFIX: &str = ".planes";

/// An open file in memory that is mapped for reading and writing. Every process that maps it sees each change at once,
/// and keeps the changes of a process that was killed.
#[derive(Debug)]
pub struct MemoryFile {
    /// Declared before the map, so that it is dropped first.
    watch: Watch,
    map: MmapRaw,
    file: File,
    pub path: PathBuf,
    /// The process that opened the file. A forked process has the file and its lock, but must not remove it.
    process: u32,
}

/// The default folder of such files.
pub const IN_MEMORY: &str = "/dev/shm";

/// The size in bytes of the file system of `dir`, which must be in memory (tmpfs): only Linux is known to have one.
/// `u64::MAX` if it has no limit of its own.
#[allow(clippy::unnecessary_cast, reason = "the types differ from system to system")]
pub fn room(dir: &Path) -> Result<u64> {
    #[cfg(target_os = "linux")]
    {
        let found = rustix::fs::statfs(dir);
        let found = found.map_err(|e| Error::io("read the kind of file system of", dir, e.into()))?;
        if found.f_type as i64 == libc::TMPFS_MAGIC as i64 {
            let bytes = (found.f_blocks as u64).saturating_mul(found.f_bsize as u64);
            return Ok(if bytes == 0 { u64::MAX } else { bytes });
        }
    }
    let e = Error::usage("the folder for decoded planes is not on a file system in memory").file(dir);
    Err(e.expected("tmpfs").hint(Hint::Set("decoded_cache_dir")))
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
            let opened = regular_file::private(OpenOptions::new().read(true).write(true).create(true).truncate(false))
                .open(&path);
            let file = match opened {
                // The last user of another file has removed the folder.
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                opened => opened.map_err(|e| Error::io("open the file", &path, e))?,
            };
            if share(&file, &path, length, header)? {
                return Self::of(file, path);
            }
        }
        Err(Error::usage("another process has been removing the file for too long").file(dir))
    }

    /// Maps an open file, which must not be empty.
    fn of(file: File, path: PathBuf) -> Result<Self> {
        let map = MmapRaw::map_raw(&file).map_err(|e| Error::io("map the file", &path, e))?;
        // SAFETY: the map has these bytes for as long as it exists. `Watch::over` takes only their address and
        // their number, and the slice is gone when it returns.
        let watch = Watch::over(unsafe { std::slice::from_raw_parts(map.as_ptr(), map.len()) });
        Ok(MemoryFile { watch, map, file, path, process: std::process::id() })
    }

    /// Writes bytes that other processes do not know of yet. If there is no memory for them, this returns an error,
    /// without a signal.
    pub fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        write_all_at(&self.file, bytes, at)
    }

    /// The eight bytes at `at` as a number in the byte order of this machine, if they lie in the file and are
    /// aligned.
    pub fn word(&self, at: usize) -> Option<&AtomicU64> {
        let map = &self.map;
        let is_inside = at.is_multiple_of(8) && at.checked_add(8).is_some_and(|end| end <= map.len());
        // SAFETY: the eight bytes are inside the map, which is readable and writable and lives as long as the borrow of
        // `self`. They are aligned, since a map begins at a page, and all of their bit patterns are valid. Nothing else in
        // this process refers to the memory without atomics; other processes may change it at any time, which atomics
        // allow. If the file is cut off from outside, `Watch` puts private zeros there, or the system ends the process.
        is_inside.then(|| unsafe { &*map.as_ptr().add(at).cast::<AtomicU64>() })
    }

    /// Copies the bytes from `at` on to `to`. If the file has fewer, it returns false and copies nothing.
    ///
    /// The caller has read with [`word`](Self::word), in the order `Acquire`, that these bytes are written. From then
    /// on, only a process that breaks this rule writes to them. The system has written them: no reference in this process
    /// ever leads to them.
    pub fn copy(&self, at: u64, to: &mut [u8]) -> bool {
        let (map, Ok(at)) = (&self.map, usize::try_from(at)) else { return false };
        if at.checked_add(to.len()).is_none_or(|end| end > map.len()) {
            return false;
        }
        // SAFETY: the source is inside the map, which is readable and lives as long as the borrow of `self`. `to` is
        // memory of Rust's own, so the two do not overlap. Threads of this process write to the map only
        // through atomic numbers at other places. So there is no race inside this process. Another process that breaks the rules may change the bytes or such a
        // number meanwhile, as with every map of a file. Then the copy has arbitrary bytes, and every byte is a valid
        // `u8`. If the file is cut off, `Watch` puts private zeros there, or the system ends the process.
        unsafe { std::ptr::copy_nonoverlapping(map.as_ptr().add(at), to.as_mut_ptr(), to.len()) };
        true
    }

    /// Asks the processor to load bytes that will be copied soon. Changes nothing else, and accepts any range.
    #[inline]
    pub fn prefetch(&self, range: Range<u64>) {
        #[cfg(target_arch = "x86_64")]
        if let (map, Ok(start), Ok(end)) = (&self.map, usize::try_from(range.start), usize::try_from(range.end)) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for at in (start..end.min(map.len())).step_by(64) {
                // SAFETY: the address is inside the map. The instruction reads nothing and raises no fault.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(map.as_ptr().add(at).cast()) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = range;
    }

    /// Whether all pages of the map still belong to the file. If not, other processes do not see what this one
    /// writes.
    pub fn is_whole(&self) -> bool {
        self.watch.lost() == 0
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

/// Shares the file's lock, and begins the file if no other process uses it and it is not begun. Returns false if another
/// process is about to begin or to remove it.
fn share(file: &File, path: &Path, length: u64, header: &[u8]) -> Result<bool> {
    let io = |e| Error::io("make the file", path, e);
    let is_alone = is_taken(file.try_lock()).map_err(io)?;
    if !(is_alone || is_taken(file.try_lock_shared()).map_err(io)?) || !is_still_named(file, path).map_err(io)? {
        return Ok(false);
    }
    let found = file.metadata().map_err(io)?.len();
    let mut begin = vec![0; header.len()];
    let is_begun = found == length && read_exact_at(file, &mut begin, 0).is_ok() && begin == header;
    if !is_alone && !is_begun {
        let e = Error::usage("other processes store decoded planes of this data set with a different limit").file(path);
        let e = e.expected(format!("{length} bytes")).found(format!("{found} bytes"));
        return Err(e.help("give all processes on the machine the same limit").hint(Hint::Set("decoded_cache")));
    }
    if !is_begun {
        // All bytes behind the header are zeros.
        let begun = file.set_len(0).and_then(|()| file.set_len(length)).and_then(|()| write_all_at(file, header, 0));
        begun.map_err(|e| {
            let _ = fs::remove_file(path);
            io(e)
        })?;
    }
    // Between the two locks, another process may take the file for an unused one.
    let is_shared = !is_alone || is_taken(file.try_lock_shared()).map_err(io)?;
    Ok(is_shared && is_still_named(file, path).map_err(io)?)
}

/// Removes an open file if no other handle has its lock. Returns whether it did. The caller gives up its own lock.
fn remove_if_unused(file: &File, path: &Path) -> io::Result<bool> {
    if !is_taken(file.try_lock())? {
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
        let is_ours = path.as_os_str().as_encoded_bytes().ends_with(SUFFIX.as_bytes());
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
    let folder = dir.join(format!("vidrec-{}", private::user()));
    private::create_folder(&folder)?;
    match private::claim(&folder, "the folder for decoded planes") {
        // The last process that used the folder has just removed it.
        Err(e) if e.is_missing() => Ok(folder),
        claimed => claimed.map(|()| folder).map_err(|e| e.hint(Hint::Set("decoded_cache_dir"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_of_the_file_can_be_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [7; 20]).unwrap();
        let opened = File::options().read(true).write(true).open(file.path()).unwrap();
        let map = MemoryFile::of(opened, file.path().to_owned()).unwrap();
        let mut copy = [0; 8];
        assert!([13, 20, u64::MAX - 7, u64::MAX].iter().all(|&at| !map.copy(at, &mut copy)) && copy == [0; 8]);
        assert!(map.copy(12, &mut copy) && copy == [7; 8]);
        assert!([0, 8].iter().all(|&at| map.word(at).is_some()));
        assert!([4, 16, 24, usize::MAX, usize::MAX - 7].iter().all(|&at| map.word(at).is_none()));
    }
}

//! The folder of a cache, and the room in it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use crate::store::disk::folder;
use crate::store::disk::private::{self, Lock};
use crate::store::per_process::PerProcess;
use vidrec_format::error::{Error, Result};

/// The least limit of a cache, and the least that is kept of a range that does not fit as a whole.
pub(super) const LEAST_BYTES: u64 = 4096;
/// The version of everything in the folder.
const FORMAT: u32 = 4;
/// The longest wait for the lock of the cache. Without it, bytes that were fetched are not kept.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// A process that found no room looks for room again after this time.
const FULL: Duration = Duration::from_secs(10);
/// Hexadecimal digits in the name of an object's folder.
pub(super) const KEY_DIGITS: usize = 32;

const MARKER: &str = "vidrec-cache";
const USED: &str = "used";
const LOCK: &str = "lock";
const OBJECTS: &str = "objects";

/// A folder of cached objects, shared with other processes of the machine.
#[derive(Debug)]
pub(crate) struct DiskCache {
    dir: PathBuf,
    /// The most bytes that the segments of all objects may take.
    pub limit: u64,
    /// When this process opened the cache.
    opened: SystemTime,
    /// The folders of the objects that this process reads.
    pub(super) reads: PerProcess<Mutex<HashSet<PathBuf>>>,
    /// When this process found no room.
    full: PerProcess<Mutex<Option<Instant>>>,
}

impl DiskCache {
    /// Opens the cache in a folder. Creates it if the folder is empty or does not exist. `limit` is the number of
    /// bytes that the segments of all objects may take together. By default, it is the free space of the disk plus the bytes
    /// that the cache has already, less a tenth of the disk.
    ///
    /// # Errors
    ///
    /// The limit is too small, the folder contains other files or belongs to another user, the cache is of another
    /// version, or there is no permission to write.
    pub fn open(dir: &Path, limit: Option<u64>) -> Result<Arc<Self>> {
        if cfg!(not(unix)) {
            return Err(Error::usage("vidrec keeps a cache on disk only on Linux and macOS").file(dir));
        }
        if let Some(limit) = limit.filter(|limit| *limit < LEAST_BYTES) {
            let e = Error::usage("the cache is too small").expected(format!("at least {LEAST_BYTES} bytes"));
            return Err(e.found(format!("{limit} bytes")));
        }
        let cannot_write = |e: Error| e.help("a cache needs a folder that vidrec can write to");
        private::create_folder_all(dir).map_err(cannot_write)?;
        of_user(dir, private::check)?;
        check_ours(dir)?;
        of_user(dir, private::claim)?;
        let (path, text) = (dir.join(MARKER), format!("vidrec cache, format {FORMAT}\n"));
        let marker = private::open(&path).map_err(cannot_write)?;
        // A process that was killed while it created the cache left only the beginning of the text, or nothing. Others
        // read the marker meanwhile, so it never gets shorter.
        let found = private::read(&path)?;
        let Some(rest) = text.strip_prefix(&found) else {
            let found = found.chars().take(60).collect::<String>();
            return Err(Error::usage("another version of vidrec made this cache, or the folder is not a cache")
                .file(dir)
                .expected(format!("{:?} in vidrec-cache", text.trim_end()))
                .found(format!("{:?}", found.trim_end()))
                .help("name another folder, or remove this one if it is a cache"));
        };
        private::write(&marker, &path, found.len() as u64, rest).map_err(cannot_write)?;
        let room = || {
            let room = folder::free_space(dir)?.saturating_add(read_used(dir).unwrap_or_default());
            Ok(room
                .saturating_sub(fs4::total_space(dir).map_err(|e| Error::io("read the size of the disk", dir, e))? / 10)
                .max(LEAST_BYTES))
        };
        let limit = limit.map_or_else(room, Ok)?;
        let (reads, full) = Default::default();
        let cache = DiskCache { dir: dir.to_owned(), limit, opened: SystemTime::now(), reads, full };
        if let Some(mut used) = cache.lock()? {
            used.set(used.bytes)?;
        }
        Ok(Arc::new(cache))
    }

    /// The folder of an object.
    pub(super) fn object(&self, key: &str) -> PathBuf {
        self.dir.join(OBJECTS).join(key)
    }

    /// Takes the lock that orders the changes of all processes. `None` if a process does not release it.
    pub(super) fn lock(&self) -> Result<Option<Used<'_>>> {
        let Some(lock) = Lock::within(&self.dir.join(LOCK), LONGEST_WAIT)? else { return Ok(None) };
        let (file, known) = (private::open(&self.dir.join(USED))?, read_used(&self.dir));
        let mut used = Used { cache: self, file, _lock: lock, bytes: known.unwrap_or_default() };
        if known.is_none() {
            used.count()?;
        }
        Ok(Some(used))
    }
}

/// The bytes that all segments take, under the lock of the cache. The number is never too small: it grows before a segment
/// does, and shrinks after one is gone.
pub(super) struct Used<'a> {
    cache: &'a DiskCache,
    file: File,
    bytes: u64,
    _lock: Lock,
}

impl Used<'_> {
    /// Takes room for `more` bytes, or for as many as there is room for. If there is not enough, it removes the objects that
    /// were used longest ago, but neither those that this process reads nor those that another process has used since this
    /// one opened the cache: if each clip is read once an epoch, it does not matter which ones stay, as long as they stay.
    pub fn take(&mut self, more: u64) -> Result<u64> {
        if self.left() < more && !self.cache.full.lock().is_some_and(|since| since.elapsed() < FULL) {
            let mut objects = self.count()?;
            let reads = self.cache.reads.lock();
            objects.retain(|object| object.used < self.cache.opened && !reads.contains(&object.path));
            drop(reads);
            objects.sort_by_key(|object| object.used);
            // More than needed, so that this is seldom done.
            let enough = self.cache.limit.saturating_sub(more).saturating_sub(self.cache.limit / 32);
            for object in objects {
                if self.bytes <= enough {
                    break;
                }
                folder::remove(&object.path)?;
                self.bytes = self.bytes.saturating_sub(object.bytes);
            }
            *self.cache.full.lock() = (self.left() < more).then(Instant::now);
        }
        let granted = if self.left() < more.min(LEAST_BYTES) { 0 } else { more.min(self.left()) };
        self.set(self.bytes + granted)?;
        Ok(granted)
    }

    /// Returns room that was not used.
    pub fn give(&mut self, bytes: u64) -> Result<()> {
        self.set(self.bytes.saturating_sub(bytes))
    }

    fn left(&self) -> u64 {
        self.cache.limit.saturating_sub(self.bytes)
    }

    /// Recounts the segments of all objects.
    fn count(&mut self) -> Result<Vec<ObjectFolder>> {
        let objects = objects(&self.cache.dir)?;
        self.bytes = objects.iter().map(|object| object.bytes).sum();
        Ok(objects)
    }

    fn set(&mut self, bytes: u64) -> Result<()> {
        self.bytes = bytes;
        // The text is always of the same length.
        private::write(&self.file, &self.cache.dir.join(USED), 0, &format!("{bytes:020}\n"))
    }
}

/// The bytes of all segments; `None` if they are not known.
fn read_used(dir: &Path) -> Option<u64> {
    private::read(&dir.join(USED)).ok()?.strip_suffix('\n')?.parse().ok()
}

/// The folder of an object.
#[derive(Debug)]
pub(super) struct ObjectFolder {
    pub path: PathBuf,
    /// Bytes of its segments.
    pub bytes: u64,
    /// When one of them was used last.
    pub used: SystemTime,
}

/// The folders of all objects.
pub(super) fn objects(dir: &Path) -> Result<Vec<ObjectFolder>> {
    let is_key = |name: &str| name.len() == KEY_DIGITS && name.bytes().all(|b| b.is_ascii_hexdigit());
    let folders = named(&dir.join(OBJECTS), |name| is_key(name).then_some(()))?;
    let folder = |((), path): ((), PathBuf)| {
        let segments = segments(&path)?;
        let bytes = segments.iter().map(|(_, meta)| meta.len()).sum();
        let used = segments.iter().filter_map(|(_, meta)| meta.modified().ok()).max();
        Ok(ObjectFolder { path, bytes, used: used.unwrap_or(SystemTime::UNIX_EPOCH) })
    };
    folders.into_iter().map(folder).collect()
}

/// The numbers and metadata of the segments of an object. Other processes may remove them meanwhile.
pub(super) fn segments(object: &Path) -> Result<Vec<(u64, fs::Metadata)>> {
    let meta = |path: &Path| fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    let segments = named(object, |name| name.parse().ok())?.into_iter();
    Ok(segments.filter_map(|(number, path)| Some((number, meta(&path)?))).collect())
}

/// The paths in a folder, with what `value` makes of their names.
fn named<T>(dir: &Path, value: impl Fn(&str) -> Option<T>) -> Result<Vec<(T, PathBuf)>> {
    let io = |e| Error::io("list the folder", dir, e);
    let entries = match fs::read_dir(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io)?;
        found.extend(entry.file_name().to_str().and_then(&value).map(|value| (value, entry.path())));
    }
    Ok(found)
}

/// Refuses a folder that contains files other than those of a cache.
fn check_ours(dir: &Path) -> Result<()> {
    let marker = dir.join(MARKER);
    // The marker is the first file of a cache, so a process that sees another file of it also sees the marker.
    if marker.exists() || named(dir, |_| Some(()))?.is_empty() || marker.exists() {
        return Ok(());
    }
    Err(Error::usage("the folder is not a cache and has other files, so vidrec does not use it")
        .file(dir)
        .help("name a folder that is empty or does not exist"))
}

/// Refuses a folder of another user. Ranges are as secret as the bucket they come from, and a user who can write
/// them decides what is read. A link to a folder of this user is accepted.
fn of_user(dir: &Path, check: impl Fn(&Path, &str) -> Result<()>) -> Result<()> {
    // If the path is wrong, the code that opens it reports that.
    let Ok(folder) = dir.canonicalize() else { return Ok(()) };
    check(&folder, "the folder of the cache").map_err(|e| {
        e.also_help("each user needs their own cache, but several users can read one copy that `fetch` makes")
    })
}

//! The folder of a cache, and the room in it.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
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

type OpenSegment = ((u64, u64), Arc<File>);

/// A folder of cached objects, shared with other processes of the machine.
#[derive(Debug)]
pub(crate) struct DiskCache {
    dir: PathBuf,
    limit: u64,
    /// When this process opened the cache.
    opened: SystemTime,
    /// The folders of the objects that this process reads.
    reads: PerProcess<Mutex<HashSet<PathBuf>>>,
    /// The segments that were read last, each with the number of its object and its own.
    recent: PerProcess<Mutex<VecDeque<OpenSegment>>>,
    /// When this process found no room.
    full: PerProcess<Mutex<Option<Instant>>>,
}

/// The limit of a cache for which none is set: the free space of its disk plus the bytes that it has already, less a
/// tenth of the disk.
pub(crate) fn default_limit(dir: &Path) -> Result<u64> {
    private::create_folder_all(dir)?;
    let has = read_used(dir).unwrap_or_default();
    let room = folder::free_space(dir)?.saturating_add(has).saturating_sub(folder::total_space(dir)? / 10);
    Ok(room.max(LEAST_BYTES))
}

impl DiskCache {
    /// Opens the cache in a folder. Creates it if the folder is empty or does not exist. `limit` is the number of
    /// bytes that the segments of all objects may take together.
    ///
    /// # Errors
    ///
    /// The limit is too small, the folder contains other files or belongs to another user, the cache is of another
    /// version, or there is no permission to write.
    pub fn open(dir: &Path, limit: u64) -> Result<Arc<Self>> {
        if cfg!(not(unix)) {
            return Err(Error::usage("vidrec keeps a cache on disk only on Linux and macOS").file(dir));
        }
        if limit < LEAST_BYTES {
            let e = Error::usage("the cache is too small").expected(format!("at least {LEAST_BYTES} bytes"));
            return Err(e.found(format!("{limit} bytes")));
        }
        let cannot_write = |e: Error| e.help("a cache needs a folder that vidrec can write to");
        private::create_folder_all(dir).map_err(cannot_write)?;
        of_user(dir, private::check)?;
        check_ours(dir)?;
        of_user(dir, private::claim)?;
        let (path, text) = (dir.join(MARKER), marker_text());
        let marker = private::open(&path).map_err(cannot_write)?;
        // A process that was killed while it created the cache left only the beginning of the text, or nothing. Others
        // read the marker meanwhile, so it never gets shorter.
        let found = private::read(&path)?;
        if let Some(rest) = text.strip_prefix(&found) {
            private::write(&marker, &path, found.len() as u64, rest).map_err(cannot_write)?;
        }
        check_is_cache(dir)?;
        let (reads, recent, full) = Default::default();
        let cache = DiskCache { dir: dir.to_owned(), limit, opened: SystemTime::now(), reads, recent, full };
        if let Some(mut used) = cache.lock()? {
            used.set(used.bytes)?;
        }
        Ok(Arc::new(cache))
    }

    /// The most bytes that the segments of all objects may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Notes that this process reads an object.
    pub(super) fn reads(&self, object: &Path) {
        self.reads.lock().insert(object.to_owned());
    }

    pub(super) fn recent(&self) -> MutexGuard<'_, VecDeque<OpenSegment>> {
        self.recent.lock()
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
            // More than needed, so that this is seldom done.
            let enough = self.cache.limit.saturating_sub(more).saturating_sub(self.cache.limit / 32);
            self.remove(objects, enough)?;
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

    fn remove(&mut self, mut objects: Vec<ObjectFolder>, most: u64) -> Result<()> {
        objects.sort_by_key(|object| object.used);
        for object in objects {
            if self.bytes <= most {
                break;
            }
            folder::remove(&object.path)?;
            self.bytes = self.bytes.saturating_sub(object.bytes);
        }
        Ok(())
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

fn marker_text() -> String {
    format!("vidrec cache, format {FORMAT}\n")
}

/// Refuses a folder that is not a cache of this version.
pub(super) fn check_is_cache(dir: &Path) -> Result<()> {
    let marker = dir.join(MARKER);
    if !marker.is_file() {
        return Err(Error::usage("this folder is not a vidrec cache: it has no file vidrec-cache").file(dir));
    }
    let (expected, found) = (marker_text(), private::read(&marker)?);
    if found == expected {
        return Ok(());
    }
    let found = found.chars().take(60).collect::<String>();
    Err(Error::usage("another version of vidrec made this cache, or the folder is not a cache")
        .file(dir)
        .expected(format!("{:?} in vidrec-cache", expected.trim_end()))
        .found(format!("{:?}", found.trim_end()))
        .help("name another folder, or remove this one if it is a cache"))
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

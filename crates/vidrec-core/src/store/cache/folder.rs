//! The folder of a cache, and the room in it.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::block::{BLOCK_BYTES, Block};
use super::layout::{self, LOCK, MARKER, NEW, PAGE_BYTES, USED, check_is_cache, check_ours, marker_text};
use crate::store::disk::claim_file::{Claim, ClaimFile};
use crate::store::disk::{capacity, private_folder, remove_file, whole_folder};
use crate::store::per_process::PerProcess;
use vidrec_format::error::{Error, Result};

/// How long a process waits for the lock of the cache. Without it, bytes that were fetched are not kept.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// How long a process that found no room does not look for room again.
const FULL: Duration = Duration::from_secs(10);
/// The age at which a block that is being written counts as left by a killed process.
const LEFT: Duration = Duration::from_secs(3600);

type RecentBlock = ((u64, u64), Arc<Block>);

/// A folder of cached objects, shared with other processes of the machine.
#[derive(Debug)]
pub(crate) struct DiskCache {
    dir: PathBuf,
    limit: u64,
    /// When this process opened the cache.
    opened: SystemTime,
    /// The objects that this process reads.
    reads: PerProcess<Mutex<HashSet<PathBuf>>>,
    /// The blocks that were read last, each with the number of its object and its own.
    recent: PerProcess<Mutex<VecDeque<RecentBlock>>>,
    /// Counts the blocks that this process writes.
    made: AtomicU64,
    /// When this process found no room.
    full: PerProcess<Mutex<Option<Instant>>>,
}

/// The limit of a cache for which none is set: the free space of its disk plus the bytes that it has already, less a
/// tenth of the disk.
pub(crate) fn default_limit(dir: &Path) -> Result<u64> {
    private_folder::create_all(dir)?;
    let has =
        ClaimFile::open_to_read(&dir.join(USED)).ok().and_then(|file| layout::read_used(&file)).unwrap_or_default();
    let room = capacity::free_space(dir)?.saturating_add(has.0).saturating_sub(capacity::total_space(dir)? / 10);
    Ok(room.max(PAGE_BYTES))
}

impl DiskCache {
    /// Opens the cache in a folder. Creates it if the folder is empty or does not exist. `limit` is the number of
    /// bytes that the blocks of all objects may take together.
    ///
    /// # Errors
    ///
    /// The limit is less than a page, the folder contains other files or belongs to another user, the cache is of
    /// another version, or there is no permission to write.
    pub fn open(dir: &Path, limit: u64) -> Result<Arc<Self>> {
        if cfg!(not(unix)) {
            return Err(Error::usage("vidrec keeps blocks on disk only on Linux and macOS").file(dir));
        }
        if limit < PAGE_BYTES {
            let e = Error::usage("the cache is too small for a page").expected(format!("at least {PAGE_BYTES} bytes"));
            return Err(e.found(format!("{limit} bytes")));
        }
        let cannot_write = |e: Error| e.help("a cache needs a folder that vidrec can write to");
        private_folder::create_all(dir).map_err(cannot_write)?;
        of_user(dir, private_folder::check)?;
        check_ours(dir)?;
        of_user(dir, private_folder::claim)?;
        let (marker, text) = (ClaimFile::open(&dir.join(MARKER)).map_err(cannot_write)?, marker_text());
        // A process that was killed while it created the cache left only the beginning of the text, or nothing. Others
        // read the marker meanwhile, so it never gets shorter.
        if let Some(rest) = text.as_bytes().strip_prefix(&*marker.read()?) {
            marker.write_on(rest).map_err(cannot_write)?;
        }
        check_is_cache(dir)?;
        let (opened, made) = (SystemTime::now(), AtomicU64::new(0));
        let (reads, recent, full) = Default::default();
        let cache = Arc::new(DiskCache { dir: dir.to_owned(), limit, opened, reads, recent, made, full });
        if let Some(mut used) = cache.lock()? {
            used.set(used.bytes)?;
        }
        Ok(cache)
    }

    /// The most bytes that the blocks of all objects may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether there is room for so many bytes more.
    pub fn has_room(&self, bytes: u64) -> Result<bool> {
        let Some(mut used) = self.lock()? else { return Ok(false) };
        let has_room = used.take(bytes)?;
        if has_room {
            used.give(bytes)?;
        }
        Ok(has_room)
    }

    /// Whether this process found no room a moment ago.
    pub(super) fn is_full(&self) -> bool {
        let full = self.full.get().lock().unwrap_or_else(PoisonError::into_inner);
        full.is_some_and(|since| since.elapsed() < FULL)
    }

    /// Notes that this process reads an object.
    pub(super) fn reads(&self, object: &Path) {
        self.reads.get().lock().unwrap_or_else(PoisonError::into_inner).insert(object.to_owned());
    }

    pub(super) fn recent(&self) -> MutexGuard<'_, VecDeque<RecentBlock>> {
        self.recent.get().lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A name for a block that is being written, which no other process gives.
    pub(super) fn new_name(&self) -> PathBuf {
        self.dir.join(format!("{NEW}{}-{}", std::process::id(), self.made.fetch_add(1, Relaxed)))
    }

    /// Takes the lock that orders the writes of all processes. `None` if a process does not release it.
    pub(super) fn lock(&self) -> Result<Option<Used<'_>>> {
        let Some(claim) = Claim::within(&self.dir.join(LOCK), LONGEST_WAIT)? else { return Ok(None) };
        let file = ClaimFile::open(&self.dir.join(USED))?;
        let known = layout::read_used(&file);
        let mut used = Used { cache: self, file, _claim: claim, bytes: known.map_or(0, |(bytes, _)| bytes) };
        if known.is_none() {
            used.count()?;
        }
        Ok(Some(used))
    }
}

/// The bytes that all blocks take, under the lock of the cache. The number is never too small: it grows before a block
/// appears, and shrinks after one is gone.
pub(super) struct Used<'a> {
    cache: &'a DiskCache,
    file: ClaimFile,
    bytes: u64,
    _claim: Claim,
}

impl Used<'_> {
    /// Takes room for `more` bytes. If there is none, removes the blocks that were used longest ago, but neither those
    /// of objects that this process reads nor those that another process has used since this one opened the cache: if
    /// each block is read once an epoch, it does not matter which ones stay, as long as they stay. Returns whether there
    /// is room.
    pub fn take(&mut self, more: u64) -> Result<bool> {
        let fits = |bytes: u64| bytes.saturating_add(more) <= self.cache.limit;
        if !fits(self.bytes) {
            if self.cache.is_full() {
                return Ok(false);
            }
            let mut blocks = self.count()?;
            let reads = self.cache.reads.get().lock().unwrap_or_else(PoisonError::into_inner);
            let is_own = |block: &layout::BlockFile| block.path.parent().is_some_and(|object| reads.contains(object));
            blocks.retain(|block| block.used < self.cache.opened && !is_own(block));
            drop(reads);
            // More than needed, so that this is seldom done.
            let enough = self.cache.limit.saturating_sub(more).saturating_sub(self.cache.limit / 32);
            remove(&mut self.bytes, blocks, enough)?;
            // Less may still have room, down to a block.
            let is_full = self.bytes.saturating_add(BLOCK_BYTES) > self.cache.limit;
            *self.cache.full.get().lock().unwrap_or_else(PoisonError::into_inner) = is_full.then(Instant::now);
            if !fits(self.bytes) {
                self.set(self.bytes)?;
                return Ok(false);
            }
        }
        self.set(self.bytes + more)?;
        Ok(true)
    }

    /// Gives back the room of a block that is gone.
    pub fn give(&mut self, bytes: u64) -> Result<()> {
        self.set(self.bytes.saturating_sub(bytes))
    }

    /// Removes blocks, those that were used longest ago first, until all others take at most `most` bytes.
    pub fn trim(&mut self, most: u64) -> Result<u64> {
        let blocks = self.count()?;
        remove(&mut self.bytes, blocks, most)?;
        self.set(self.bytes)?;
        Ok(self.bytes)
    }

    /// Recounts the blocks, and removes what killed processes left.
    fn count(&mut self) -> Result<Vec<layout::BlockFile>> {
        let is_left = |file: &layout::BlockFile| file.used.elapsed().is_ok_and(|age| age > LEFT);
        for left in layout::unfinished(self.cache.dir())?.iter().filter(|file| is_left(file)) {
            remove_file(&left.path)?;
        }
        let mut blocks = Vec::new();
        for object in layout::objects(self.cache.dir())? {
            let of_object = layout::blocks_of(&object)?;
            if of_object.is_empty() {
                whole_folder::remove(&object, &[])?;
            }
            blocks.extend(of_object);
        }
        self.bytes = blocks.iter().map(|block| block.bytes).sum();
        Ok(blocks)
    }

    fn set(&mut self, bytes: u64) -> Result<()> {
        self.bytes = bytes;
        self.file.write(layout::used_text(bytes, self.cache.limit).as_bytes())
    }
}

fn remove(sum: &mut u64, mut blocks: Vec<layout::BlockFile>, most: u64) -> Result<()> {
    blocks.sort_by_key(|block| block.used);
    for block in blocks {
        if *sum <= most {
            break;
        }
        remove_file(&block.path)?;
        *sum -= block.bytes.min(*sum);
    }
    Ok(())
}

/// Refuses a folder of another user. Blocks are as secret as the bucket they come from, and a user who can write
/// them decides what is read. A link to a folder of this user is accepted.
fn of_user(dir: &Path, check: impl Fn(&Path, &str) -> Result<()>) -> Result<()> {
    // If the path is wrong, the code that opens it reports that.
    let Ok(folder) = dir.canonicalize() else { return Ok(()) };
    check(&folder, "the folder of the cache").map_err(|e| {
        e.also_help("each user needs their own cache, but several users can read one copy that `fetch` makes")
    })
}

//! An open cache: a folder of objects.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::cache::claims::PAGE_BYTES;
use crate::cache::layout::{CLEAN, Identity, MAP, NEW, OBJECT_JSON, OBJECTS, PAGES};
use crate::cache::maintenance::show;
use crate::cache::object::{CachedObject, Opened};
use crate::cache::page_map::PageMap;
use crate::cache::recovery::check_length;
use crate::cache::removal::Remover;
use crate::cache::shared_state::SharedState;
use crate::disk::capacity;
use crate::disk::open_files::{CACHE_FILES, MAPS};
use crate::disk::private_folder;
use crate::disk::shared_file::SharedFile;
use crate::disk::sparse_file::SparseFile;
use crate::disk::whole_folder;
use vidrec_format::error::{Error, Result};

/// How often vidrec tries to open an object while other processes remove or replace it.
const TRIES: u32 = 1000;
/// Bytes of a map that are written in one step.
const CHUNK: u64 = 1 << 16;

/// A folder of cached objects, shared with other processes of the machine.
#[derive(Debug)]
pub(crate) struct PageCache {
    common: Arc<SharedState>,
    /// The open objects, by key. A second caller gets the same object.
    open: Mutex<HashMap<String, Weak<Opened>>>,
    made: AtomicU64,
}

/// The limit of a cache for which none is set: the free space of its disk plus the bytes that it has already, less a
/// tenth of the disk.
pub(crate) fn default_limit(dir: &Path) -> Result<u64> {
    private_folder::create_all(dir)?;
    let has = show(dir).map_or(0, |report| report.bytes);
    let room = capacity::free_space(dir)?.saturating_add(has).saturating_sub(capacity::total_space(dir)? / 10);
    Ok(room.max(PAGE_BYTES))
}

impl PageCache {
    /// Opens the cache in a folder. Creates it if the folder is empty or does not exist. `limit` is the number of
    /// bytes that the pages of all objects may take together. The maps of objects are extra: one byte per page.
    ///
    /// # Errors
    ///
    /// The limit is less than a page, the folder contains other files or belongs to another user, the cache is of
    /// another version or another machine uses it, or there is no permission to write.
    pub fn open(dir: &Path, limit: u64) -> Result<Arc<Self>> {
        if limit < PAGE_BYTES {
            return Err(Error::usage("the cache is too small for a page")
                .expected(format!("at least {PAGE_BYTES} bytes"))
                .found(format!("{limit} bytes")));
        }
        let common = Arc::new(SharedState::open(dir, limit)?);
        Ok(Arc::new(PageCache { common, open: Mutex::new(HashMap::new()), made: AtomicU64::new(0) }))
    }

    /// The most bytes that the pages of all objects may take.
    pub fn limit(&self) -> u64 {
        self.common.limit
    }

    /// Whether other processes use it now.
    pub fn is_shared(&self) -> bool {
        self.common.is_shared()
    }

    /// An upper bound of the bytes that the pages of all objects take now.
    #[cfg(test)]
    pub fn taken(&self) -> u64 {
        self.common.home.budget.taken()
    }

    /// Returns the cached pages of one version of one object. `location` is its URL without secrets, `version` its
    /// ETag or generation, `length` its length in bytes.
    ///
    /// # Errors
    ///
    /// The folder cannot be written, or this process was forked from the one that opened the cache.
    pub fn object(self: &Arc<Self>, location: &str, version: &str, length: u64) -> Result<CachedObject> {
        if !self.common.is_ours() {
            return Err(self.common.forked());
        }
        let identity = Identity::new(location, version, length);
        let key = identity.key();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = open.get(&key).and_then(Weak::upgrade) {
            return Ok(CachedObject::new(opened));
        }
        let opened = Arc::new(self.open_object(&identity)?);
        open.retain(|_, opened| opened.strong_count() > 0);
        open.insert(key, Arc::downgrade(&opened));
        Ok(CachedObject::new(opened))
    }

    fn open_object(&self, identity: &Identity) -> Result<Opened> {
        let dir = self.common.home.dir.join(OBJECTS).join(identity.key());
        for _ in 0..TRIES {
            match self.try_open(&dir, identity) {
                Ok(Some(opened)) => return Ok(opened),
                Ok(None) if dir.exists() => {}
                Ok(None) => self.make(&dir, identity)?,
                // A shortage of the machine, or of another process that is using the object: do not remove the
                // object.
                Err(e) if e.kind() == vidrec_format::error::ErrorKind::Resources => return Err(e),
                Err(e) => match Remover::take(&self.common.home)? {
                    Some(remover) if remover.remove(&dir)? || !dir.exists() => {}
                    Some(_) => return Err(e.help("end the processes that use the cache, then clear it")),
                    None => std::thread::yield_now(),
                },
            }
        }
        Err(Error::lost("other processes kept removing the object while vidrec tried to open it").file(&dir))
    }

    /// Opens an existing object; `None` if it does not exist or is being removed. An error says that it is
    /// damaged.
    fn try_open(&self, dir: &Path, identity: &Identity) -> Result<Option<Opened>> {
        let path = dir.join(PAGES);
        let file = match SparseFile::open(&path)? {
            Some(file) => file,
            None if dir.exists() && !path.exists() => return Err(damaged(dir, "it has no pages")),
            None => return Ok(None),
        };
        if !file.share()? {
            return Ok(None);
        }
        if Identity::read(dir).as_ref() != Some(identity) {
            return Err(damaged(dir, "its object.json is damaged or belongs to another object"));
        }
        check_length(&path, &file, identity)?;
        let map = PageMap::open(&dir.join(MAP), identity.pages())?;
        file.touch();
        Ok(Some(Opened {
            common: Arc::clone(&self.common),
            length: identity.length,
            pages: Some(SharedFile::new(file, &path, &MAPS, &CACHE_FILES)?),
            map,
            claimed: Mutex::default(),
            is_unmarked: AtomicBool::new(!dir.join(CLEAN).exists()),
            dir: dir.to_owned(),
        }))
    }

    /// Creates an object without pages and renames it to its final name, unless another process has just done so.
    fn make(&self, dir: &Path, identity: &Identity) -> Result<()> {
        let new = self.new_name();
        // A killed process that had the same slot may have left this.
        whole_folder::remove(&new, &[])?;
        let made = fill(&new, identity).and_then(|()| whole_folder::rename(&new, dir));
        if !matches!(made, Ok(true)) {
            whole_folder::remove(&new, &[])?;
        }
        made.map(|_| ())
    }

    fn new_name(&self) -> PathBuf {
        let count = self.made.fetch_add(1, Relaxed);
        self.common.home.dir.join(format!("{NEW}{}-{count}", self.common.number()))
    }
}

fn fill(dir: &Path, identity: &Identity) -> Result<()> {
    private_folder::create(dir)?;
    SparseFile::create(&dir.join(PAGES), identity.length)?;
    // Zeros are written instead of a hole, because a change of a page's state must never fail on a full disk.
    let pages = identity.pages();
    let zeros = (0..pages.div_ceil(CHUNK)).map(|i| vec![0; CHUNK.min(pages - i * CHUNK) as usize]);
    whole_folder::put_file(&dir.join(MAP), zeros)?;
    whole_folder::put_file(&dir.join(OBJECT_JSON), std::iter::once(identity.json()))
}

fn damaged(dir: &Path, what: &str) -> Error {
    Error::lost(format!("an object of the cache is damaged: {what}")).file(dir)
}

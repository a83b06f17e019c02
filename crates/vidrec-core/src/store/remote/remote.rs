//! The state that all files of a remote data set share: options, clients, memory, counters.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::blocks::Blocks;
use super::client;
use super::hub;
use super::pending::Pending;
use super::request::{Part, Version};
use super::request::{Request, StoreClient, if_found};
use super::url::Address;
use crate::stop;
use crate::store::cache::{CachedObject, DiskCache};
use crate::store::per_process::PerProcess;
use crate::store::storage::Counters;
use crate::store::storage::RemoteStats;
use crate::store::storage::Storage;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// The interval of calls to a waiting caller.
const TICK: Duration = Duration::from_millis(100);

/// The shared part of a remote data set.
#[derive(Debug)]
pub struct Remote {
    storage: Storage,
    /// The time after which a request is sent again if the server sends nothing.
    silence: Duration,
    pub(super) counters: Arc<Counters>,
    /// The most bytes of blocks in memory.
    memory_bytes: AtomicU64,
    /// The clients, by store. Connections and requests do not survive a fork.
    clients: PerProcess<Mutex<HashMap<String, Arc<StoreClient>>>>,
    blocks: PerProcess<Mutex<Blocks>>,
    cache: Option<Arc<DiskCache>>,
}

/// Returns a location with the commit that its revision is, if it is on the Hugging Face Hub: [`Remote::pinned`]. Paths,
/// and locations that do not change so, need no request.
pub fn pinned(location: &Path, storage: &Storage) -> Result<PathBuf> {
    match crate::store::location::split(location) {
        Some(("hf", _)) => Remote::new(&Storage { cache: None, ..storage.clone() })?.pinned(location),
        _ => Ok(location.to_owned()),
    }
}

/// Reads a whole small object, or file of a web server or the Hugging Face Hub. `None` if it does not exist.
#[doc(hidden)]
pub fn read_object(location: &Path, storage: &Storage) -> Result<Option<Vec<u8>>> {
    Remote::new(storage)?.read(location, limits::MAX_SMALL_OBJECT_BYTES)
}

/// The memory with which so many bytes are asked for ahead of their use.
pub fn memory_for(ahead_bytes: u64) -> u64 {
    ahead_bytes.saturating_mul(8).div_ceil(3)
}

impl Remote {
    pub fn new(storage: &Storage) -> Result<Arc<Self>> {
        Self::with(storage, (storage.timeout / 4).min(Duration::from_secs(10)))
    }

    /// Creates one that waits so long for a silent server.
    pub(super) fn with(storage: &Storage, silence: Duration) -> Result<Arc<Self>> {
        let open = |dir: &PathBuf| DiskCache::open(dir, storage.cache_bytes);
        let cache = storage.cache.as_ref().map(open).transpose()?;
        let memory_bytes = AtomicU64::new(storage.memory_bytes);
        let (counters, clients, blocks) = Default::default();
        Ok(Arc::new(Remote { storage: storage.clone(), silence, counters, memory_bytes, clients, blocks, cache }))
    }

    /// The most bytes of blocks in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Relaxed)
    }

    /// The most bytes that are asked for ahead of their use. What was used last takes as much again.
    pub fn ahead_bytes(&self) -> u64 {
        self.memory_bytes() / 8 * 3
    }

    /// Allows at least so many bytes of blocks in memory, because a batch needs them.
    pub fn need_memory(&self, bytes: u64) {
        self.memory_bytes.fetch_max(bytes, Relaxed);
    }

    pub(super) fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock()
    }

    /// The most bytes that the cache on disk may hold; `None` without a cache.
    pub fn cache_limit(&self) -> Option<u64> {
        self.cache.as_ref().map(|cache| cache.limit)
    }

    /// An object in the cache on disk, if there is a cache.
    pub(super) fn kept(&self, location: &Path, version: &Version) -> Result<Option<Arc<CachedObject>>> {
        let Some(cache) = &self.cache else { return Ok(None) };
        if version.tag.is_empty() {
            let e = Error::usage("the server sends neither ETag nor Last-Modified, so a cache could be out of date");
            return Err(e.file(location).help("read it without a cache"));
        }
        let identity = (&*location.to_string_lossy(), &*version.tag, version.length);
        Ok(Some(Arc::new(CachedObject::new(cache.clone(), identity, self.counters.clone()))))
    }

    /// The first reason why the cache could not keep something.
    pub fn cache_failure(&self) -> Option<&str> {
        self.counters.cache_failure.get().map(String::as_str)
    }

    pub fn stats(&self) -> RemoteStats {
        let (held_bytes, most_held_bytes) = self.blocks().held();
        RemoteStats { held_bytes, most_held_bytes, ..*self.counters.stats.lock() }
    }

    /// The longest time that a read can take: twice the timeout, because it may wait in a queue, plus 60 s.
    pub fn patience(&self) -> Duration {
        self.storage.timeout.saturating_mul(2).saturating_add(Duration::from_secs(60))
    }

    /// The client of a store in this process.
    pub(super) fn client(&self, address: &Address) -> Result<Arc<StoreClient>> {
        let clients = || self.clients.lock();
        if let Some(client) = clients().get(&address.store) {
            return Ok(client.clone());
        }
        let client = client::connect(address, &self.storage, self.silence)?;
        let mut client = Arc::new(StoreClient::new(client, self.counters.clone(), self.storage.timeout));
        if let Some(hub) = client.api.hub.clone().filter(|_| !hub::is_pinned(&address.store)) {
            let (asking, request) = (client.clone(), Request::read(Path::new(&address.store), &address.key, 0));
            let commit = Pending::start(async move { asking.run(&request, || hub.commit()).await })?;
            client = self.client(&address.at(&self.wait(&commit)?))?;
        }
        // Of two threads that asked for the commit at once, the first decides.
        Ok(clients().entry(address.store.clone()).or_insert(client).clone())
    }

    /// Returns the location with the commit that its revision is, if it is on the Hugging Face Hub. This and all later
    /// reads of the location are of that commit. Other locations stay as they are.
    pub fn pinned(&self, location: &Path) -> Result<PathBuf> {
        let address = Address::of(location)?;
        let Some(hub) = self.client(&address)?.api.hub.clone() else { return Ok(location.to_owned()) };
        let path = location.to_str().and_then(|text| text.strip_prefix(&address.store)).unwrap_or_default();
        Ok(PathBuf::from(address.at(hub.revision()).store + path))
    }

    /// Waits for a request.
    pub(super) fn wait<T: Clone + Send + Sync + 'static>(&self, pending: &Pending<T>) -> Result<T> {
        match pending.now() {
            Some(result) => result.map_err(|e| e.error()),
            None => self.wait_for(pending, self.patience(), None),
        }
    }

    /// Waits at most `most` for a request, and calls `tick` at intervals. An error of `tick` ends the request.
    pub(super) fn wait_for<T: Clone + Send + Sync + 'static>(
        &self,
        pending: &Pending<T>,
        most: Duration,
        mut tick: Option<&mut dyn FnMut() -> Result<()>>,
    ) -> Result<T> {
        let begin = Instant::now();
        let step = if tick.is_some() { TICK } else { most };
        while !pending.is_over_within(step.min(most)) && begin.elapsed() < most {
            let told = tick.as_mut().map_or(Ok(()), |tick| tick());
            if let Err(e) = told.and_then(|()| stop::check()) {
                if tick.is_some() {
                    pending.abort();
                }
                return Err(e);
            }
        }
        self.counters.stats.lock().network_wait_seconds += begin.elapsed().as_secs_f64();
        let none = || Error::lost(format!("a request had no result for {} s", most.as_secs()));
        pending.now().ok_or_else(none)?.map_err(|e| e.error())
    }

    /// Reads a whole small object of at most `most` bytes. `None` if it does not exist.
    pub fn read(&self, location: &Path, most: u64) -> Result<Option<Vec<u8>>> {
        let address = Address::of(location)?;
        let client = self.client(&address)?;
        let request = Request::read(location, &address.key, 0);
        let pending = Pending::start(async move {
            Ok(if_found(client.fetch(&request, Part::Whole(most), None).await)?.map(|(bytes, _)| bytes))
        })?;
        self.wait(&pending)
    }
}

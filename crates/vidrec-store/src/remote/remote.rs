//! The state that all files of a remote data set share: options, clients, memory, counters.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::attempt::Version;
use super::cached_pages::CachedPages;
use super::counters::Counters;
use super::fetch::{FetchError, Link, Target};
use super::memory::Memory;
use super::per_process::PerProcess;
use super::promise::{Pending, Promise};
use super::recent::Recent;
use super::runtime;
use super::send::{Doing, Task};
use super::store;
use super::url::Address;
use crate::cache;
use crate::cache::PageCache;
use crate::storage::RemoteStats;
use crate::storage::Storage;
use vidrec_format::error::{Error, Result};
use vidrec_format::stop;

/// The shared part of a remote data set.
#[derive(Debug)]
pub struct Remote {
    storage: Storage,
    pub counters: Arc<Counters>,
    memory: Memory,
    /// The clients, by store. Connections do not survive a fork.
    links: PerProcess<Mutex<HashMap<String, Arc<Link>>>>,
    /// The stretches that were read without a plan.
    pub(super) recent: PerProcess<Mutex<Recent>>,
    /// The cache, once it is open.
    cache: PerProcess<Mutex<Option<Arc<PageCache>>>>,
}

/// Returns a location with the commit that its revision is, if it is on the Hugging Face Hub: [`Remote::pinned`]. Paths,
/// and locations that do not change so, need no request.
pub fn pinned(location: &Path, storage: &Storage) -> Result<PathBuf> {
    match crate::location::split(location) {
        Some(("hf", _)) => Remote::new(&Storage { cache: None, ..storage.clone() })?.pinned(location),
        _ => Ok(location.to_owned()),
    }
}

/// See [`Remote::frugal`].
#[derive(Debug)]
pub struct Frugal(Arc<Remote>);

impl Drop for Frugal {
    fn drop(&mut self) {
        self.0.count_frugal(-1);
    }
}

impl Remote {
    pub fn new(storage: &Storage) -> Result<Arc<Self>> {
        let memory = Memory::new(storage.memory_bytes);
        let (links, recent, cache) = Default::default();
        let remote = Remote { storage: storage.clone(), counters: Arc::default(), memory, links, recent, cache };
        // The cache is opened now, so that a problem with its folder is reported at once.
        remote.cache()?;
        Ok(Arc::new(remote))
    }

    /// The memory of records that were fetched ahead.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether the cache has room for all of `bytes`.
    pub fn keeps(&self, bytes: u64) -> bool {
        self.cache_limit().is_some_and(|limit| limit >= bytes)
    }

    /// The most bytes that the cache may hold; `None` without a cache.
    pub fn cache_limit(&self) -> Option<u64> {
        self.cache().ok().flatten().map(|cache| cache.limit())
    }

    /// Whether other processes use the cache now; `None` without a cache.
    pub fn shares_cache(&self) -> Option<bool> {
        self.cache().ok().flatten().map(|cache| cache.is_shared())
    }

    /// The cache of this process, if the options name one.
    fn cache(&self) -> Result<Option<Arc<PageCache>>> {
        let Some(dir) = &self.storage.cache else { return Ok(None) };
        let mut cache = self.cache.get().lock().unwrap_or_else(PoisonError::into_inner);
        if cache.is_none() {
            let limit = self.storage.cache_bytes.map_or_else(|| cache::default_limit(dir), Ok)?;
            *cache = Some(PageCache::open(dir, limit)?);
        }
        Ok(cache.clone())
    }

    /// The cached pages of an object, if there is a cache and it accepts the object.
    pub(super) fn kept(&self, location: &Path, version: &Version) -> Result<Option<CachedPages>> {
        let Some(cache) = self.cache()? else { return Ok(None) };
        if version.tag.is_empty() {
            let e = Error::usage("the server sends neither ETag nor Last-Modified, so a cache could be out of date");
            return Err(e.file(location).help("read it without a cache"));
        }
        let pages = cache.object(&location.to_string_lossy(), &version.tag, version.length);
        // Problems with the folder were reported when it was opened. By now its disk may be full or failing, or other
        // processes may use a damaged object. The object is read all the same.
        let pages = pages.inspect_err(|e| self.counters.cache_failed(e)).ok();
        Ok(pages.map(|pages| CachedPages::new(pages, self.counters.clone())))
    }

    /// The first reason why the cache could not keep something.
    pub fn cache_failure(&self) -> Option<&str> {
        self.counters.cache_failure()
    }

    pub fn stats(&self) -> RemoteStats {
        self.counters.snapshot(self.memory.used())
    }

    /// How long a read may take, including all tries.
    pub fn timeout(&self) -> Duration {
        self.storage.timeout
    }

    /// The longest time that a read can take: twice the timeout, because it may wait in a queue, plus 60 s.
    pub fn patience(&self) -> Duration {
        self.storage.timeout.saturating_mul(2).saturating_add(Duration::from_secs(60))
    }

    pub(super) fn until(&self) -> Instant {
        let now = Instant::now();
        now.checked_add(self.patience()).unwrap_or(now + Duration::from_secs(1 << 30))
    }

    /// The client of a store in this process.
    pub(super) fn link(&self, address: &Address) -> Result<Arc<Link>> {
        let links = || self.links.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = links().get(&address.store) {
            return Ok(link.clone());
        }
        let client = store::connect(address, &self.storage.options)?;
        let mut link = Arc::new(Link::new(client, self.counters.clone(), self.storage.timeout));
        if let Some(hub) = link.client.hub.clone().filter(|_| !address.is_of_commit()) {
            let location = PathBuf::from(&address.store);
            let task = Task { doing: Doing::Read, location, key: address.key.clone(), bytes: 0 };
            let asking = link.clone();
            let commit = self.start(async move { asking.send(&task, || hub.commit()).await })?;
            link = self.link(&address.at(&self.wait(&commit)?))?;
        }
        // Of two threads that asked for the commit at once, the first decides.
        Ok(links().entry(address.store.clone()).or_insert(link).clone())
    }

    /// Returns the location with the commit that its revision is, if it is on the Hugging Face Hub. This and all later
    /// reads of the location are of that commit. Other locations stay as they are.
    pub fn pinned(&self, location: &Path) -> Result<PathBuf> {
        let address = Address::of(location)?;
        let Some(hub) = self.link(&address)?.client.hub.clone() else { return Ok(location.to_owned()) };
        let path = location.to_str().and_then(|text| text.strip_prefix(&address.store)).unwrap_or_default();
        Ok(PathBuf::from(address.at(hub.revision()).store + path))
    }

    /// While the returned value exists, unplanned reads fetch nothing beyond the range that is named around them.
    pub fn frugal(self: &Arc<Self>) -> Frugal {
        self.count_frugal(1);
        Frugal(self.clone())
    }

    fn count_frugal(&self, more: i32) {
        let mut recent = self.recent.get().lock().unwrap_or_else(PoisonError::into_inner);
        recent.frugal = recent.frugal.saturating_add_signed(more);
    }

    /// Starts a request.
    pub(super) fn start<T: Clone + Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, FetchError>> + Send + 'static,
    ) -> Result<Pending<T>> {
        Ok(Pending(Promise::start(&runtime::handle()?, work)))
    }

    /// Waits for a request that [`start`](Self::start) began.
    pub(super) fn wait<T: Clone + Send + 'static>(&self, pending: &Pending<T>) -> Result<T> {
        if let Some(here) = pending.0.wait(Instant::now()) {
            return here.map_err(|e| e.error());
        }
        let begin = Instant::now();
        let found = pending.0.wait(self.until());
        self.counters.waited(begin.elapsed());
        if found.is_none() {
            stop::check()?;
        }
        let none = || Error::lost(format!("a request had no result for {} s", self.patience().as_secs()));
        found.ok_or_else(none)?.map_err(|e| e.error())
    }

    /// Reads a whole small object of at most `most` bytes. `None` if it does not exist.
    pub fn read(&self, location: &Path, most: u64) -> Result<Option<Vec<u8>>> {
        let address = Address::of(location)?;
        let link = self.link(&address)?;
        let target = Target { location: PathBuf::from(location), key: address.key, version: None };
        let pending = self.start(async move {
            let found = link.fetch(&target, Err(most), super::sink::Sink::all(0)).await;
            match found {
                Ok((sink, _)) => Ok(Some(sink.into_stretches().into_iter().flat_map(|s| s.bytes).collect::<Vec<u8>>())),
                Err(e) if e.is_missing() => Ok(None),
                Err(e) => Err(e),
            }
        })?;
        self.wait(&pending)
    }
}

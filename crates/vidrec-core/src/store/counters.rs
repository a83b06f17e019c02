//! Counters of what was fetched so far.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::store::storage::RemoteStats;
use vidrec_format::error::Error;

/// The counters behind [`RemoteStats`].
#[derive(Debug, Default)]
pub struct Counters {
    pub requests: AtomicU64,
    pub fetched_bytes: AtomicU64,
    pub cached_bytes: AtomicU64,
    pub retries: AtomicU64,
    pub cache_failures: AtomicU64,
    wait_ns: AtomicU64,
    cache_failure: OnceLock<String>,
}

impl Counters {
    pub fn waited(&self, time: Duration) {
        self.wait_ns.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Records that the cache could not keep something.
    pub fn cache_failed(&self, e: &Error) {
        add(&self.cache_failures, 1);
        self.cache_failure.get_or_init(|| e.to_string());
    }

    /// The first reason why the cache could not keep something.
    pub fn cache_failure(&self) -> Option<&str> {
        self.cache_failure.get().map(String::as_str)
    }

    /// Returns all counters, with the bytes that are held now and the most that were held.
    pub fn snapshot(&self, (held_bytes, most_held_bytes): (u64, u64)) -> RemoteStats {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        RemoteStats {
            requests: get(&self.requests),
            fetched_bytes: get(&self.fetched_bytes),
            cached_bytes: get(&self.cached_bytes),
            retries: get(&self.retries),
            cache_failures: get(&self.cache_failures),
            held_bytes,
            most_held_bytes,
            network_wait_seconds: get(&self.wait_ns) as f64 / 1e9,
        }
    }
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Relaxed);
}

//! What was fetched so far.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What a data set fetched so far.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct RemoteStats {
    /// Requests that were sent, with retries and second requests.
    pub requests: u64,
    /// Bytes that came back.
    pub fetched_bytes: u64,
    /// Bytes that were read from the cache on local disk instead.
    pub cached_bytes: u64,
    /// Requests that were sent once more, because one failed.
    pub retries: u64,
    /// Requests that were sent because the answer to another one was late.
    pub second_requests: u64,
    /// Requests that may be in flight at a time now.
    pub in_flight_limit: u64,
    /// Time in seconds that readers waited for the network, over all threads.
    pub network_wait_seconds: f64,
}

/// The counters behind [`RemoteStats`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub requests: AtomicU64,
    pub fetched_bytes: AtomicU64,
    pub cached_bytes: AtomicU64,
    pub retries: AtomicU64,
    pub second_requests: AtomicU64,
    pub in_flight_limit: AtomicU64,
    wait_ns: AtomicU64,
}

impl Counters {
    pub fn waited(&self, time: Duration) {
        self.wait_ns.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    pub fn snapshot(&self) -> RemoteStats {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        RemoteStats {
            requests: get(&self.requests),
            fetched_bytes: get(&self.fetched_bytes),
            cached_bytes: get(&self.cached_bytes),
            retries: get(&self.retries),
            second_requests: get(&self.second_requests),
            in_flight_limit: get(&self.in_flight_limit),
            network_wait_seconds: get(&self.wait_ns) as f64 / 1e9,
        }
    }
}

/// Adds to a counter.
pub(super) fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Relaxed);
}

//! The options for reading data sets in object storage: credentials, cache, memory and time limits; and counters of what was read.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use super::per_process::PerProcess;

/// Options for reading a data set in object storage or on a web server. Local data sets ignore them.
///
/// ```
/// use vidrec::Storage;
///
/// let storage = Storage {
///     options: [("region".to_owned(), "eu-west-1".to_owned())].into(),
///     cache: Some("/tmp/vidrec-cache".into()),
///     ..Storage::default()
/// };
/// assert_eq!(storage.memory_bytes, 2 << 30);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Storage {
    /// Options of the storage, by the names that object_store, pandas and polars use: `region`, `endpoint`,
    /// `access_key_id`, `skip_signature` and so on. They take precedence over the environment and over the files
    /// of each cloud's own tools. Default: none.
    ///
    /// `conditional_put=disabled` is for stores that do not write objects on conditions (`If-None-Match`), by which vidrec keeps
    /// publishers apart: nobody else may then publish at the same location at the same time.
    pub options: BTreeMap<String, String>,
    /// A folder on local disk that keeps the bytes that were read. All processes of this machine share it. Default
    /// `None`: nothing is kept on disk.
    pub cache: Option<PathBuf>,
    /// The most bytes that the cache may hold, together with all other data sets in the same folder. Default
    /// `None`: the free space of its disk when the cache is opened, less a tenth of the disk.
    pub cache_bytes: Option<u64>,
    /// The most bytes of objects in memory: those that were used last, and in up to three eighths of it those
    /// that a loader will need next. Default 2 GiB. Two batches always fit, even beyond this limit. The parts of the indexes that
    /// were read are extra: at most 32 bytes per frame, 80 bytes per clip, and the strings.
    pub memory_bytes: u64,
    /// The longest time that a read may take, including all tries, before it is an error. Default 60 seconds.
    pub timeout: Duration,
}

impl Storage {
    /// Returns whether the store need not keep publishers apart.
    pub(crate) fn has_one_publisher(&self) -> bool {
        self.options.get(CONDITIONAL_PUT).is_some_and(|value| value == "disabled")
    }
}

/// The option that says whether the store writes objects on conditions.
pub(crate) const CONDITIONAL_PUT: &str = "conditional_put";

impl Default for Storage {
    fn default() -> Self {
        Storage {
            options: BTreeMap::new(),
            cache: None,
            cache_bytes: None,
            memory_bytes: 2 << 30,
            timeout: Duration::from_secs(60),
        }
    }
}

/// Prints the names of the options without their values, which may be secret.
impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("options", &self.options.keys())
            .field("cache", &self.cache)
            .field("cache_bytes", &self.cache_bytes)
            .field("memory_bytes", &self.memory_bytes)
            .field("timeout", &self.timeout)
            .finish()
    }
}

/// Counters of what a data set has fetched so far.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct RemoteStats {
    /// Requests that were sent, including retries.
    pub requests: u64,
    /// Bytes that were received.
    pub fetched_bytes: u64,
    /// Bytes that were read from the cache on local disk instead.
    pub cached_bytes: u64,
    /// Requests that were repeated because one failed.
    pub retries: u64,
    /// The number of times that the cache could not keep something because its disk is full or failing. The bytes were used all
    /// the same.
    pub cache_failures: u64,
    /// Bytes of objects that are in memory at present, or are on their way.
    pub held_bytes: u64,
    /// The largest value of `held_bytes` so far.
    pub most_held_bytes: u64,
    /// Time in seconds that readers waited for the network, over all threads.
    pub network_wait_seconds: f64,
}

impl RemoteStats {
    /// Adds two sets of counters.
    #[doc(hidden)]
    pub fn and(self, other: Self) -> Self {
        RemoteStats {
            requests: self.requests + other.requests,
            fetched_bytes: self.fetched_bytes + other.fetched_bytes,
            cached_bytes: self.cached_bytes + other.cached_bytes,
            retries: self.retries + other.retries,
            cache_failures: self.cache_failures + other.cache_failures,
            held_bytes: self.held_bytes + other.held_bytes,
            most_held_bytes: self.most_held_bytes + other.most_held_bytes,
            network_wait_seconds: self.network_wait_seconds + other.network_wait_seconds,
        }
    }
}

/// The counters of a data set.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Without the bytes that are held.
    pub stats: PerProcess<Mutex<RemoteStats>>,
    /// The first reason why the cache could not keep something.
    pub cache_failure: OnceLock<String>,
}

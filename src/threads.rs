//! Pools of threads. rayon's own global pool panics where it cannot be started.

use crate::{Error, Result};

/// A pool of `threads` threads, or of one for each core.
pub(crate) fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    let threads = threads.unwrap_or_else(cores);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::start_pool(threads, e))
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

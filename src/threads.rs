//! Thread pools. rayon's global pool is not used, because it panics if it cannot start.

use crate::{Error, Result};

/// A pool of `threads` threads; by default, one for each core.
pub(crate) fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    let threads = threads.unwrap_or_else(cores);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::start_pool(threads, e))
}

/// The number of cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

//! Thread pools. rayon's global pool is not used, because it panics if it cannot start.

use crate::error::{Error, Result};
use crate::stop;

/// A pool of `threads` threads; by default, one for each core. They carry the stop of the calling thread.
pub fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    let threads = threads.unwrap_or_else(cores);
    let carry = stop::carry();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).start_handler(move |_| carry()).build();
    pool.map_err(|e| Error::start_pool(threads, e))
}

/// The number of cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

//! The threads that decode, each with a worker of its own.

use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::worker::Worker;
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::JpegDecoder;

/// The maximum number of threads, unless the caller asks for more.
const DEFAULT_THREADS: usize = 8;

/// A pool of threads and their workers.
pub(super) struct WorkerPool {
    threads: rayon::ThreadPool,
    /// One worker for each thread, so that no thread ever waits for a lock.
    workers: Vec<Mutex<Worker>>,
}

impl WorkerPool {
    /// Creates a pool with the given number of threads, or with one for each core, up to 8.
    pub fn new(threads: Option<usize>, decoder: JpegDecoder) -> Result<Self> {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get).min(DEFAULT_THREADS);
        let count = threads.unwrap_or_else(cores);
        let threads = rayon::ThreadPoolBuilder::new().num_threads(count).thread_name(|i| format!("vidrec-loader-{i}"));
        let threads = threads.build().map_err(|e| Error::start_pool(count, e))?;
        let worker = |_| Worker::new(decoder).map(Mutex::new);
        let workers = (0..threads.current_num_threads()).map(worker).collect::<Result<_>>()?;
        Ok(WorkerPool { threads, workers })
    }

    pub fn threads(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Runs work on the threads of the pool.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.threads.install(work)
    }

    /// The worker of this thread of the pool.
    pub fn worker(&self) -> MutexGuard<'_, Worker> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.workers.len();
        // A worker holds only buffers, and each use fills them first. A worker that a panic left behind is
        // therefore as good as new.
        self.workers[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

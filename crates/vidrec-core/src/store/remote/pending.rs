//! Results of requests that run on the threads of a runtime while other threads wait for them.

use std::sync::{Arc, Mutex};
use std::task::{Context, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, ready};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

use super::request::FetchError;
use crate::stop;
use crate::store::per_process::PerProcess;
use vidrec_format::error::{Error, Result};

/// Threads that receive. One receives 1.5 GB/s or more; encrypted connections need several.
const THREADS: usize = 4;

static RUNTIME: PerProcess<Mutex<Option<Runtime>>> = PerProcess::new();

/// The runtime of this process. The first call starts it. A forked process starts its own.
pub(super) fn runtime() -> Result<Handle> {
    let mut slot = RUNTIME.lock();
    if let Some(runtime) = &*slot {
        return Ok(runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).thread_name("vidrec-fetch").enable_all().build();
    let runtime = runtime.map_err(|e| Error::start("the threads that fetch", e))?;
    Ok(slot.insert(runtime).handle().clone())
}

/// The future result of a request, for any number of threads that wait for it.
#[derive(Debug, Clone)]
pub(super) struct Pending<T: Clone> {
    result: Shared<BoxFuture<'static, Result<T, FetchError>>>,
    /// `None` for a result that was there from the beginning.
    task: Option<AbortHandle>,
}

/// Wakes a thread that waits.
struct Waiter(Thread);

impl Wake for Waiter {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<T: Clone + Send + Sync + 'static> Pending<T> {
    /// Starts a request.
    pub fn start(work: impl Future<Output = Result<T, FetchError>> + Send + 'static) -> Result<Self> {
        let task = runtime()?.spawn(work);
        let abort = task.abort_handle();
        let result = task.map(|ended| ended.unwrap_or_else(|_| Err(FetchError::lost()))).boxed().shared();
        Ok(Pending { result, task: Some(abort) })
    }

    /// A result that is here.
    pub fn here(value: T) -> Self {
        Pending { result: ready(Ok(value)).boxed().shared(), task: None }
    }

    /// The result, if it is here.
    pub fn now(&self) -> Option<Result<T, FetchError>> {
        self.result.peek().cloned().or_else(|| self.result.clone().now_or_never())
    }

    /// Waits until the result is here, the time is up, or the thread's work is stopped. Returns whether it is here.
    ///
    /// It parks the thread, and does not enter the runtime, which a thread of the caller's own runtime must not do.
    pub fn is_over_within(&self, time: Duration) -> bool {
        let (begin, waker) = (Instant::now(), Arc::new(Waiter(thread::current())).into());
        let mut result = self.result.clone();
        while result.poll_unpin(&mut Context::from_waker(&waker)).is_pending() {
            let left = time.saturating_sub(begin.elapsed());
            if left == Duration::ZERO || stop::is_stopped() {
                return false;
            }
            thread::park_timeout(left.min(stop::LOOK));
        }
        true
    }

    /// Ends the request, if it is not over.
    pub fn abort(&self) {
        self.task.iter().for_each(AbortHandle::abort);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_wait_for_a_result_also_within_a_runtime_and_learn_that_there_is_none() {
        runtime().unwrap().block_on(async {
            let pending = Pending::start(async { Ok(7) }).unwrap();
            std::thread::scope(|scope| {
                (0..4).for_each(|_| drop(scope.spawn(|| assert!(pending.is_over_within(Duration::from_secs(60))))));
            });
            assert_eq!(pending.now().unwrap().unwrap(), 7);
            let never = Pending::<u8>::start(std::future::pending()).unwrap();
            assert!(!never.is_over_within(Duration::from_millis(1)) && never.now().is_none());
            never.abort();
            assert!(never.is_over_within(Duration::from_secs(60)) && never.now().is_some_and(|result| result.is_err()));
        });
    }
}

//! The future result of a request, for any number of threads that wait for it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::request::FetchError;
use crate::stop;

/// A value that a task of the runtime produces.
#[derive(Debug)]
pub(super) struct Promise<T>(Arc<(Mutex<State<T>>, Condvar)>);

#[derive(Debug)]
enum State<T> {
    Waiting,
    Here(T),
    /// The task ended without a value: it panicked, or its runtime is gone.
    Lost,
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Promise(self.0.clone())
    }
}

impl<T: Clone + Send + 'static> Promise<T> {
    /// Starts a task that produces the value.
    pub fn start(runtime: &Handle, make: impl Future<Output = T> + Send + 'static) -> Self {
        let later = Promise(Arc::new((Mutex::new(State::Waiting), Condvar::new())));
        let end = End(later.clone());
        runtime.spawn(async move {
            let value = make.await;
            end.0.set(State::Here(value));
        });
        later
    }

    /// Waits for the value. `None` if it is not there in time, will never be there, or the thread's work is stopped.
    pub fn wait(&self, until: Instant) -> Option<T> {
        match &*self.end(until) {
            State::Here(value) => Some(value.clone()),
            State::Lost | State::Waiting => None,
        }
    }
}

impl<T> Promise<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the task has ended, the time is up, or the thread's work is stopped. Returns the state.
    fn end(&self, until: Instant) -> MutexGuard<'_, State<T>> {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        while let State::Waiting = *state {
            let left = until.saturating_duration_since(Instant::now());
            if left == Duration::ZERO || stop::is_stopped() {
                break;
            }
            state = changed.wait_timeout(state, left.min(stop::LOOK)).unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    fn set(&self, value: State<T>) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Waiting = *state {
            *state = value;
            changed.notify_all();
        }
    }
}

/// Marks the promise as lost if the task ends without a value.
struct End<T>(Promise<T>);

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        self.0.set(State::Lost);
    }
}

/// The future result of a request.
#[derive(Debug, Clone)]
pub(super) struct Pending<T>(pub Promise<Result<T, FetchError>>);

impl<T> Pending<T> {
    /// The result of a request that was answered before.
    pub fn here(value: T) -> Self {
        Pending(Promise(Arc::new((Mutex::new(State::Here(Ok(value))), Condvar::new()))))
    }

    /// Whether there is nothing to wait for.
    pub fn is_over(&self) -> bool {
        !matches!(*self.0.state(), State::Waiting)
    }

    /// Whether there will never be an answer.
    pub fn has_failed(&self) -> bool {
        matches!(*self.0.state(), State::Here(Err(_)) | State::Lost)
    }

    /// Waits at most `time`. Returns whether the wait is over, because the answer is here or will never arrive.
    pub fn is_over_within(&self, time: Duration) -> bool {
        !matches!(*self.0.end(Instant::now() + time), State::Waiting)
    }
}

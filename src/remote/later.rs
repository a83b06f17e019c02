//! What a request will give, for any number of threads that wait for it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::fetch::FetchError;
use crate::stop;

/// A value that a task of the runtime makes.
#[derive(Debug)]
pub(super) struct Later<T>(Arc<(Mutex<State<T>>, Condvar)>);

#[derive(Debug)]
enum State<T> {
    Coming,
    Here(T),
    /// The task ended without a value: it panicked, or its runtime is gone.
    Lost,
}

impl<T> Clone for Later<T> {
    fn clone(&self) -> Self {
        Later(self.0.clone())
    }
}

impl<T: Clone + Send + 'static> Later<T> {
    /// Starts to make the value.
    pub fn start(runtime: &Handle, make: impl Future<Output = T> + Send + 'static) -> Self {
        let later = Later(Arc::new((Mutex::new(State::Coming), Condvar::new())));
        let end = End(later.clone());
        runtime.spawn(async move {
            let value = make.await;
            end.0.set(State::Here(value));
        });
        later
    }

    /// Waits for the value; `None` if it does not come in time, or never will, or nobody wants it any more.
    pub fn wait(&self, until: Instant) -> Option<T> {
        match &*self.end(until) {
            State::Here(value) => Some(value.clone()),
            State::Lost | State::Coming => None,
        }
    }
}

impl<T> Later<T> {
    /// The state when the task has ended, when the time is up, or when nobody wants it any more.
    fn end(&self, until: Instant) -> MutexGuard<'_, State<T>> {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        while let State::Coming = *state {
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
        if let State::Coming = *state {
            *state = value;
            changed.notify_all();
        }
    }
}

/// Says that no value comes, if none has come when the task ends.
struct End<T>(Later<T>);

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        self.0.set(State::Lost);
    }
}

/// What a request will give.
#[derive(Debug, Clone)]
pub(super) struct Pending<T>(pub Later<Result<T, FetchError>>);

impl<T> Pending<T> {
    /// Waits, and says whether there is nothing more to wait for, because the answer is here or will never come.
    pub fn is_over_within(&self, time: Duration) -> bool {
        !matches!(*self.0.end(Instant::now() + time), State::Coming)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_wait_for_one_value_and_none_waits_for_nothing() {
        let runtime = super::super::runtime::handle().unwrap();
        let soon = || Instant::now() + Duration::from_secs(30);
        let later = Later::start(&runtime, async { 7 });
        std::thread::scope(|scope| {
            let waits: Vec<_> = (0..4).map(|_| scope.spawn(|| later.wait(soon()))).collect();
            assert!(waits.into_iter().all(|wait| wait.join().unwrap() == Some(7)));
        });
        let never: Later<i32> = Later::start(&runtime, std::future::pending());
        assert_eq!(never.wait(Instant::now()), None);
        let panics = || -> Later<i32> { Later::start(&runtime, async { panic!("in a task, on purpose") }) };
        assert_eq!(panics().wait(soon()), None);
        // Whoever has more to do than to wait learns that there is nothing to wait for, too.
        let never: Pending<i32> = Pending(Later::start(&runtime, std::future::pending()));
        assert!(!never.is_over_within(Duration::ZERO));
        let pending: Pending<i32> = Pending(Later::start(&runtime, async { panic!("in a task, on purpose") }));
        assert!(pending.is_over_within(Duration::from_secs(30)));
    }
}

//! Values that belong to the process that created them: threads, locks, requests in flight.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A value for each process. A forked process gets a new value and never touches that of its parent, because a thread
/// that does not exist here may hold its locks.
#[derive(Debug, Default)]
pub(crate) struct PerProcess<T> {
    first: OnceLock<Box<Of<T>>>,
}

#[derive(Debug)]
struct Of<T> {
    process: u32,
    value: T,
    /// The value of a process that was forked from this one.
    next: OnceLock<Box<Of<T>>>,
}

impl<T: Default> PerProcess<T> {
    pub const fn new() -> Self {
        PerProcess { first: OnceLock::new() }
    }

    /// The value of this process.
    pub fn get(&self) -> &T {
        self.of(std::process::id())
    }

    fn of(&self, process: u32) -> &T {
        let mut place = &self.first;
        loop {
            let found = place.get_or_init(|| Box::new(Of { process, value: T::default(), next: OnceLock::new() }));
            if found.process == process {
                return &found.value;
            }
            place = &found.next;
        }
    }
}

impl<T: Default> PerProcess<Mutex<T>> {
    /// Locks the value of this process. A panic under the lock leaves nothing half done.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.get().lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(mut of) = next {
            next = of.next.take();
            if of.process != std::process::id() {
                // Dropping the value could wait for threads of another process.
                std::mem::forget(of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[test]
    fn each_process_has_a_value_of_its_own_and_drops_no_other() {
        type Value = AtomicU32;
        let values: PerProcess<(Value, OnceLock<Arc<()>>)> = PerProcess::new();
        let (ours, other) = (Arc::new(()), std::process::id() + 1);
        for process in [std::process::id(), other, other + 1] {
            assert_eq!(values.of(process).0.fetch_add(process, Relaxed), 0);
            values.of(process).1.set(ours.clone()).unwrap();
        }
        assert_eq!(values.of(other).0.load(Relaxed), other);
        assert_eq!(values.get().0.load(Relaxed), std::process::id());
        assert_eq!(Arc::strong_count(&ours), 4);
        drop(values);
        assert_eq!(Arc::strong_count(&ours), 3, "only that of this process is dropped");
    }
}

//! The memory of records that were fetched ahead, over all files of a data set.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::per_process::PerProcess;

/// A limited number of bytes. A request takes its bytes before it starts, and they are returned when its records are
/// no longer needed.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    /// A forked process holds none of the bytes that its parent took.
    used: PerProcess<(Mutex<Used>, Condvar)>,
}

#[derive(Debug, Default)]
struct Used {
    now: u64,
    most: u64,
}

impl Used {
    fn take(&mut self, bytes: u64) {
        self.now = self.now.saturating_add(bytes);
        self.most = self.most.max(self.now);
    }
}

impl Memory {
    pub fn new(limit: u64) -> Self {
        Memory { limit, used: PerProcess::new() }
    }

    /// The most bytes that are taken at a time, unless one request needs more.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes `bytes` when there is room. More bytes than the limit have room when nothing else is taken. It waits
    /// until bytes are returned, or until `is_enough` returns true. It asks `is_enough` again after each
    /// [`wake`](Self::wake). Returns whether it took the bytes.
    pub fn take(&self, bytes: u64, is_enough: impl Fn() -> bool) -> bool {
        let mut used = self.lock();
        loop {
            if used.now == 0 || used.now.saturating_add(bytes) <= self.limit {
                used.take(bytes);
                return true;
            }
            if is_enough() {
                return false;
            }
            used = self.used.get().1.wait(used).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes `bytes`, even if there is no room.
    pub fn take_anyway(&self, bytes: u64) {
        self.lock().take(bytes);
    }

    pub fn give(&self, bytes: u64) {
        let mut used = self.lock();
        used.now = used.now.saturating_sub(bytes);
        self.used.get().1.notify_all();
    }

    /// Wakes the waiting threads, so that they check whether they still have to wait.
    pub fn wake(&self) {
        let _used = self.lock();
        self.used.get().1.notify_all();
    }

    /// The bytes that are taken now, and the most that were taken.
    pub fn used(&self) -> (u64, u64) {
        let used = self.lock();
        (used.now, used.most)
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.used.get().0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;

    #[test]
    fn no_more_is_taken_than_there_is() {
        let memory = Memory::new(100);
        let now = || true;
        assert!(memory.take(60, now) && !memory.take(50, now) && memory.take(40, now));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| memory.take(50, || false));
            memory.give(60);
            assert!(waits.join().unwrap());
        });
        memory.give(90);
        assert_eq!(memory.used(), (0, 100));
        assert!(memory.take(1000, now), "what can never fit goes alone");
        assert!(!memory.take(1, now));
        let is_enough = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| memory.take(1, || is_enough.load(Relaxed)));
            is_enough.store(true, Relaxed);
            memory.wake();
            assert!(!waits.join().unwrap());
        });
    }
}

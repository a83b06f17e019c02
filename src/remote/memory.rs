//! How much memory the records that were fetched ahead take, over all files of a data set.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A limited number of bytes, taken before a request and given back when its records are no longer needed.
#[derive(Debug)]
pub(crate) struct Memory {
    pub limit: u64,
    used: Mutex<u64>,
    given: Condvar,
}

impl Memory {
    pub fn new(limit: u64) -> Self {
        Memory { limit, used: Mutex::new(0), given: Condvar::new() }
    }

    /// Takes `bytes` if there is room within `at_most`. One that is larger than the limit has room when nothing is taken.
    pub fn take(&self, bytes: u64, at_most: Duration) -> bool {
        let has_room = |used: u64| used == 0 || used.saturating_add(bytes) <= self.limit;
        let used = self.lock();
        let waited = self.given.wait_timeout_while(used, at_most, |used| !has_room(*used));
        let (mut used, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let fits = has_room(*used);
        if fits {
            *used += bytes;
        }
        fits
    }

    /// Takes `bytes`, whether there is room or not.
    pub fn take_anyway(&self, bytes: u64) {
        *self.lock() += bytes;
    }

    pub fn give(&self, bytes: u64) {
        let mut used = self.lock();
        *used = used.saturating_sub(bytes);
        self.given.notify_all();
    }

    /// Bytes that are taken.
    #[cfg(test)]
    pub fn used(&self) -> u64 {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_there_is() {
        let memory = Memory::new(100);
        let now = Duration::ZERO;
        assert!(memory.take(60, now) && !memory.take(50, now) && memory.take(40, now));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| memory.take(50, Duration::from_secs(20)));
            memory.give(60);
            assert!(waits.join().unwrap());
        });
        memory.give(90);
        assert_eq!(memory.used(), 0);
        assert!(memory.take(1000, now), "what can never fit goes alone");
        assert!(!memory.take(1, now));
    }
}

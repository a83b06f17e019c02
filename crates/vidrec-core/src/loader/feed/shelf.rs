//! Memory that is kept from the end of one epoch to the beginning of the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The unused memory of a loader's batches. The system clears all memory that it provides, page by page. In short
/// epochs, that can take longer than decoding.
pub(crate) struct Shelf<T> {
    most: usize,
    kept: Mutex<Vec<T>>,
}

impl<T> Shelf<T> {
    /// Creates a shelf for at most `most` pieces.
    pub fn new(most: usize) -> Self {
        Shelf { most, kept: Mutex::default() }
    }

    /// Returns the piece that came last, which is the most likely to be in the CPU cache.
    pub fn take(&self) -> Option<T> {
        self.lock().pop()
    }

    /// Keeps memory, or frees it if there is no room.
    pub fn put(&self, memory: T) {
        let mut kept = self.lock();
        if kept.len() < self.most {
            kept.push(memory);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        // No code under the lock leaves the list half changed.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

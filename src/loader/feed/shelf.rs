//! Memory that waits from the end of one epoch to the beginning of the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory of a loader's batches that nobody uses now. The system clears all memory that it gives, page by page, and in
/// short epochs that can take longer than decoding.
pub(crate) struct Shelf<T> {
    most: usize,
    kept: Mutex<Vec<T>>,
}

impl<T> Shelf<T> {
    /// A shelf for at most `most` pieces.
    pub fn new(most: usize) -> Self {
        Shelf { most, kept: Mutex::default() }
    }

    /// Gives the piece that came last, which is the likeliest to be in the cache.
    pub fn take(&self) -> Option<T> {
        self.lock().pop()
    }

    /// Keeps memory, or frees it where there is no room.
    pub fn put(&self, memory: T) {
        let mut kept = self.lock();
        if kept.len() < self.most {
            kept.push(memory);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        // Nothing that is done under the lock leaves it half done.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shelf_keeps_as_many_as_it_has_room_for() {
        let shelf = Shelf::new(2);
        (0..5).for_each(|i| shelf.put(i));
        assert_eq!([shelf.take(), shelf.take(), shelf.take()], [Some(1), Some(0), None]);
    }
}

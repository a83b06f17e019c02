//! The batches that an iterator returns.

use std::ops::{Range, RangeFrom};

/// The batches that an iterator returns: those of one epoch, of several epochs in turn, or part of them.
///
/// Create it from the number of an epoch (`3`), from a range of epochs (`0..10`), or without an end (`0..`).
///
/// ```
/// use vidrec::Epochs;
///
/// assert_eq!(Epochs::from(3), Epochs { range: 3..4, first: 0, step: 1 });
/// let mine = Epochs::from(0..10).part(1, 4); // batches 1, 5, 9, ... of each epoch
/// assert_eq!((mine.first, mine.step), (1, 4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Epochs {
    /// The epochs, in order.
    pub range: Range<u64>,
    /// The number of the first batch from each epoch. `from` sets it to 0.
    pub first: u64,
    /// The distance from one batch to the next, 1 or more; 0 counts as 1. `from` sets it to 1.
    pub step: u64,
}

impl Epochs {
    /// Keeps only batches `first`, `first + step`, and so on, of each epoch.
    ///
    /// If n loaders in n processes have the parts `(0, n)` to `(n - 1, n)`, each batch is made once. Taken in
    /// turn, their batches are the batches of one loader.
    #[must_use]
    pub fn part(self, first: u64, step: u64) -> Self {
        Epochs { first, step, ..self }
    }
}

impl From<u64> for Epochs {
    fn from(epoch: u64) -> Self {
        Epochs::from(epoch..epoch.saturating_add(1))
    }
}

impl From<Range<u64>> for Epochs {
    fn from(range: Range<u64>) -> Self {
        Epochs { range, first: 0, step: 1 }
    }
}

impl From<RangeFrom<u64>> for Epochs {
    fn from(range: RangeFrom<u64>) -> Self {
        Epochs::from(range.start..u64::MAX)
    }
}

//! Ranges of an object that do not overlap, each with a value.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges by their first positions, with their ends and values.
#[derive(Debug)]
pub(crate) struct Ranges<T>(BTreeMap<u64, (u64, T)>);

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Ranges(BTreeMap::new())
    }
}

impl<T: Clone> Ranges<T> {
    /// The ranges that have bytes of a range, in order.
    pub fn within(&self, range: &Range<u64>) -> Vec<(Range<u64>, T)> {
        let before = self.0.range(..range.start).next_back().filter(|(_, (end, _))| *end > range.start);
        let found = before.into_iter().chain(self.0.range(range.clone()));
        found.map(|(&start, (end, value))| (start..*end, value.clone())).collect()
    }

    /// Like [`within`](Self::within); `None` if a part of the range is in none.
    pub fn covering(&self, range: &Range<u64>) -> Option<Vec<(Range<u64>, T)>> {
        let found = self.within(range);
        self.missing(range).is_empty().then_some(found)
    }

    /// The parts of a range that are in none.
    pub fn missing(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let (mut missing, mut at) = (Vec::new(), range.start);
        for (found, _) in self.within(range) {
            missing.extend((at < found.start).then_some(at..found.start));
            at = at.max(found.end);
        }
        missing.extend((at < range.end).then_some(at..range.end));
        missing
    }

    /// Adds a range, which overlaps none.
    pub fn insert(&mut self, range: Range<u64>, value: T) {
        self.0.insert(range.start, (range.end, value));
    }

    /// The value of the range that begins at `start`.
    pub fn get_mut(&mut self, start: u64) -> Option<&mut T> {
        self.0.get_mut(&start).map(|(_, value)| value)
    }

    /// Removes the range that begins at `start`.
    pub fn remove(&mut self, start: u64) -> Option<(Range<u64>, T)> {
        self.0.remove(&start).map(|(end, value)| (start..end, value))
    }

    /// All ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Range<u64>, &T)> {
        self.0.iter().map(|(&start, (end, value))| (start..*end, value))
    }

    pub fn retain(&mut self, mut stays: impl FnMut(&T) -> bool) {
        self.0.retain(|_, (_, value)| stays(value));
    }
}

//! How ranges of an object reach those who want them. A build without `remote` has these types too.

use std::ops::Range;

/// How a run of records reaches its reader.
#[derive(Debug)]
pub enum RunFrom {
    /// It is on this machine.
    Here,
    /// These pages have to be fetched, and the cache will keep them. Others may be fetching the rest.
    Keep(Vec<Range<u64>>),
    /// The run has to be fetched, and is held in memory.
    Hold,
}

/// A part of an object that a request fetches.
#[derive(Debug)]
pub enum Wanted {
    /// A run of records that is held in memory.
    Hold(Range<u64>),
    /// Pages that the cache keeps.
    Keep(Range<u64>),
}

impl Wanted {
    pub fn range(&self) -> &Range<u64> {
        let (Wanted::Hold(range) | Wanted::Keep(range)) = self;
        range
    }

    pub fn bytes(&self) -> u64 {
        self.range().end - self.range().start
    }
}

/// How a range reaches the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filled {
    /// It is in the cache.
    Here,
    /// It was asked for, or will be with the next request. Others may be fetching parts of it.
    PendingRange,
    /// There is no room for it.
    NoRoom,
}

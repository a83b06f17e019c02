//! The destination of an answer's bytes: each goes to the stretch that wants it, in one copy.

use std::ops::Range;

use vidrec_format::allocation;
use vidrec_format::error::Result;

/// Takes the bytes of a range in order, and keeps those of some stretches.
#[derive(Debug)]
pub(super) struct Sink {
    /// The positions of the first byte and of the next byte in the object.
    begin: u64,
    at: u64,
    /// In order, without overlaps.
    stretches: Vec<Stretch>,
    /// The stretch that the next byte can belong to.
    next: usize,
}

/// A stretch of an object and its bytes.
#[derive(Debug)]
pub(super) struct Stretch {
    pub range: Range<u64>,
    pub bytes: Vec<u8>,
}

impl Sink {
    /// Creates a sink for the bytes from `at` on. It keeps those of `stretches`, which are in order and do not
    /// overlap.
    pub fn new(at: u64, stretches: impl IntoIterator<Item = Range<u64>>) -> Self {
        let stretches = stretches.into_iter().map(|range| Stretch { range, bytes: Vec::new() }).collect();
        Sink { begin: at, at, stretches, next: 0 }
    }

    /// Creates a sink that keeps all bytes from `at` on.
    pub fn all(at: u64) -> Self {
        Sink::new(at, std::iter::once(at..u64::MAX))
    }

    /// Position of the next byte in the object.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// An empty sink for the bytes that are still missing.
    pub fn rest(&self) -> Sink {
        let rest = self.stretches[self.next..].iter().map(|s| s.range.start.max(self.at)..s.range.end);
        Sink::new(self.at, rest)
    }

    /// Appends the bytes of a sink for the rest.
    pub fn append(&mut self, rest: Sink) {
        for (mine, more) in self.stretches[self.next..].iter_mut().zip(rest.stretches) {
            if mine.bytes.is_empty() {
                mine.bytes = more.bytes;
            } else {
                mine.bytes.extend_from_slice(&more.bytes);
            }
        }
        (self.at, self.next) = (rest.at, self.next + rest.next);
    }

    /// Returns this sink as it was when `rest` was created from it, completed by `rest`.
    pub fn replaced_by(mut self, rest: Sink) -> Sink {
        let begin = rest.begin;
        for stretch in &mut self.stretches {
            let kept = begin.saturating_sub(stretch.range.start).min(stretch.bytes.len() as u64);
            stretch.bytes.truncate(kept as usize);
        }
        self.next = self.stretches.partition_point(|stretch| stretch.range.end <= begin);
        self.at = begin;
        self.append(rest);
        self
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let end = self.at.saturating_add(bytes.len() as u64);
        while let Some(Stretch { range, bytes: kept }) = self.stretches.get_mut(self.next) {
            let (from, to) = (range.start.max(self.at), range.end.min(end));
            if from < to {
                let missing = if range.end == u64::MAX { to - from } else { range.end - from };
                allocation::reserve(kept, usize::try_from(missing).unwrap_or(usize::MAX), "what was fetched")?;
                kept.extend_from_slice(&bytes[(from - self.at) as usize..(to - self.at) as usize]);
            }
            if range.end > end {
                break;
            }
            self.next += 1;
        }
        self.at = end;
        Ok(())
    }

    /// The stretches. They are complete if the sink took the whole range.
    pub fn into_stretches(self) -> Vec<Stretch> {
        self.stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Holds for any pieces, and when a second sink takes over in between.
        #[test]
        fn each_byte_goes_to_its_stretch(
            gaps in prop::collection::vec((0u64..4, 1u64..6), 0..8), pieces in prop::collection::vec(1usize..9, 1..40),
            takeover in 0usize..20,
        ) {
            let mut at = 100;
            let stretches: Vec<_> = gaps.iter().map(|&(gap, length)| { at += gap + length; at - length..at }).collect();
            let object: Vec<u8> = (0..=255).collect();
            let mut sink = Sink::new(100, stretches.clone());
            let mut begin = 100;
            for (i, piece) in pieces.iter().enumerate() {
                let end = (begin + piece).min(at as usize);
                if i == takeover {
                    let mut rest = sink.rest();
                    rest.push(&object[begin..end]).unwrap();
                    sink.append(rest);
                } else {
                    sink.push(&object[begin..end]).unwrap();
                }
                begin = end;
                prop_assert_eq!(sink.at(), begin as u64);
            }
            let got = begin as u64;
            for (found, range) in sink.into_stretches().into_iter().zip(stretches) {
                let end = range.end.min(got).max(range.start);
                prop_assert_eq!(found.bytes, &object[range.start as usize..end as usize]);
            }
        }
    }
}

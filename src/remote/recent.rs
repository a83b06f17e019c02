//! The stretches of an object that were read last, without a plan: whoever reads on finds the next one on its way.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::remote::Pending;
use super::sizes::REQUEST_BYTES;
use crate::Result;

/// Stretches that are kept. Several threads may read at several places.
const KEPT: usize = 6;

type Bytes = Pending<Arc<Vec<u8>>>;

/// The last stretches, the latest first.
#[derive(Debug, Default)]
pub(super) struct Recent {
    stretches: VecDeque<(Range<u64>, Bytes)>,
    /// Where the last stretch of a sequence ends, and how long it was.
    ahead: (u64, u64),
}

impl Recent {
    /// The stretches that `range` is in, in order. What is missing is begun by `start`: as far as `around` goes, or further
    /// if reads follow each other. Then the next stretch is begun, too, while the reader is in the one before.
    pub fn find(
        &mut self,
        range: &Range<u64>,
        around: Range<u64>,
        length: u64,
        start: impl Fn(Range<u64>) -> Result<Bytes>,
    ) -> Result<Vec<(Range<u64>, Bytes)>> {
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let Some((stretch, bytes)) = self.stretches.iter().find(|(stretch, _)| stretch.contains(&at)) else {
                self.begin(self.next(at, range, &around, length), &start)?;
                continue;
            };
            found.push((stretch.clone(), bytes.clone()));
            at = stretch.end;
        }
        let (next, size) = self.ahead;
        // Of a sequence that has grown, the reader is in the last stretch.
        if size >= REQUEST_BYTES / 2 && at == next && next < length {
            self.begin(next..next.saturating_add(REQUEST_BYTES).min(length), &start)?;
        }
        Ok(found)
    }

    /// A new stretch for the part of `range` from `at` on.
    fn next(&self, at: u64, range: &Range<u64>, around: &Range<u64>, length: u64) -> Range<u64> {
        let follows = at == self.ahead.0 && at > 0;
        let grown = if follows { (self.ahead.1 * 2).min(REQUEST_BYTES) } else { 0 };
        // At most a request; but always the range itself.
        let end = around.end.min(at.saturating_add(REQUEST_BYTES)).max(range.end);
        at..end.max(at.saturating_add(grown)).min(length)
    }

    /// Whether a range was read, or is on its way.
    pub fn has(&self, range: &Range<u64>) -> bool {
        self.stretches.iter().any(|(stretch, _)| stretch.start <= range.start && stretch.end >= range.end)
    }

    /// Starts a stretch.
    pub fn begin(&mut self, stretch: Range<u64>, start: &impl Fn(Range<u64>) -> Result<Bytes>) -> Result<()> {
        let bytes = start(stretch.clone())?;
        self.ahead = (stretch.end, stretch.end - stretch.start);
        self.stretches.push_front((stretch, bytes));
        self.stretches.truncate(KEPT);
        Ok(())
    }

    /// Forgets what overlaps a range.
    pub fn forget(&mut self, range: &Range<u64>) {
        self.stretches.retain(|(stretch, _)| stretch.end <= range.start || stretch.start >= range.end);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::later::Later;
    use super::*;

    /// The requests that reads make.
    fn requests(reads: impl IntoIterator<Item = (Range<u64>, Range<u64>)>, length: u64) -> Vec<Range<u64>> {
        let (runtime, asked) = (super::super::runtime::handle().unwrap(), RefCell::new(Vec::new()));
        let mut recent = Recent::default();
        for (range, around) in reads {
            let start = |range: Range<u64>| {
                asked.borrow_mut().push(range);
                Ok(Pending::of(Later::start(&runtime, async { Ok(Arc::default()) })))
            };
            let found = recent.find(&range, around, length, start).unwrap();
            assert!(found[0].0.start <= range.start && found.last().unwrap().0.end >= range.end);
            assert!(found.windows(2).all(|two| two[0].0.end == two[1].0.start));
        }
        asked.into_inner()
    }

    #[test]
    fn reads_that_follow_each_other_ask_for_more_and_more_and_for_nothing_twice() {
        let (length, record) = (100 << 20, 11_111);
        let all = (0..length / record).map(|i| i * record..(i + 1) * record);
        let asked = requests(all.map(|r| (r.clone(), r)), length);
        assert!(asked.len() < 25, "{asked:?}");
        assert!(asked.windows(2).all(|two| two[0].end == two[1].start));
        assert!(asked.iter().all(|range| range.end - range.start <= REQUEST_BYTES));
    }

    #[test]
    fn a_read_here_and_there_asks_for_what_is_around_it() {
        let asked = requests([(500..600, 400..1000), (650..700, 400..1000), (9000..9100, 0..0)], 10_000);
        assert_eq!(asked, [500..1000, 9000..9100]);
    }
}

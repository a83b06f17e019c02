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
    /// The stretch that contains `range`, begun by `start` if there is none: `around` it, or more if reads follow each
    /// other. Starts the next one, too, while the reader is in the one before.
    pub fn find(
        &mut self,
        range: &Range<u64>,
        around: Range<u64>,
        length: u64,
        start: impl Fn(Range<u64>) -> Result<Bytes>,
    ) -> Result<(u64, Bytes)> {
        let contains = |(stretch, _): &(Range<u64>, Bytes)| stretch.start <= range.start && stretch.end >= range.end;
        let place = self.stretches.iter().position(contains);
        let found = match place {
            Some(place) => place,
            None => {
                let follows = range.start == self.ahead.0 && range.start > 0;
                let size = if follows { (self.ahead.1 * 2).min(REQUEST_BYTES) } else { 0 };
                // At most a request; but always the range itself.
                let end = around.end.min(range.start.saturating_add(REQUEST_BYTES)).max(range.end);
                let stretch = range.start..end.max(range.start.saturating_add(size)).min(length);
                self.begin(stretch, &start)?;
                0
            }
        };
        let (stretch, bytes) = self.stretches[found].clone();
        let (next, size) = self.ahead;
        // Of a sequence that has grown, the reader is in the last stretch.
        if size >= REQUEST_BYTES / 2 && stretch.end == next && next < length {
            self.begin(next..next.saturating_add(REQUEST_BYTES).min(length), &start)?;
        }
        Ok((stretch.start, bytes))
    }

    fn begin(&mut self, stretch: Range<u64>, start: &impl Fn(Range<u64>) -> Result<Bytes>) -> Result<()> {
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

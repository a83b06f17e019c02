//! The stretches of objects that were read last without a plan. A reader that reads on finds the next one in flight.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::promise::Pending;
use super::sizes::REQUEST_BYTES;
use vidrec_format::error::Result;

/// The most bytes that are kept for all files of a data set together. The last two stretches are kept even if they
/// are longer.
const KEPT_BYTES: u64 = 48 << 20;
/// The most stretches that are kept, and the most sequences that are known. Several threads may read at several
/// positions.
const KEPT: usize = 64;

type Bytes = Pending<Arc<Vec<u8>>>;

/// The last stretches, the latest first.
#[derive(Debug, Default)]
pub(super) struct Recent {
    stretches: VecDeque<Stretch>,
    /// For each file, where the last stretch of its sequence ends, and how long it was. The latest first.
    sequences: VecDeque<(u64, (u64, u64))>,
    /// How many readers want nothing beyond the range that they name around a read.
    pub frugal: u32,
}

#[derive(Debug)]
struct Stretch {
    file: u64,
    range: Range<u64>,
    bytes: Bytes,
}

impl Recent {
    /// Returns the stretches of a file that contain `range`, in order. It calls `start` for missing stretches. These
    /// extend as far as `around`, or further if reads follow each other. While the reader is in the last stretch, the
    /// next one is started, too.
    pub fn find(
        &mut self,
        (file, length): (u64, u64),
        range: &Range<u64>,
        around: Range<u64>,
        start: impl Fn(Range<u64>) -> Result<Bytes>,
    ) -> Result<Vec<(Range<u64>, Bytes)>> {
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let has = |s: &&Stretch| s.file == file && s.range.contains(&at);
            let Some(stretch) = self.stretches.iter().find(has) else {
                let next = self.next((file, length), at, range, &around);
                self.begin(file, next, &start)?;
                continue;
            };
            found.push((stretch.range.clone(), stretch.bytes.clone()));
            at = stretch.range.end;
        }
        let (next, size) = self.sequence(file);
        // In a sequence that has grown, the reader is in the last stretch.
        if self.frugal == 0 && size >= REQUEST_BYTES / 2 && at == next && next < length {
            self.begin(file, next..next.saturating_add(REQUEST_BYTES).min(length), &start)?;
        }
        Ok(found)
    }

    /// Plans a stretch for the part of `range` that begins at `at`.
    fn next(&self, (file, length): (u64, u64), at: u64, range: &Range<u64>, around: &Range<u64>) -> Range<u64> {
        let (next, last) = self.sequence(file);
        let follows = self.frugal == 0 && at == next && at > 0;
        let grown = if follows { (last * 2).min(REQUEST_BYTES) } else { 0 };
        // At most one request's worth of bytes, but always the whole range.
        let end = around.end.min(at.saturating_add(REQUEST_BYTES)).max(range.end);
        at..end.max(at.saturating_add(grown)).min(length)
    }

    /// Whether a range was read, or is in flight.
    pub fn has(&self, file: u64, range: &Range<u64>) -> bool {
        self.stretches.iter().any(|s| s.file == file && s.range.start <= range.start && s.range.end >= range.end)
    }

    fn sequence(&self, file: u64) -> (u64, u64) {
        self.sequences.iter().find(|(of, _)| *of == file).map_or((0, 0), |(_, sequence)| *sequence)
    }

    /// Starts a stretch.
    pub fn begin(&mut self, file: u64, range: Range<u64>, start: &impl Fn(Range<u64>) -> Result<Bytes>) -> Result<()> {
        let bytes = start(range.clone())?;
        self.sequences.retain(|(of, _)| *of != file);
        self.sequences.push_front((file, (range.end, range.end - range.start)));
        self.sequences.truncate(KEPT);
        self.stretches.push_front(Stretch { file, range, bytes });
        let mut sum = 0u64;
        let fits = |s: &Stretch| {
            sum = sum.saturating_add(s.range.end - s.range.start);
            sum <= KEPT_BYTES
        };
        let kept = self.stretches.iter().map(fits).take_while(|fits| *fits).count();
        self.stretches.truncate(kept.clamp(2, KEPT));
        Ok(())
    }

    /// Forgets stretches that overlap a range of a file.
    pub fn forget(&mut self, file: u64, range: &Range<u64>) {
        self.stretches.retain(|s| s.file != file || s.range.end <= range.start || s.range.start >= range.end);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::remote::Remote;

    #[test]
    fn a_bounded_part_of_all_files_is_kept_and_sequences_grow() {
        let remote = Remote::new(&crate::storage::Storage::default()).unwrap();
        let (started, mut recent) = (RefCell::new(Vec::new()), Recent::default());
        let start = |range: Range<u64>| {
            started.borrow_mut().push(range);
            remote.start(async { Ok(Arc::default()) })
        };
        let length = 1 << 30;
        for at in (0..64 << 20).step_by(64 << 10) {
            let range = at..at + (64 << 10);
            let found = recent.find((7, length), &range, range.clone(), start).unwrap();
            assert!(found[0].0.start <= at);
        }
        let ranges = started.take();
        assert!(ranges.len() < 20 && ranges.windows(2).all(|two| two[0].end == two[1].start), "{ranges:?}");
        for file in 0..100 {
            let range = 0..REQUEST_BYTES;
            recent.find((file, REQUEST_BYTES), &range, range.clone(), start).unwrap();
            assert!(recent.stretches.iter().map(|s| s.range.end - s.range.start).sum::<u64>() <= KEPT_BYTES);
        }
        let before = recent.stretches.len();
        recent.forget(98, &(5..6));
        assert_eq!(recent.stretches.len(), before - 1);
        recent.find((1, 1 << 40), &(0..1 << 30), 0..1 << 30, start).unwrap();
        assert_eq!(recent.stretches.len(), 2, "and always the last two");
    }

    #[test]
    fn records_that_do_not_end_with_a_stretch_are_read_out_of_two_and_nothing_is_asked_for_twice() {
        let remote = Remote::new(&crate::storage::Storage::default()).unwrap();
        let (started, mut recent) = (RefCell::new(Vec::new()), Recent::default());
        let start = |range: Range<u64>| {
            started.borrow_mut().push(range);
            remote.start(async { Ok(Arc::default()) })
        };
        let (length, record) = (100 << 20, 11_111);
        for at in (0..length - record).step_by(record as usize) {
            let range = at..at + record;
            let found = recent.find((7, length), &range, range.clone(), start).unwrap();
            assert!(found[0].0.start <= range.start && found.last().unwrap().0.end >= range.end);
            assert!(found.windows(2).all(|two| two[0].0.end == two[1].0.start));
        }
        let asked = started.take();
        assert!(asked.len() < 25 && asked.windows(2).all(|two| two[0].end == two[1].start), "{asked:?}");
        // For scattered reads, only the range around each is fetched.
        let mut recent = Recent::default();
        for (range, around) in [(500..600, 400..1000), (650..700, 400..1000), (9000..9100, 0..0)] {
            recent.find((8, 10_000), &range, around, start).unwrap();
        }
        assert_eq!(started.take(), [500..1000, 9000..9100]);
        // For reads in sequence by a frugal reader, nothing beyond the range around them is fetched.
        let mut recent = Recent { frugal: 1, ..Recent::default() };
        for at in (0..90 << 20).step_by(6 << 20) {
            recent.find((9, length), &(at..at + 100), at..at + (6 << 20), start).unwrap();
            recent.find((9, length), &(at + (6 << 20) - 100..at + (6 << 20)), at..at + (6 << 20), start).unwrap();
        }
        assert_eq!(started.take(), Vec::from_iter((0..90 << 20).step_by(6 << 20).map(|at| at..at + (6 << 20))));
    }
}

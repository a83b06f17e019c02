//! The ranges of a record file to ask for when some frames of a clip are needed.

use std::ops::Range;

/// The longest gap within a clip that is read rather than skipped. One more request would cost more than these bytes.
const GAP_BYTES: u64 = 32 << 10;
/// The part of the needed bytes that all gaps of a clip together may add.
const GAPS: u64 = 4;
/// The longest range, unless one record is longer.
const MOST_BYTES: u64 = 4 << 20;

/// The ranges that contain `records` of a clip, which are in any order and may repeat. They have the shortest gaps.
pub(super) fn request_ranges(mut records: Vec<Range<u64>>) -> Vec<Range<u64>> {
    records.sort_unstable_by_key(|record| (record.start, record.end));
    records.dedup();
    let gap = |i: usize| records[i].start.saturating_sub(records[i - 1].end);
    let mut gaps: Vec<usize> = (1..records.len()).filter(|&i| gap(i) <= GAP_BYTES).collect();
    gaps.sort_by_key(|&i| gap(i));
    let mut left = records.iter().map(|record| record.end - record.start).sum::<u64>() / GAPS;
    let mut is_read = vec![false; records.len()];
    for i in gaps {
        let Some(after) = left.checked_sub(gap(i)) else { break };
        (left, is_read[i]) = (after, true);
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (record, is_read) in records.into_iter().zip(is_read) {
        match ranges.last_mut() {
            Some(range) if is_read && record.end - range.start <= MOST_BYTES => range.end = range.end.max(record.end),
            _ => ranges.push(record),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_gaps_are_read_and_large_ones_skipped() {
        let records: Vec<_> = (0..8u64).map(|t| t * 100_000..(t + 1) * 100_000).collect();
        let some = |ts: &[usize]| request_ranges(ts.iter().map(|&t| records[t].clone()).collect());
        assert_eq!(some(&[7, 0, 1, 3, 5, 5]), [0..200_000, 300_000..400_000, 500_000..600_000, 700_000..800_000]);
        assert_eq!(some(&[6, 0, 1]), [0..200_000, 600_000..700_000]);
        assert_eq!(
            request_ranges(vec![0..100_000, 120_000..130_000, 137_000..140_000]),
            [0..100_000, 120_000..140_000]
        );
        assert!(request_ranges(vec![]).is_empty());
        let large: Vec<_> = (0..9u64).map(|t| t << 20..(t + 1) << 20).collect();
        assert_eq!(request_ranges(large), [0..4 << 20, 4 << 20..8 << 20, 8 << 20..9 << 20]);
    }

    proptest! {
        #[test]
        fn each_record_is_in_a_range_and_no_more_than_the_clip_is_read(
            lengths in prop::collection::vec(1u64..100_000, 1..20), chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        ) {
            let mut at = 7;
            let all: Vec<_> = lengths.iter().map(|&n| { at += n; at - n..at }).collect();
            let clip: u64 = lengths.iter().sum();
            let wanted: Vec<_> = chosen.iter().map(|i| all[i.index(all.len())].clone()).collect();
            let found = request_ranges(wanted.clone());
            prop_assert!(wanted.iter().all(|w| found.iter().any(|f| f.start <= w.start && f.end >= w.end)));
            prop_assert!(found.windows(2).all(|two| two[0].end <= two[1].start));
            prop_assert!(found.iter().map(|f| f.end - f.start).sum::<u64>() <= clip);
        }
    }
}

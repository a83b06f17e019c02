//! The ranges of a record file to ask for when some frames of a clip are needed.

use std::ops::Range;

/// The longest gap that is read rather than skipped. One more request would cost more than these bytes.
const GAP_BYTES: u64 = 32 << 10;
/// The part of the bytes that are needed which may be read beside them, to save requests.
const GAP_PART: u64 = 4;
/// The longest range, unless one record is longer.
const MOST_BYTES: u64 = 4 << 20;

/// The ranges that contain `records` of a clip, which are in any order and may repeat. Small gaps between them are closed
/// first.
pub(super) fn request_ranges(mut records: Vec<Range<u64>>) -> Vec<Range<u64>> {
    records.sort_unstable_by_key(|record| (record.start, record.end));
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for record in records {
        match ranges.last_mut() {
            Some(range) if record.start < range.end => range.end = range.end.max(record.end),
            _ => ranges.push(record),
        }
    }
    let mut gaps: Vec<(u64, usize)> = (1..ranges.len()).map(|i| (ranges[i].start - ranges[i - 1].end, i)).collect();
    gaps.sort_unstable();
    let mut rest = ranges.iter().map(|range| range.end - range.start).sum::<u64>() / GAP_PART;
    let mut is_closed = vec![false; ranges.len()];
    for (gap, i) in gaps.into_iter().take_while(|(gap, _)| *gap <= GAP_BYTES) {
        let Some(left) = rest.checked_sub(gap) else { break };
        (rest, is_closed[i]) = (left, true);
    }
    let mut joined: Vec<Range<u64>> = Vec::new();
    for (range, is_closed) in ranges.into_iter().zip(is_closed) {
        match joined.last_mut() {
            Some(last) if is_closed && range.end - last.start <= MOST_BYTES => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
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
            request_ranges(vec![0..100_000, 132_000..133_000, 170_000..200_000]),
            [0..133_000, 170_000..200_000]
        );
        assert!(request_ranges(vec![]).is_empty());
        let large: Vec<_> = (0..9u64).map(|t| t << 20..(t + 1) << 20).collect();
        assert_eq!(request_ranges(large), [0..4 << 20, 4 << 20..8 << 20, 8 << 20..9 << 20]);
        // Of every second frame, some gaps are closed.
        let stride: Vec<_> = (0..8u64).map(|t| t * 40_000..t * 40_000 + 20_000).collect();
        assert_eq!(request_ranges(stride)[..2], [0..100_000, 120_000..140_000]);
    }

    proptest! {
        #[test]
        fn each_record_is_in_a_range_and_little_else_is_read(
            lengths in prop::collection::vec(1u64..100_000, 1..20), chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        ) {
            let mut at = 7;
            let all: Vec<_> = lengths.iter().map(|&n| { at += n; at - n..at }).collect();
            let mut chosen: Vec<_> = chosen.iter().map(|i| i.index(all.len())).collect();
            let records: Vec<_> = chosen.iter().map(|&i| all[i].clone()).collect();
            let found = request_ranges(records.clone());
            prop_assert!(records.iter().all(|r| found.iter().any(|f| f.start <= r.start && f.end >= r.end)));
            prop_assert!(found.windows(2).all(|two| two[0].end <= two[1].start));
            chosen.sort_unstable();
            chosen.dedup();
            let needed: u64 = chosen.iter().map(|&i| lengths[i]).sum();
            prop_assert!(found.iter().map(|f| f.end - f.start).sum::<u64>() <= needed + needed / GAP_PART);
        }
    }
}

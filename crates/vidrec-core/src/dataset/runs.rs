//! Which ranges of a record file to ask for, when some frames of a clip are needed.

use std::ops::Range;

/// The longest gap within a clip that is read rather than skipped. One more request would cost more than these bytes.
///
/// Of 16 frames of 22.5 kB, with one of each two, 3.0 requests for a clip then fetch 1.35 times the bytes that are needed. With
/// 16 KiB, 5.4 requests fetch 1.05 times the bytes, and with 64 KiB, 1.3 requests 1.73 times.
const GAP_BYTES: u64 = 32 << 10;
/// The longest range, unless one record is longer.
const MOST_BYTES: u64 = 4 << 20;

/// The ranges that contain `records` of a clip, which are in any order and may repeat.
pub(super) fn runs(mut records: Vec<Range<u64>>) -> Vec<Range<u64>> {
    records.sort_unstable_by_key(|record| (record.start, record.end));
    records.dedup();
    let mut runs: Vec<Range<u64>> = Vec::new();
    for record in records {
        match runs.last_mut() {
            Some(run) if record.start.saturating_sub(run.end) <= GAP_BYTES && record.end - run.start <= MOST_BYTES => {
                run.end = run.end.max(record.end);
            }
            _ => runs.push(record),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_gaps_are_read_and_large_ones_skipped() {
        let records: Vec<_> = (0..8u64).map(|t| t * 100_000..(t + 1) * 100_000).collect();
        let some = |ts: &[usize]| runs(ts.iter().map(|&t| records[t].clone()).collect());
        assert_eq!(some(&[7, 0, 1, 3, 5, 5]), [0..200_000, 300_000..400_000, 500_000..600_000, 700_000..800_000]);
        assert_eq!(some(&[6, 0, 1]), [0..200_000, 600_000..700_000]);
        assert!(runs(vec![0..10, 32_000..33_000]).into_iter().eq(std::iter::once(0..33_000)));
        assert!(runs(vec![]).is_empty());
        let large: Vec<_> = (0..9u64).map(|t| t << 20..(t + 1) << 20).collect();
        assert_eq!(runs(large), [0..4 << 20, 4 << 20..8 << 20, 8 << 20..9 << 20]);
    }

    proptest! {
        #[test]
        fn each_record_is_in_a_stretch_and_no_more_than_the_clip_is_read(
            lengths in prop::collection::vec(1u64..100_000, 1..20), chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        ) {
            let mut at = 7;
            let all: Vec<_> = lengths.iter().map(|&n| { at += n; at - n..at }).collect();
            let clip: u64 = lengths.iter().sum();
            let wanted: Vec<_> = chosen.iter().map(|i| all[i.index(all.len())].clone()).collect();
            let found = runs(wanted.clone());
            prop_assert!(wanted.iter().all(|w| found.iter().any(|f| f.start <= w.start && f.end >= w.end)));
            prop_assert!(found.windows(2).all(|two| two[0].end <= two[1].start));
            prop_assert!(found.iter().map(|f| f.end - f.start).sum::<u64>() <= clip);
        }
    }
}

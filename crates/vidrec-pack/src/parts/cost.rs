//! The expected costs of videos, and their division into parts of about the same cost.

use crate::plan::Job;

/// The fixed cost of any video, in bytes of video. Opening it and storing its frames take about as long as
/// decoding this much.
const FIXED: u64 = 512 << 10;

/// Returns the expected cost of a video of so many bytes, in bytes of video to read and decode.
///
/// The cost of a segment is its share of the video. The length of the video is the number of seconds in the column
/// `duration` of a manifest or, without it, `last_us`, the end of its last segment.
pub(super) fn of(job: &Job, bytes: u64, last_us: Option<u64>) -> u64 {
    let share = job.segment.and_then(|segment| {
        let end = segment.end_us?;
        // Parsing the attributes of millions of segments takes long.
        let has_duration = job.attributes.as_json().contains("\"duration\"");
        let stated = || job.attributes.to_map().get("duration").and_then(|seconds| seconds.as_f64());
        let seconds = has_duration.then(stated).flatten().or(last_us.map(|us| us as f64 / 1e6));
        let seconds = seconds.filter(|&seconds| seconds > 0.0)?;
        Some((end.saturating_sub(segment.start_us) as f64 / 1e6 / seconds).min(1.0))
    });
    FIXED.saturating_add((bytes as f64 * share.unwrap_or(1.0)) as u64)
}

/// Divides videos into parts of about the same cost, one video after another.
///
/// Each part has at least one video. It begins where the sum of the costs before it is closest to the share of the
/// parts before it.
pub(super) struct Division {
    parts: u64,
    videos: u64,
    /// The costs of all videos.
    total: u128,
    /// The number of parts that have begun, and of videos that were taken, with their costs.
    begun: u64,
    taken: u64,
    before: u128,
}

impl Division {
    /// Divides so many videos with this total cost into `parts`, or into one part for each video if there are fewer
    /// videos.
    pub fn new(videos: u64, total: u128, parts: u32) -> Self {
        let parts = u64::from(parts).clamp(1, videos.max(1));
        Division { parts, videos, total, begun: 0, taken: 0, before: 0 }
    }

    /// Takes the next video. Returns whether a part begins with it.
    pub fn begins(&mut self, cost: u64) -> bool {
        // Leave at least one video for each part after the one that may begin.
        let is_last = self.videos - self.taken <= self.parts - self.begun;
        // Whether the middle of the video is before the start of the part's share, which is total * begun / parts.
        let is_before =
            (2 * self.before + u128::from(cost)) * u128::from(self.parts) < 2 * self.total * u128::from(self.begun);
        let begins = self.begun < self.parts && (is_last || !is_before);
        self.begun += u64::from(begins);
        self.taken += 1;
        self.before += u128::from(cost);
        begins
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::ops::Range;

    use super::*;

    fn divide(costs: &[u64], parts: u32) -> Vec<Range<usize>> {
        let total = costs.iter().map(|&cost| u128::from(cost)).sum();
        let mut division = Division::new(costs.len() as u64, total, parts);
        let mut starts: Vec<usize> = (0..costs.len()).filter(|&i| division.begins(costs[i])).collect();
        starts.push(costs.len());
        starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }

    #[test]
    fn parts_have_about_the_same_cost() {
        assert_eq!(divide(&[1; 10], 3), [0..3, 3..7, 7..10]);
        assert_eq!(divide(&[1, 1, 1, 1, 100], 2), [0..4, 4..5]);
        assert_eq!(divide(&[100, 1, 1, 1, 1], 2), [0..1, 1..5]);
        assert_eq!(divide(&[5; 3], 9), [0..1, 1..2, 2..3], "never more parts than videos");
        assert_eq!(divide(&[u64::MAX; 4], 2), [0..2, 2..4]);
    }

    proptest! {
        #[test]
        fn every_video_is_in_one_part(costs in prop::collection::vec(0u64..1000, 1..200), parts in 1u32..50) {
            let ranges = divide(&costs, parts);
            prop_assert_eq!(ranges.len(), (parts as usize).min(costs.len()));
            prop_assert_eq!(ranges[0].start, 0);
            prop_assert_eq!(ranges[ranges.len() - 1].end, costs.len());
            for pair in ranges.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
            }
            prop_assert!(ranges.iter().all(|range| !range.is_empty()));
            // No part costs more than its share plus the two largest videos, where each share has room for more
            // than one video.
            let (total, most) = (costs.iter().sum::<u64>(), costs.iter().max().copied().unwrap_or(0));
            for range in &ranges {
                let cost: u64 = costs[range.clone()].iter().sum();
                prop_assert!(cost <= total / ranges.len() as u64 + 2 * most + 1, "{range:?} costs {cost} of {total}");
            }
        }
    }
}

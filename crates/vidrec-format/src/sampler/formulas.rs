//! The formulas, each for a video that is long enough. Without frames, they return none. No arguments make them
//! panic.

use crate::random::Random;

/// The centers of `count` equal segments of `n` frames: floor((2i + 1) n / 2 count).
///
/// If `n` is less than `count`, frames repeat evenly. Empty if `n` or `count` is 0.
///
/// This is the test mode of TSN (Wang et al., "Temporal Segment Networks", 2016) and of mmaction2's
/// `SampleFrames`.
///
/// ```
/// assert_eq!(vidrec::sampler::uniform(10, 3), [1, 5, 8]);
/// assert_eq!(vidrec::sampler::uniform(2, 3), [0, 1, 1]);
/// ```
pub fn uniform(n: u32, count: u32) -> Vec<u32> {
    let (n, parts) = (u128::from(n), u128::from(count));
    indices(n, count, |i| (2 * i + 1) * n / (2 * parts))
}

/// `count` frames from the first of `n` to the last: i (n - 1) / (count - 1), halves rounded up. A single frame is
/// frame 0.
///
/// Empty if `n` or `count` is 0. This is DALI's `uniform_sample`.
///
/// ```
/// assert_eq!(vidrec::sampler::endpoints(10, 4), [0, 3, 6, 9]);
/// ```
pub fn endpoints(n: u32, count: u32) -> Vec<u32> {
    let n = u128::from(n);
    let gaps = u128::from(count).saturating_sub(1).max(1);
    indices(n, count, |i| (2 * i * (n - 1) + gaps) / (2 * gaps) * u128::from(count > 1))
}

/// `count` frames, each `stride` after the one before, in the middle of the video. The first is floor((n - span) /
/// 2), where span is (count - 1) stride + 1.
///
/// If a video is shorter than the span, the last frame replaces frames past the end. Empty if `n` or `count` is 0.
/// This is mmaction2's `SampleFrames` in test mode.
///
/// ```
/// assert_eq!(vidrec::sampler::centered(10, 4, 2), [1, 3, 5, 7]);
/// ```
pub fn centered(n: u32, count: u32, stride: u32) -> Vec<u32> {
    run(n, count, stride, u64::from(n).saturating_sub(span(count, stride)) / 2)
}

/// `count` frames from `start` on, each `stride` after the one before. The last frame replaces frames past the
/// end.
pub fn run(n: u32, count: u32, stride: u32, start: u64) -> Vec<u32> {
    let last = u128::from(n).saturating_sub(1);
    indices(n.into(), count, |i| (u128::from(start) + i * u128::from(stride)).min(last))
}

/// The number of frames from the first of a clip to its last, both included.
pub fn span(count: u32, stride: u32) -> u64 {
    // The result is at most (2^32 - 1)^2 + 1, which fits.
    u64::from(count.saturating_sub(1)) * u64::from(stride) + 1
}

/// One draw in each of `count` segments, from floor(i n / count) up to floor((i + 1) n / count).
pub fn random(n: u32, count: u32, random: &mut Random) -> Vec<u32> {
    let n = u128::from(n);
    let bound = |i: u128| i * n / u128::from(count);
    indices(n, count, |i| bound(i) + u128::from(random.below((bound(i + 1) - bound(i)) as u64)))
}

/// The frames of a clip from frame 0 on, followed by repetitions of the last one.
pub(super) fn repeat_last(n: u32, count: u32, stride: u32) -> Vec<u32> {
    let stride = u128::from(stride.max(1));
    let last = u128::from(n.saturating_sub(1)) / stride;
    indices(n.into(), count, |i| i.min(last) * stride)
}

/// The frames of a clip from frame 0 on, taken modulo `n`.
pub(super) fn wrap(n: u32, count: u32, stride: u32) -> Vec<u32> {
    indices(n.into(), count, |i| i * u128::from(stride) % u128::from(n))
}

/// `count` values of `f`. Each is less than `n`, which fits 32 bits. 128 bits have room for any product of three
/// of them.
fn indices(n: u128, count: u32, mut f: impl FnMut(u128) -> u128) -> Vec<u32> {
    if n == 0 {
        return Vec::new();
    }
    (0..count).map(|i| f(i.into()) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn uniform_gives_the_golden_values() {
        assert_eq!(uniform(100, 8), [6, 18, 31, 43, 56, 68, 81, 93]);
        assert_eq!(uniform(10, 3), [1, 5, 8]);
        assert_eq!(uniform(2, 3), [0, 1, 1]);
    }

    #[test]
    fn endpoints_give_the_golden_values() {
        assert_eq!(endpoints(10, 4), [0, 3, 6, 9]);
        assert_eq!(endpoints(3, 5), [0, 1, 1, 2, 2]);
        assert_eq!(endpoints(100, 8), [0, 14, 28, 42, 57, 71, 85, 99]);
        assert_eq!(endpoints(100, 1), [0]);
    }

    #[test]
    fn centered_gives_the_golden_values() {
        assert_eq!(centered(100, 8, 8), [21, 29, 37, 45, 53, 61, 69, 77]);
        assert_eq!(centered(5, 5, 1), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn nothing_gives_nothing_and_extremes_do_not_overflow() {
        for n in [0, 1, u32::MAX] {
            for count in [0, 1, 3] {
                for frames in [uniform(n, count), endpoints(n, count), centered(n, count, u32::MAX)] {
                    assert_eq!(frames.len() as u32, if n == 0 { 0 } else { count });
                    assert!(frames.iter().all(|&f| f < n));
                }
            }
        }
        assert_eq!(span(u32::MAX, u32::MAX), (u64::from(u32::MAX) - 1) * u64::from(u32::MAX) + 1);
    }

    proptest! {
        #[test]
        fn uniform_is_the_middle_of_real_segments(n in 1u32..5000, count in 1u32..100) {
            for (i, frame) in uniform(n, count).into_iter().enumerate() {
                let center = (f64::from(i as u32) + 0.5) * f64::from(n) / f64::from(count);
                // The nudge keeps a center that is a whole number from dropping below it by a rounding error.
                prop_assert_eq!(frame, (center + 1e-9).floor() as u32);
            }
        }

        #[test]
        fn endpoints_is_linspace_rounded(n in 1u32..5000, count in 2u32..100) {
            for (i, frame) in endpoints(n, count).into_iter().enumerate() {
                let exact = f64::from(i as u32) * f64::from(n - 1) / f64::from(count - 1);
                prop_assert_eq!(frame, (exact + 1e-9).round() as u32);
            }
        }

        #[test]
        fn centered_leaves_as_much_before_as_behind(count in 1u32..50, stride in 1u32..50, more in 0u32..100) {
            let n = span(count, stride) as u32 + more;
            let frames = centered(n, count, stride);
            prop_assert!(frames.windows(2).all(|w| w[1] - w[0] == stride));
            let (before, behind) = (frames[0], n - 1 - frames[frames.len() - 1]);
            prop_assert!(behind == before || behind == before + 1);
        }

        #[test]
        fn random_draws_one_from_each_segment(n in 1u32..5000, count in 1u32..100, seed: u64) {
            prop_assume!(count <= n);
            for (i, frame) in random(n, count, &mut Random::new(seed, &[])).into_iter().enumerate() {
                let i = i as u32;
                prop_assert!(frame >= i * n / count && frame < (i + 1) * n / count);
            }
        }

        #[test]
        fn repeat_last_and_wrap_follow_the_naive_clip(n in 1u32..60, count in 1u32..30, stride in 1u32..20) {
            let naive: Vec<u32> = (0..count).map(|i| i * stride).collect();
            let last = *naive.iter().filter(|&&f| f < n).max().unwrap();
            let repeated: Vec<u32> = naive.iter().map(|&f| f.min(last)).collect();
            prop_assert_eq!(repeat_last(n, count, stride), repeated);
            let wrapped: Vec<u32> = naive.iter().map(|&f| f % n).collect();
            prop_assert_eq!(wrap(n, count, stride), wrapped);
        }
    }
}

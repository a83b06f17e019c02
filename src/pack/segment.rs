//! A part of a video, by time.

use std::fmt;

use crate::video::Timeline;

/// The frames of a video from `start` up to but without `end`, counted from the presentation time of its first frame.
///
/// Times are compared in whole microseconds, both sides rounded to the nearest, so a time that was written with fewer
/// digits than a frame's exact one still means that frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Segment {
    /// In microseconds.
    pub start_us: u64,
    /// In microseconds; `None`: to the end of the video.
    pub end_us: Option<u64>,
}

/// No video is longer than this, in seconds: more than 300 years.
const MAX_SECONDS: f64 = 1e10;

/// Seconds as microseconds.
pub(super) fn microseconds(seconds: f64) -> Result<u64, String> {
    if (0.0..=MAX_SECONDS).contains(&seconds) {
        Ok((seconds * 1e6).round() as u64)
    } else {
        Err(format!("{seconds} is no time in seconds from 0 on"))
    }
}

impl Segment {
    /// A segment of at least one microsecond; `None` if both sides are open.
    pub(super) fn new(start_us: Option<u64>, end_us: Option<u64>) -> Result<Option<Self>, String> {
        match (start_us, end_us) {
            (None, None) => Ok(None),
            (Some(start), Some(end)) if start >= end => {
                Err(format!("the end, {} s, is not after the start, {} s", seconds(end), seconds(start)))
            }
            (start, end_us) => Ok(Some(Segment { start_us: start.unwrap_or(0), end_us })),
        }
    }

    /// Ordinals of the frames that lie in it, ascending.
    pub(super) fn frames(&self, timeline: &Timeline) -> Vec<u32> {
        let Some(&first) = timeline.pts.first() else { return Vec::new() };
        let inside = |&pts: &i64| {
            let t = elapsed_us(first, pts, timeline.time_base);
            t >= i128::from(self.start_us) && self.end_us.is_none_or(|end| t < i128::from(end))
        };
        (0..).zip(&timeline.pts).filter(|(_, pts)| inside(pts)).map(|(i, _)| i).collect()
    }
}

/// Microseconds from `first` to `pts`, halves rounded up.
fn elapsed_us(first: i64, pts: i64, (num, den): (u32, u32)) -> i128 {
    // Below 2^65 * 2^32 * 2^21.
    let (scaled, den) = ((i128::from(pts) - i128::from(first)) * i128::from(num) * 1_000_000, i128::from(den.max(1)));
    (2 * scaled + den).div_euclid(2 * den)
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end_us {
            Some(end) => write!(f, "from {} to {} s", seconds(self.start_us), seconds(end)),
            None => write!(f, "from {} s on", seconds(self.start_us)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn timeline(pts: Vec<i64>, time_base: (u32, u32)) -> Timeline {
        Timeline { key: vec![true; pts.len()], pts, time_base }
    }

    fn cut(start: f64, end: Option<f64>, timeline: &Timeline) -> Vec<u32> {
        let us = |s| microseconds(s).unwrap();
        Segment { start_us: us(start), end_us: end.map(us) }.frames(timeline)
    }

    #[test]
    fn the_start_belongs_to_it_and_the_end_does_not() {
        let t = timeline((0..10).map(|i| 7 + i * 512).collect(), (1, 12_800)); // 25 a second, from 7 ticks on
        assert_eq!(cut(0.08, Some(0.16), &t), [2, 3]);
        assert_eq!(cut(0.0801, Some(0.1601), &t), [3, 4]);
        assert_eq!(cut(0.0, Some(0.04), &t), [0]);
        assert_eq!(cut(0.32, None, &t), [8, 9]);
        assert_eq!(cut(0.4, None, &t), [0; 0]);
    }

    #[test]
    fn times_that_were_rounded_mean_their_frame() {
        let t = timeline((0..10).map(|i| i * 30_000).collect(), (1, 90_000)); // thirds of a second
        for written in [0.666_666, 0.666_667, 0.666_666_666_666_666_6, 2.0 / 3.0] {
            assert_eq!(cut(written, None, &t)[0], 2, "{written}");
        }
        assert_eq!(cut(0.0, Some(0.666_667), &t), [0, 1]);
        assert_eq!(cut(0.66667, None, &t)[0], 3, "beyond the frame's time by more than half a microsecond");
    }

    #[test]
    fn bad_times_are_refused() {
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e11] {
            assert!(microseconds(bad).is_err(), "{bad}");
        }
        assert!(Segment::new(Some(5), Some(5)).unwrap_err().contains("not after"));
        assert_eq!(Segment::new(None, None), Ok(None));
    }

    proptest! {
        /// Against whole ticks of a microsecond, at which no rounding takes place.
        #[test]
        fn frames_are_those_between_the_times(
            steps in prop::collection::vec(1i64..300_000, 0..60), first in -500_000i64..500_000,
            start in 0u64..3_000_000, length in 1u64..3_000_000,
        ) {
            let mut pts = vec![first];
            steps.iter().for_each(|s| pts.push(pts[pts.len() - 1] + s));
            let wanted: Vec<u32> = (0..pts.len())
                .filter(|&i| (start..start + length).contains(&((pts[i] - first) as u64)))
                .map(|i| i as u32)
                .collect();
            let segment = Segment { start_us: start, end_us: Some(start + length) };
            prop_assert_eq!(segment.frames(&timeline(pts, (1, 1_000_000))), wanted);
        }

        #[test]
        fn no_times_overflow(pts in prop::collection::vec(any::<i64>(), 1..5), num in 1u32.., den in 1u32.., start: u64) {
            Segment { start_us: start, end_us: None }.frames(&timeline(pts, (num, den)));
        }
    }
}

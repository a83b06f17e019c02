//! When the values of a track are, and which of them stands for a time.

use std::borrow::Cow;

use crate::dataset::{Clip, TrackView};
use crate::format::track::schema::TrackTiming;
use crate::loader::options::TrackHow;
use crate::{Error, Result};

/// Times as near as this are the same where it matters: people and programs round them.
const SLACK_NS: i64 = 1000;

/// The times of the values of a track, in nanoseconds, not decreasing.
pub(super) enum Times<'a> {
    Listed(Cow<'a, [i64]>),
    Spans { starts: Cow<'a, [i64]>, ends: Cow<'a, [i64]> },
    Even { first: i64, rate: (u32, u32), count: usize },
}

/// A value, or what lies between it and another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pick {
    pub at: usize,
    /// The next value and its weight, from 0 to 1.
    pub toward: Option<(usize, f64)>,
}

/// The time of a frame of a clip.
pub(super) fn frame_ns(clip: &Clip<'_>, t: u32) -> Result<i64> {
    let beyond =
        || Error::limit("the time of a frame is beyond 64 bits of nanoseconds").in_clip(clip.ordinal()).in_frame(t);
    clip.time_ns(t)?.ok_or_else(beyond)
}

/// `i / rate` seconds in nanoseconds, to the nearest.
pub(super) fn steps_ns(i: i128, (numerator, denominator): (u32, u32)) -> i128 {
    let per = i128::from(numerator.max(1));
    (i * i128::from(denominator) * 2_000_000_000 + per).div_euclid(2 * per)
}

/// How many steps of `1 / rate` are nearest to `ns` nanoseconds.
pub(super) fn nearest_step(ns: i128, (numerator, denominator): (u32, u32)) -> i128 {
    let per = i128::from(denominator.max(1)) * 1_000_000_000;
    (2 * ns * i128::from(numerator) + per).div_euclid(2 * per)
}

impl<'a> Times<'a> {
    /// Those of a track.
    pub fn of(clip: &Clip<'_>, track: &'a TrackView<'_>) -> Result<Self> {
        let starts = track.starts_ns().unwrap_or_default();
        Ok(match track.schema().timing {
            TrackTiming::Times => Times::Listed(starts),
            TrackTiming::Spans => Times::Spans { starts, ends: track.ends_ns().unwrap_or_default() },
            TrackTiming::Rate => {
                let (first, rate) = track.rate().unwrap_or((0, (1, 1)));
                Times::Even { first, rate, count: track.len() }
            }
            TrackTiming::Frames => {
                let times: Vec<i64> = (0..clip.frame_count()).map(|t| frame_ns(clip, t)).collect::<Result<_>>()?;
                if !times.is_sorted() {
                    let e = Error::usage("the frames of the clip are not in order of time").in_track(track.name());
                    return Err(e.in_clip(clip.ordinal()).help("load the track without a window"));
                }
                Times::Listed(times.into())
            }
        })
    }

    fn len(&self) -> usize {
        match self {
            Times::Listed(times) => times.len(),
            Times::Spans { starts, .. } => starts.len(),
            Times::Even { count, .. } => *count,
        }
    }

    /// The time of value `i`, which must be less than the number of values.
    fn at(&self, i: usize) -> i64 {
        match self {
            Times::Listed(times) => times[i],
            Times::Spans { starts, .. } => starts[i],
            Times::Even { first, rate, .. } => {
                let time = i128::from(*first) + steps_ns(i as i128, *rate);
                i64::try_from(time).unwrap_or(i64::MAX)
            }
        }
    }

    /// How many values are at or before `t`.
    fn until(&self, t: i64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.at(middle) <= t { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The values whose times, or spans, have a part in `from..=to`: one that ends at `from` has none.
    pub fn within(&self, from: i64, to: i64) -> Vec<usize> {
        let is_in = |&i: &usize| match self {
            Times::Spans { starts, ends } => ends[i] > from || starts[i] >= from,
            _ => self.at(i) >= from,
        };
        (0..self.until(to)).filter(is_in).collect()
    }

    /// What stands for the time `t`, if the track has it.
    pub fn pick(&self, how: TrackHow, t: i64) -> Option<Pick> {
        let whole = |at| Some(Pick { at, toward: None });
        if let Times::Spans { ends, .. } = self {
            let started = self.until(t.saturating_add(SLACK_NS));
            return (0..started).rev().find(|&i| ends[i].saturating_add(SLACK_NS) >= t).and_then(whole);
        }
        let last = self.len().checked_sub(1)?;
        let (begin, end) = (self.at(0), self.at(last));
        if t < begin.saturating_sub(SLACK_NS) || t > end.saturating_add(SLACK_NS) {
            return None;
        }
        if how == TrackHow::Previous {
            return whole(self.until(t.saturating_add(SLACK_NS)).saturating_sub(1));
        }
        let t = t.clamp(begin, end);
        let at = self.until(t).saturating_sub(1);
        let before = i128::from(t) - i128::from(self.at(at));
        if before == 0 || at == last {
            return whole(at);
        }
        let gap = i128::from(self.at(at + 1)) - i128::from(self.at(at));
        match how {
            TrackHow::Linear => Some(Pick { at, toward: Some((at + 1, before as f64 / gap as f64)) }),
            _ => whole(if gap - before < before { at + 1 } else { at }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(at: usize) -> Option<Pick> {
        Some(Pick { at, toward: None })
    }

    #[test]
    fn a_time_has_the_value_that_was_asked_for() {
        let times = Times::Listed(vec![0, 10_000, 10_000, 20_000].into());
        let of = |how, t| times.pick(how, t);
        use TrackHow::{Linear, Nearest, Previous};
        assert_eq!(of(Nearest, 5_000), whole(0), "the earlier of two");
        assert_eq!(of(Nearest, 5_001), whole(1));
        assert_eq!(of(Nearest, 10_000), whole(2), "the latest at a time");
        assert_eq!(of(Previous, 8_999), whole(0));
        assert_eq!(of(Previous, 9_000), whole(2), "a microsecond late is in time");
        assert_eq!(of(Linear, 12_500), Some(Pick { at: 2, toward: Some((3, 0.25)) }));
        for how in [Nearest, Linear, Previous] {
            assert_eq!((of(how, -1_001), of(how, 21_001)), (None, None));
            assert_eq!((of(how, -1_000), of(how, 21_000)), (whole(0), whole(3)));
            assert_eq!(Times::Listed(Cow::default()).pick(how, 0), None);
        }
    }

    #[test]
    fn a_span_has_its_time() {
        let spans = Times::Spans { starts: vec![0, 10_000, 30_000].into(), ends: vec![50_000, 20_000, 40_000].into() };
        let of = |t| spans.pick(TrackHow::Nearest, t).map(|pick| pick.at);
        assert_eq!(
            [0, 15_000, 25_000, 35_000, 45_000, 60_000].map(of),
            [Some(0), Some(1), Some(0), Some(2), Some(0), None]
        );
        assert_eq!(spans.within(20_000, 30_000), [0, 2], "one that ends where the window starts has no part in it");
        assert_eq!(spans.within(15_000, 15_000), [0, 1]);
    }

    #[test]
    fn steps_and_times_are_inverse() {
        for rate in [(16_000, 1), (30_000, 1001), (1, 7), (1_000_000, 3)] {
            for i in [-1_000_003, -1, 0, 1, 2, 999_983] {
                assert_eq!(nearest_step(steps_ns(i, rate), rate), i, "{rate:?}");
            }
        }
    }

    proptest! {
        /// Against a walk through all values.
        #[test]
        fn the_nearest_and_the_previous_are_those_of_a_walk(
            mut times in prop::collection::vec(-9i64..9, 1..12),
            t in -12i64..12,
        ) {
            times.sort_unstable();
            times.iter_mut().for_each(|time| *time *= 10_000);
            let t = t * 5_000;
            let is_in = (times[0]..=times[times.len() - 1]).contains(&t);
            let nearest = times.iter().map(|time| (time - t).abs()).min();
            let previous = times.iter().rposition(|&time| time <= t);
            let listed = Times::Listed(times.clone().into());
            let found = listed.pick(TrackHow::Nearest, t).map(|pick| (times[pick.at] - t).abs());
            prop_assert_eq!(found, nearest.filter(|_| is_in));
            let found = listed.pick(TrackHow::Previous, t).map(|pick| pick.at);
            prop_assert_eq!(found, previous.filter(|_| is_in));
        }
    }
}

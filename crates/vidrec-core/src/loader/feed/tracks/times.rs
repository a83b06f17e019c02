//! The times of the values of a track, and the value that stands for a time.

use std::borrow::Cow;

use crate::dataset::{Clip, TrackView};
use crate::loader::feed::sample_spec::frame_ns;
use crate::loader::options::TrackHow;
use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::gcd;
use vidrec_format::track::schema::TrackTiming;

/// Times that differ by no more than this are equal where it matters, because people and programs round them.
pub(super) const SLACK_NS: i64 = 1000;

/// The coarsest unit to which containers round the times of frames: QuickTime's 1/600 s, and a little more. Coarser time bases count
/// frames, so that their times are exact.
const COARSEST_TICK_NS: i64 = 2_000_000;

/// Returns the difference up to which a time of a value and that of a frame of the clip are equal: a unit of the clip's time base, to
/// which its container may have rounded the times of frames.
pub(super) fn slack_ns(clip: &Clip<'_>) -> i64 {
    let (num, den) = clip.time_base();
    let tick = (i64::from(num) * 1_000_000_000).div_euclid(i64::from(den.max(1)));
    if tick <= COARSEST_TICK_NS { tick.max(SLACK_NS) } else { SLACK_NS }
}

/// The times of the values of a track, in nanoseconds. They never decrease.
pub(crate) enum Times<'a> {
    /// Spans also have ends.
    Listed {
        starts: Cow<'a, [i64]>,
        ends: Option<Cow<'a, [i64]>>,
    },
    Even {
        first: i64,
        grid: Grid,
        count: usize,
    },
}

/// A value, or a point between it and the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pick {
    pub at: usize,
    /// The weight of the next value: from 0 to less than 1.
    pub toward: f64,
    /// Whether this is the value at the time, and not the first or the last one in place of a value beyond them.
    pub exists: bool,
}

impl Pick {
    /// A whole value.
    pub fn whole(at: usize) -> Self {
        Pick { at, toward: 0.0, exists: true }
    }

    /// The same value in place of another one.
    pub fn instead(self) -> Self {
        Pick { exists: false, ..self }
    }
}

impl<'a> Times<'a> {
    /// The times of a track. For timing `times` and `spans`, the bytes of the track must be proven.
    pub fn of(clip: &Clip<'_>, track: &'a TrackView<'_>) -> Result<Self> {
        let starts = track.starts_ns().unwrap_or_default();
        Ok(match track.schema().timing {
            TrackTiming::Times => Times::Listed { starts, ends: None },
            TrackTiming::Spans => Times::Listed { starts, ends: Some(track.ends_ns().unwrap_or_default()) },
            TrackTiming::Rate => {
                let (first, rate) = track.rate().unwrap_or((0, (1, 1)));
                Times::Even { first, grid: Grid::of(rate), count: track.len() }
            }
            TrackTiming::Frames => {
                let times: Vec<i64> = (0..clip.frame_count()).map(|t| frame_ns(clip, t)).collect::<Result<_>>()?;
                if !times.is_sorted() {
                    let e = Error::usage("the frames of the clip are not in order of time").in_track(track.name());
                    return Err(e.in_clip(clip.ordinal()).help("load the track without a window"));
                }
                Times::Listed { starts: times.into(), ends: None }
            }
        })
    }

    fn len(&self) -> usize {
        match self {
            Times::Listed { starts, .. } => starts.len(),
            Times::Even { count, .. } => *count,
        }
    }

    /// The time of value `i`, which must be less than the number of values.
    fn at(&self, i: usize) -> i64 {
        match self {
            Times::Listed { starts, .. } => starts[i],
            Times::Even { first, grid, .. } => {
                i64::try_from(i128::from(*first) + grid.ns(i as i64)).unwrap_or(i64::MAX)
            }
        }
    }

    /// The start and the end of value `i`, which must be less than the number of values. They are equal if the
    /// value has one time.
    pub fn span(&self, i: usize) -> (i64, i64) {
        match self {
            Times::Listed { starts, ends: Some(ends) } => (starts[i], ends[i]),
            _ => (self.at(i), self.at(i)),
        }
    }

    /// The number of values at or before `t`.
    fn until(&self, t: i64) -> usize {
        match self {
            Times::Listed { starts, .. } => starts.partition_point(|&start| start <= t),
            Times::Even { first, grid, count } => {
                let steps = grid.until(i128::from(t) - i128::from(*first));
                usize::try_from(steps.max(0)).map_or(*count, |steps| steps.min(*count))
            }
        }
    }

    /// The values whose times or spans overlap `from..=to`. A span that ends at `from` does not overlap.
    pub fn within(&self, from: i64, to: i64) -> Vec<usize> {
        let is_in = |&i: &usize| match self {
            Times::Listed { starts, ends: Some(ends) } => ends[i] > from || starts[i] >= from,
            _ => self.at(i) >= from,
        };
        (0..self.until(to)).filter(is_in).collect()
    }

    /// The times of the first and the last value, if there are values.
    fn ends(&self) -> Option<(i64, i64)> {
        let last = self.len().checked_sub(1)?;
        Some((self.at(0), self.at(last)))
    }

    /// The first or the last value, if `t` is before or after all of them.
    pub fn edge(&self, t: i64) -> Option<Pick> {
        let (begin, end) = self.ends()?;
        let at = if t < begin { 0 } else { self.len() - 1 };
        (t < begin || t > end).then(|| Pick::whole(at).instead())
    }

    /// The value for the time `t`, which may be off by `slack` nanoseconds, if the track covers it.
    pub fn pick(&self, how: TrackHow, slack: i64, t: i64) -> Option<Pick> {
        let whole = |at| Some(Pick::whole(at));
        if let Times::Listed { ends: Some(ends), .. } = self {
            let started = self.until(t.saturating_add(slack));
            return (0..started).rev().find(|&i| ends[i].saturating_add(slack) >= t).and_then(whole);
        }
        let (begin, end) = self.ends()?;
        if t < begin.saturating_sub(slack) || t > end.saturating_add(slack) {
            return None;
        }
        if how == TrackHow::Previous {
            return whole(self.until(t.saturating_add(slack)).saturating_sub(1));
        }
        let t = t.clamp(begin, end);
        let at = self.until(t).saturating_sub(1);
        let before = i128::from(t) - i128::from(self.at(at));
        if before == 0 || at + 1 == self.len() {
            return whole(at);
        }
        let gap = i128::from(self.at(at + 1)) - i128::from(self.at(at));
        match how {
            TrackHow::Linear => Some(Pick { toward: before as f64 / gap as f64, ..Pick::whole(at) }),
            _ => whole(if gap - before < before { at + 1 } else { at }),
        }
    }
}

/// Steps of `1 / rate` seconds, counted from 0. The time of each step is exact to the nearest nanosecond, whatever
/// its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The time of `steps` steps in nanoseconds, in lowest terms.
    ns: i128,
    steps: i128,
}

impl Grid {
    /// Creates a grid for a number of values per second, as numerator and denominator.
    pub fn of((numerator, denominator): (u32, u32)) -> Self {
        let (ns, steps) = (u64::from(denominator.max(1)) * 1_000_000_000, u64::from(numerator.max(1)));
        let common = gcd(ns, steps);
        Grid { ns: (ns / common).into(), steps: (steps / common).into() }
    }

    /// The time of step `i`.
    pub fn ns(self, i: i64) -> i128 {
        let Grid { ns, steps } = self;
        match steps {
            1 => i128::from(i) * ns,
            steps => floor(2 * i128::from(i) * ns + steps, 2 * steps),
        }
    }

    /// The step nearest to a time of at most 66 bits.
    pub fn nearest(self, t: i128) -> i128 {
        let Grid { ns, steps } = self;
        floor(2 * t * steps + ns, 2 * ns)
    }

    /// The first step after a time of at most 66 bits. This is also the number of steps from 0 on that are at or
    /// before it.
    pub fn until(self, t: i128) -> i128 {
        let Grid { ns, steps } = self;
        // Step i is at or before t if 2 * i * ns / (2 * steps), which is rounded, is below t + 1/2.
        -floor(-(steps * (2 * t + 1)), 2 * ns)
    }
}

/// A quotient, rounded down. The division takes a fraction of the time if the numbers fit 64 bits.
fn floor(a: i128, b: i128) -> i128 {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => a.div_euclid(b).into(),
        _ => a.div_euclid(b),
    }
}

#[cfg(test)]
mod grid_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_are_rounded_to_the_nearest_nanosecond() {
        let ns = |rate, i| Grid::of(rate).ns(i);
        assert_eq!([0, 1, 2, 3].map(|i| ns((3, 1), i)), [0, 333_333_333, 666_666_667, 1_000_000_000]);
        assert_eq!(ns((30_000, 1001), 30_000), 1_001_000_000_000);
        assert_eq!(ns((16_000, 1), -1), -62_500);
        assert_eq!(ns((u32::MAX, 1), i64::MAX), i128::from(i64::MAX) * 1_000_000_000 / i128::from(u32::MAX) + 1);
    }

    proptest! {
        #[test]
        fn steps_and_times_are_inverse(
            i in prop_oneof![-1_000_003i64..1_000_003, Just(i64::MIN / 4), Just(i64::MAX / 4)],
            rate in prop::sample::select(vec![(16_000, 1), (30_000, 1001), (1, 7), (1_000_000, 3), (999_999_937, 2)]),
        ) {
            let (grid, i128) = (Grid::of(rate), i128::from(i));
            let t = grid.ns(i);
            prop_assert_eq!(grid.nearest(t), i128);
            prop_assert_eq!(grid.until(t), i128 + 1);
            prop_assert_eq!(grid.until(t - 1), i128);
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn listed(times: Vec<i64>) -> Times<'static> {
        Times::Listed { starts: times.into(), ends: None }
    }

    fn whole(at: usize) -> Option<Pick> {
        Some(Pick::whole(at))
    }

    #[test]
    fn a_time_has_the_value_that_was_asked_for() {
        let times = listed(vec![0, 10_000, 10_000, 20_000]);
        let of = |how, t| times.pick(how, SLACK_NS, t);
        use TrackHow::{Linear, Nearest, Previous};
        assert_eq!(of(Nearest, 5_000), whole(0), "the earlier of two");
        assert_eq!(of(Nearest, 5_001), whole(1));
        assert_eq!(of(Nearest, 10_000), whole(2), "the latest at a time");
        assert_eq!(of(Previous, 8_999), whole(0));
        assert_eq!(of(Previous, 9_000), whole(2), "a microsecond late is in time");
        assert_eq!(of(Linear, 12_500), Some(Pick { toward: 0.25, ..Pick::whole(2) }));
        for how in [Nearest, Linear, Previous] {
            assert_eq!((of(how, -1_001), of(how, 21_001)), (None, None));
            assert_eq!((of(how, -1_000), of(how, 21_000)), (whole(0), whole(3)));
            let edge = |t| times.edge(t).map(|pick| (pick.at, pick.exists));
            assert_eq!([-1, 0, 9, 20_000, 20_001].map(edge), [Some((0, false)), None, None, None, Some((3, false))]);
            assert_eq!(listed(Vec::new()).pick(how, SLACK_NS, 0), None);
        }
    }

    #[test]
    fn a_span_has_its_time() {
        let spans =
            Times::Listed { starts: vec![0, 10_000, 30_000].into(), ends: Some(vec![50_000, 20_000, 40_000].into()) };
        let of = |t| spans.pick(TrackHow::Nearest, SLACK_NS, t).map(|pick| pick.at);
        assert_eq!(
            [0, 15_000, 25_000, 35_000, 45_000, 60_000].map(of),
            [Some(0), Some(1), Some(0), Some(2), Some(0), None]
        );
        assert_eq!(spans.within(20_000, 30_000), [0, 2], "one that ends where the window starts has no part in it");
        assert_eq!(spans.within(15_000, 15_000), [0, 1]);
    }
}

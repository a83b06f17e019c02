//! The times of frames before a container rounded them.
//!
//! Many containers round times: Matroska, WebM and FLV to a millisecond, MPEG-TS to 1/90,000 s, others to the unit of their time
//! base. At 30 frames a second, frame 2 is then at 67 ms, and a grid at 66.667 ms would meet frame 1 a second time. FFmpeg's filter
//! `fps` rounds every time to the nearest frame of the output, and players show a frame at the refresh that is nearest. Both forgive
//! such times, but both also move frames that are elsewhere, by up to half a frame. The rule here moves no frame by more than the
//! rounding of its container:
//!
//! * The unit of the rounding is the greatest common divisor of the steps from frame to frame. It is the unit of the time base, or
//!   more of them if an earlier container was coarser.
//! * A rate fits if all frames are at multiples of its interval, but for the rounding. Frames may be missing. The errors span at most
//!   a unit, and a 64th more because some times were rounded twice.
//! * If the rate that a pack asks for fits, it is taken. Of its multiple that is nearest to the mean rate and of the usual rates, the
//!   one with the smallest errors is taken. If none of them fits, all multiples of the asked rate are tried, and then the rate with the smallest
//!   errors of all, for cameras whose clocks are a little off.
//! * If no rate fits, times stay as they are. They also do if the unit is more than half of the shortest step: such times
//!   count frames and are exact.

use super::rate::Rate;

/// Times of frames at multiples of an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnroundedTimes {
    /// The times, ascending, in units of `time_base`.
    pub pts: Vec<i64>,
    /// Seconds in a unit of time, as numerator and denominator; both are at least 1.
    pub time_base: (u32, u32),
    /// The units in one unit of the rounded times.
    pub units_per_tick: i64,
    /// The units in the interval of the rate.
    interval: i64,
    /// The units of the rounding.
    rounding: i64,
}

/// The usual rates. Slower ones, such as 30, 25 and 24, have every second frame of these, or fewer.
const USUAL: [(u32, u32); 5] = [(60, 1), (50, 1), (48, 1), (60_000, 1001), (48_000, 1001)];
/// The multiples of the asked rate that are tried if no usual rate fits.
const MULTIPLES: std::ops::RangeInclusive<u32> = 2..=32;

/// Returns the times of frames before they were rounded, or `None` if they are exact, or not at the multiples of a rate.
///
/// `asked` is the rate of the grid that the times will meet.
///
/// ```
/// let milliseconds = [0, 33, 67, 100, 133, 167, 200, 233];
/// let exact = vidrec::sampler::unrounded_times(&milliseconds, (1, 1000), None).unwrap();
/// assert_eq!((exact.pts, exact.time_base), (vec![0, 100, 200, 300, 400, 500, 600, 700], (1, 3000)));
/// ```
pub fn unrounded_times(pts: &[i64], time_base: (u32, u32), asked: Option<Rate>) -> Option<UnroundedTimes> {
    let times = Rounded::of(pts, time_base)?;
    let near = times.median_rate();
    let multiple = |rate: Rate, k: u32| {
        let (den, num) = rate.frame_seconds();
        times.fit(num.checked_mul(k)?, den)
    };
    let nearest = |rate: Rate| {
        let (den, num) = rate.frame_seconds();
        multiple(rate, (near * f64::from(den) / f64::from(num)).round() as u32)
    };
    let best = || {
        let ntsc = ((near * 1.001).round() as u32).saturating_mul(1000);
        let simple = (1..=4).map(|k| ((near * f64::from(k)).round() as u32, k));
        let usual = simple.chain([(ntsc, 1001)]).chain(USUAL);
        let fits = asked.and_then(nearest).into_iter().chain(usual.filter_map(|(num, den)| times.fit(num, den)));
        fits.min_by(|a, b| a.spread().total_cmp(&b.spread()))
    };
    let fit = asked.and_then(|rate| multiple(rate, 1)).or_else(best);
    let fit = fit.or_else(|| asked.and_then(|rate| MULTIPLES.filter_map(|k| multiple(rate, k)).next()));
    let fit = fit.or_else(|| times.fit_mean(near));
    fit?.unrounded_times(&times)
}

impl UnroundedTimes {
    /// Returns the end of the last frame, which is shown for `duration` units of the rounded times.
    pub fn end(&self, duration: i64) -> i64 {
        let duration = duration.saturating_mul(self.units_per_tick);
        let frames = duration.saturating_add(self.interval / 2) / self.interval;
        let whole = frames.max(1).saturating_mul(self.interval);
        let is_rounded = frames < 1 || (duration - whole).abs() <= self.rounding;
        self.pts.last().map_or(0, |&last| last.saturating_add(if is_rounded { whole } else { duration }))
    }
}

/// Ascending times, and the unit to which they were rounded.
struct Rounded<'a> {
    pts: &'a [i64],
    time_base: (u32, u32),
    rounding: u64,
}

impl<'a> Rounded<'a> {
    /// Returns `None` for times that are exact or do not ascend.
    fn of(pts: &'a [i64], time_base: (u32, u32)) -> Option<Self> {
        let mut shortest = u64::MAX;
        let mut rounding = 0;
        for two in pts.windows(2) {
            let step = u64::try_from(i128::from(two[1]) - i128::from(two[0])).ok().filter(|&step| step > 0)?;
            (shortest, rounding) = (shortest.min(step), gcd(step, rounding));
        }
        // With two frames, the only step is also the unit.
        (pts.len() > 1 && shortest / 2 >= rounding).then_some(Rounded { pts, time_base, rounding })
    }

    /// The rate by the step in the middle of all steps in order of length, in frames a second.
    fn median_rate(&self) -> f64 {
        let mut steps: Vec<u64> = self.pts.windows(2).map(|two| two[1].abs_diff(two[0])).collect();
        let middle = steps.len() / 2;
        let ticks = *steps.select_nth_unstable(middle).1;
        // The mean of the steps that are as long as that one, but for the rounding, is nearer to the interval.
        let alike = || steps.iter().filter(|&&step| step.abs_diff(ticks) <= self.rounding);
        let mean = alike().map(|&step| step as f64).sum::<f64>() / alike().count().max(1) as f64;
        f64::from(self.time_base.1) / (f64::from(self.time_base.0) * mean)
    }

    /// Returns how the rate with the smallest errors fits, if it does.
    fn fit_mean(&self, near: f64) -> Option<Fit> {
        let (seconds, per) = self.time_base;
        let step = f64::from(per) / (f64::from(seconds) * near);
        let mut intervals = 0.0;
        let mut points = vec![(0.0, 0.0)];
        for two in self.pts.windows(2) {
            intervals += (two[1].abs_diff(two[0]) as f64 / step).round();
            points.push((intervals, two[1].abs_diff(self.pts[0]) as f64));
        }
        let spread = |ticks: f64| {
            let errors = points.iter().map(|(intervals, at)| at - intervals * ticks);
            let (least, most) = errors.fold((0.0f64, 0.0f64), |(least, most), e| (least.min(e), most.max(e)));
            most - least
        };
        // The spread is convex in the interval. Its minimum lies where the ends are off by two roundings at most.
        let (mean, reach) = (points.last()?.1 / intervals, 2.0 * self.rounding as f64 / intervals);
        let (mut low, mut high) = (mean - reach, mean + reach);
        for _ in 0..40 {
            let third = (high - low) / 3.0;
            if spread(low + third) <= spread(high - third) { high -= third } else { low += third }
        }
        // Parts of a tick that are so small that the last time is off by a 128th of a tick at most.
        let parts = ((64.0 * intervals) as u32).min(u32::MAX / per);
        let interval = ((low + high) / 2.0 * f64::from(parts)).round();
        let interval = (1.0..f64::from(u32::MAX)).contains(&interval).then_some(interval as u32)?;
        self.fit(per.checked_mul(parts)?, seconds.checked_mul(interval)?)
    }

    /// Returns how a rate fits, if it does.
    fn fit(&self, num: u32, den: u32) -> Option<Fit> {
        let (seconds, per) = (u64::from(self.time_base.0), u64::from(self.time_base.1));
        let units = (num > 0).then(|| per / gcd(per, num.into()) * u64::from(num)).filter(|&u| u <= u32::MAX.into())?;
        let tick = i64::try_from(seconds * (units / per)).ok()?;
        let interval = i64::try_from(u64::from(den) * (units / u64::from(num))).ok()?;
        let rounding = i64::try_from(self.rounding).ok()?.checked_mul(tick)?;
        if interval / 2 < rounding {
            return None;
        }
        let mut fit = Fit { tick, interval, rounding, units: units as u32, least: 0, most: 0 };
        for &pts in self.pts {
            let late = fit.error(pts.checked_sub(self.pts[0])?)?;
            (fit.least, fit.most) = (fit.least.min(late), fit.most.max(late));
            if fit.spread() > 1.0 + 1.0 / 64.0 {
                return None;
            }
        }
        Some(fit)
    }
}

/// A rate whose frames are where rounded times are.
struct Fit {
    /// The units in a unit of the rounded times, in the interval of the rate, in the rounding, and in a second.
    tick: i64,
    interval: i64,
    rounding: i64,
    units: u32,
    /// The errors of the earliest and of the latest frame against multiples of the interval after the first frame.
    least: i64,
    most: i64,
}

impl Fit {
    /// The units from the nearest multiple of the interval to `ticks` after the first frame.
    fn error(&self, ticks: i64) -> Option<i64> {
        let units = ticks.checked_mul(self.tick)?;
        Some(units - self.intervals(units).checked_mul(self.interval)?)
    }

    /// The nearest number of intervals.
    fn intervals(&self, units: i64) -> i64 {
        units.saturating_add(self.interval / 2).div_euclid(self.interval)
    }

    /// The range of the errors, as a fraction of the rounding.
    fn spread(&self) -> f64 {
        (self.most - self.least) as f64 / self.rounding as f64
    }

    /// Moves the times to multiples of the interval: of the zero of their clock if that explains them, and otherwise of a moment
    /// in the middle of all that explain them.
    fn unrounded_times(&self, times: &Rounded<'_>) -> Option<UnroundedTimes> {
        let first = times.pts.first()?.checked_mul(self.tick)?;
        let late = first - self.intervals(first).checked_mul(self.interval)?;
        // Times are rounded to the nearest unit, or down.
        let (least, most) = (late + self.least, late + self.most);
        let half = self.rounding / 2 + self.rounding / 64 + 1;
        let explains = (least >= -half && most <= half) || (least >= -self.rounding && most <= 0);
        let origin = first.checked_sub(if explains { late } else { -(self.least + self.most) / 2 })?;
        let exact = |&pts: &i64| {
            let units = pts.checked_sub(times.pts[0])?.checked_mul(self.tick)?;
            self.intervals(units).checked_mul(self.interval)?.checked_add(origin)
        };
        let pts = times.pts.iter().map(exact).collect::<Option<_>>()?;
        let (units_per_tick, interval, rounding) = (self.tick, self.interval, self.rounding);
        Some(UnroundedTimes { pts, time_base: (1, self.units), units_per_tick, interval, rounding })
    }
}

/// The greatest common divisor.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATES: [(u32, u32); 9] =
        [(24_000, 1001), (25, 1), (30, 1), (50, 1), (60_000, 1001), (12, 1), (30_000, 1001), (24, 1), (15, 2)];
    const TICKS: [u32; 4] = [1000, 90_000, 1_000_000, 16_000];

    fn rounded(frame: u32, (num, den): (u32, u32), ticks: u32) -> i64 {
        let exact = u64::from(frame) * u64::from(den) * u64::from(ticks);
        ((2 * exact + u64::from(num)) / (2 * u64::from(num))) as i64
    }

    fn is_exact(found: i64, time_base: (u32, u32), frame: u32, (num, den): (u32, u32)) -> bool {
        i128::from(found) * i128::from(time_base.0) * i128::from(num)
            == i128::from(frame) * i128::from(den) * i128::from(time_base.1)
    }

    #[test]
    fn times_that_are_exact_or_at_no_rate_stay() {
        for exact in [
            vec![],
            vec![7],
            vec![0, 40],
            vec![0, 512, 1024, 1536],
            vec![0, 1, 2, 4, 5],
            vec![0, 0, 40],
            vec![40, 0, 80],
        ] {
            assert_eq!(unrounded_times(&exact, (1, 1000), None), None, "{exact:?}");
        }
        let uneven = [0, 31, 70, 98, 141, 163, 199, 240, 301, 333];
        assert_eq!(unrounded_times(&uneven, (1, 1000), Some(Rate::new(30, 1).unwrap())), None);
        let far = [i64::MIN, 0, 1000, i64::MAX];
        assert_eq!(unrounded_times(&far, (u32::MAX, 7), Some(Rate::new(1_000_000, 1).unwrap())), None);
    }

    #[test]
    fn cameras_whose_clocks_are_a_little_off_have_their_own_rate() {
        for rate in [(30_002, 1000), (29_991, 1000), (14_700, 1000)] {
            let pts: Vec<i64> = (40..2000).map(|i| rounded(i, rate, 1000)).collect();
            let exact = unrounded_times(&pts, (1, 1000), None).unwrap();
            let interval = f64::from(rate.1) / f64::from(rate.0);
            for (i, &pts) in (0u32..).zip(&exact.pts) {
                let late = (pts - exact.pts[0]) as f64 / f64::from(exact.time_base.1) - f64::from(i) * interval;
                assert!(late.abs() < 2e-4, "frame {i} of {rate:?} is {late} s late");
            }
        }
    }

    #[test]
    fn times_from_a_coarser_container_are_found() {
        let ticks: Vec<i64> = [0, 33, 67, 100, 133, 167].iter().map(|ms| ms * 90).collect();
        let exact = unrounded_times(&ticks, (1, 90_000), None).unwrap();
        assert!((0..).zip(&exact.pts).all(|(i, &pts)| is_exact(pts, exact.time_base, i, (30, 1))));
    }

    #[test]
    fn the_last_frame_ends_after_whole_frames_or_when_its_container_says() {
        let exact = unrounded_times(&[0, 33, 67, 100], (1, 1000), Some(Rate::new(30, 1).unwrap())).unwrap();
        let end = |duration| exact.end(duration) as f64 / f64::from(exact.time_base.1) * 30.0;
        assert_eq!([0, 1, 33, 34, 67, 3000].map(end), [4.0, 4.0, 4.0, 4.0, 5.0, 93.0]);
        assert!((end(50) - 4.5).abs() < 1e-9);
    }

    proptest! {
        /// Rates a thousandth apart take some frames to tell apart.
        #[test]
        fn all_usual_rates_are_found(
            rate in prop::sample::select(&RATES[..]), ticks in prop::sample::select(&TICKS[..]), first in 0u32..5000,
            drops in prop::collection::vec(prop::bool::weighted(0.1), 120..300),
        ) {
            let frames: Vec<u32> = (first..).zip(drops).filter(|(_, drop)| !drop).map(|(i, _)| i).collect();
            let pts: Vec<i64> = frames.iter().map(|&i| rounded(i, rate, ticks)).collect();
            if let Some(exact) = unrounded_times(&pts, (1, ticks), None) {
                for (&frame, &found) in frames.iter().zip(&exact.pts) {
                    prop_assert!(is_exact(found, exact.time_base, frame, rate), "frame {}", frame);
                }
            } else {
                for (&frame, &found) in frames.iter().zip(&pts) {
                    prop_assert!(is_exact(found, (1, ticks), frame, rate), "frame {}", frame);
                }
            }
        }

        #[test]
        fn no_time_moves_by_more_than_a_tick(
            steps in prop::collection::vec(1i64..80, 1..12), first in -1000i64..1000, asked in 1u32..120,
        ) {
            let mut pts = vec![first];
            steps.iter().for_each(|step| pts.push(pts[pts.len() - 1] + step));
            if let Some(exact) = unrounded_times(&pts, (1, 1000), Some(Rate::new(asked, 1)?)) {
                prop_assert!(exact.pts.is_sorted());
                for (&found, &pts) in exact.pts.iter().zip(&pts) {
                    prop_assert!((found - pts * exact.units_per_tick).abs() <= exact.rounding * 65 / 64 + 1);
                }
            }
        }

        #[test]
        fn no_times_overflow(pts in prop::collection::vec(any::<i64>(), 0..5), num in 1u32.., den in 1u32.., a in 1u32..1_000_000) {
            let mut pts = pts;
            pts.sort_unstable();
            if let Some(exact) = unrounded_times(&pts, (num, den), Some(Rate::new(a, 1)?)) {
                exact.end(i64::MAX);
            }
        }
    }
}

//! A part of a video, as a span of time.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::track::{EpisodeFrames, Span, Window};
use crate::video::{ExactTimes, Moment, Timeline};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::words::unknown_variant;

/// The frames of a video that begin from `start` up to but not including `end`, on the clock that [`SegmentClock`] selects. If none
/// begins there, the segment has the frame that is on the screen.
///
/// A segment that starts at 0 also has the frames before 0, because some containers give frames a negative time.
///
/// Times are compared in whole microseconds, with both sides rounded to the nearest. So a time that was written
/// with fewer digits than the exact time of a frame still means that frame. The times of frames at a constant rate are those before
/// their container rounded them ([`unrounded_times`](vidrec_format::sampler::unrounded_times)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Segment {
    /// The start in microseconds.
    pub start_us: u64,
    /// The end in microseconds. `None`: the end of the video.
    pub end_us: Option<u64>,
}

/// The clock of the times of segments.
///
/// The text form (`FromStr`, `Display`, serde) is `player`, `first-frame` or `ignore`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum SegmentClock {
    /// The time that a player shows, because annotations are made in players.
    ///
    /// It is the time on the container's timeline if that begins at 0 (MP4, MOV, Matroska, WebM, AVI and most
    /// others). Otherwise it is the time since the container's first packet, of sound or picture (MPEG transport
    /// and program streams, Ogg).
    ///
    /// So if the picture of a file begins after 2 s, because of an edit list or because sound comes first, the
    /// first frame is at 2 s.
    #[default]
    Player,
    /// The time since the video's first frame.
    FirstFrame,
    /// None: whole files are taken, whatever start and end a manifest gives.
    Ignore,
}

impl SegmentClock {
    /// Returns the moment at which the clock shows 0, for frames with these times.
    fn zero(self, timeline: &Timeline, pts: &[i64], time_base: (u32, u32)) -> Moment {
        match self {
            // Whole files have no segments. Their tracks count from where a player does.
            SegmentClock::Player | SegmentClock::Ignore => timeline.player_zero,
            SegmentClock::FirstFrame => Moment { pts: pts.first().copied().unwrap_or(0), time_base },
        }
    }

    /// Returns when this clock shows frames with these exact times, and when the last one ends, in nanoseconds.
    pub(crate) fn nanoseconds(self, timeline: &Timeline, exact: &ExactTimes<'_>) -> (Vec<i64>, i64) {
        let zero = self.zero(timeline, &exact.pts, exact.time_base);
        let ns = |pts: i64| {
            let ns = elapsed(pts, exact.time_base, zero, 1_000_000_000);
            i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
        };
        (exact.pts.iter().map(|&pts| ns(pts)).collect(), ns(exact.end))
    }

    /// Returns the frames of a video on this clock, and which of them are in a segment.
    pub(crate) fn window(self, timeline: &Timeline, segment: Option<Segment>) -> Window {
        let zero = self.zero(timeline, &timeline.pts, timeline.time_base);
        let to_clip = nanoseconds(zero.pts, zero.time_base);
        let frames: Vec<i64> =
            timeline.pts.iter().map(|&pts| nanoseconds(pts, timeline.time_base).saturating_sub(to_clip)).collect();
        let (first, last) = frames.first().zip(frames.last()).map_or((0, 0), |(&first, &last)| (first, last));
        // The last frame lasts at least as long as the average frame.
        let step = last.saturating_sub(first) / (frames.len() as i64 - 1).max(1);
        let inside = match segment {
            Some(segment) => segment.frames(timeline, self).into_iter().map(|i| i as usize).collect(),
            None => (0..frames.len()).collect(),
        };
        let ns = |us: u64| i64::try_from(us).unwrap_or(i64::MAX).saturating_mul(1000);
        let segment = segment.map(|Segment { start_us, end_us }| Span {
            start: ns(start_us),
            end: end_us.map_or(i64::MAX, ns),
            from_first: start_us == 0,
        });
        let end = nanoseconds(timeline.end, timeline.time_base).saturating_sub(to_clip).max(last.saturating_add(step));
        Window { frames, end, segment, inside, chosen: Vec::new(), to_clip }
    }

    /// Returns the seconds that the clock shows at a pts.
    pub(super) fn seconds(self, timeline: &Timeline, pts: i64) -> f64 {
        let zero = self.zero(timeline, &timeline.pts, timeline.time_base);
        elapsed(pts, timeline.time_base, zero, 1_000_000) as f64 / 1e6
    }

    /// Returns the seconds that the clock shows at the first and at the last frame.
    pub(crate) fn span(self, timeline: &Timeline) -> Option<(f64, f64)> {
        let seconds = |pts: i64| self.seconds(timeline, pts);
        timeline.pts.first().zip(timeline.pts.last()).map(|(&first, &last)| (seconds(first), seconds(last)))
    }
}

/// The longest video, in seconds: more than 300 years.
const MAX_SECONDS: f64 = 1e10;

/// Converts seconds to microseconds.
pub(super) fn microseconds(seconds: f64) -> std::result::Result<u64, String> {
    if (0.0..=MAX_SECONDS).contains(&seconds) {
        Ok((seconds * 1e6).round() as u64)
    } else {
        Err(format!("{seconds} is not a time of 0 or more seconds"))
    }
}

impl Segment {
    /// Returns a segment of at least one microsecond, or `None` if both sides are open.
    pub(super) fn new(start_us: Option<u64>, end_us: Option<u64>) -> std::result::Result<Option<Self>, String> {
        match (start_us, end_us) {
            (None, None) => Ok(None),
            (Some(start), Some(end)) if start >= end => {
                Err(format!("the end, {} s, is not after the start, {} s", seconds(end), seconds(start)))
            }
            (start, end_us) => Ok(Some(Segment { start_us: start.unwrap_or(0), end_us })),
        }
    }

    /// Returns the ordinals of the frames in the segment, ascending: of those that begin in it or, if there is none, of the one
    /// that is on the screen.
    pub(crate) fn frames(&self, timeline: &Timeline, clock: SegmentClock) -> Vec<u32> {
        let exact = timeline.exact();
        let zero = clock.zero(timeline, &exact.pts, exact.time_base);
        let us = |pts: i64| elapsed(pts, exact.time_base, zero, 1_000_000);
        let start = i128::from(self.start_us);
        let inside = |&pts: &i64| {
            (self.start_us == 0 || us(pts) >= start) && self.end_us.is_none_or(|end| us(pts) < i128::from(end))
        };
        let begin: Vec<u32> = (0..).zip(exact.pts.iter()).filter(|(_, pts)| inside(pts)).map(|(i, _)| i).collect();
        if !begin.is_empty() || us(exact.end) <= start {
            return begin;
        }
        let on_screen = exact.pts.iter().rposition(|&pts| us(pts) < start);
        on_screen.and_then(|i| u32::try_from(i).ok()).into_iter().collect()
    }
}

/// Converts a pts to nanoseconds, with halves rounded up.
pub(crate) fn nanoseconds(pts: i64, (num, den): (u32, u32)) -> i64 {
    // The result is below 2^63 * 2^32 * 2^31.
    let twice = 2 * i128::from(pts) * i128::from(num) * 1_000_000_000 + i128::from(den);
    let ns = twice.div_euclid(2 * i128::from(den.max(1)));
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

/// Returns the time from `zero` to `pts` in these units a second, of which there are at most 10^9, with halves rounded up.
fn elapsed(pts: i64, (num, den): (u32, u32), zero: Moment, units: i128) -> i128 {
    let (pts, zero_pts) = (i128::from(pts), i128::from(zero.pts));
    let [num, den, zero_num, zero_den] = [num, den.max(1), zero.time_base.0, zero.time_base.1.max(1)].map(i128::from);
    if (num, den) == (zero_num, zero_den) {
        return rounded((pts - zero_pts) * num, den, units).unwrap_or_default();
    }
    let exact = || {
        let ticks = pts.checked_mul(num * zero_den)?.checked_sub(zero_pts.checked_mul(zero_num * den)?)?;
        rounded(ticks, den * zero_den, units)
    };
    // For times that no video has, the difference of rounded times is good enough.
    let each = || Some(rounded(pts * num, den, units)? - rounded(zero_pts * zero_num, zero_den, units)?);
    exact().or_else(each).unwrap_or_default()
}

/// Converts a fraction of a second to units, with halves rounded up.
fn rounded(numerator: i128, denominator: i128, units: i128) -> Option<i128> {
    let twice = numerator.checked_mul(2 * units)?.checked_add(denominator)?;
    Some(twice.div_euclid(2 * denominator))
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

/// The highest frame rate that is accepted, in frames a second.
const MAX_FPS: f64 = 100_000.0;

/// An episode as a manifest describes it. Without a start, it is all of its file.
#[derive(Deserialize)]
struct EpisodeJson {
    count: u32,
    start: Option<f64>,
    fps: f64,
}

impl EpisodeFrames {
    /// Reads an object, or its text, and returns the part of the video that has the frames. The error says what is wrong.
    pub fn read(value: &Value) -> std::result::Result<(Self, Segment), String> {
        let object = match value {
            Value::String(text) => serde_json::from_str(text).ok(),
            value => serde_json::from_value(value.clone()).ok(),
        };
        let is_known = |found: &EpisodeJson| {
            (1..=limits::MAX_FRAMES_PER_CLIP).contains(&found.count) && found.fps > 0.0 && found.fps <= MAX_FPS
        };
        let EpisodeJson { count, start, fps } = object.filter(is_known).ok_or_else(|| {
            format!("expected the count and the fps of frames, and their start in seconds, found {value}")
        })?;
        let frames = EpisodeFrames { count, start: start.unwrap_or(0.0), fps };
        let segment = frames.segment()?;
        Ok((frames, if start.is_some() { segment } else { Segment { start_us: 0, end_us: None } }))
    }

    /// Returns the segment from half a frame before the first frame to half a frame before the frame after the
    /// last one.
    ///
    /// Times are rounded, so a segment from the first time to the last could lose a frame or take one of a
    /// neighbor.
    pub fn segment(&self) -> std::result::Result<Segment, String> {
        let half = 0.5 / self.fps;
        let end = self.start + f64::from(self.count) / self.fps - half;
        let (start, end) = (microseconds((self.start - half).max(0.0))?, microseconds(end)?);
        Segment::new(Some(start), Some(end))?.ok_or_else(|| "it is not a valid part of a video".into())
    }

    /// Refuses a segment of the video that has other frames: one is missing, or is not where the rate puts it.
    pub fn check(&self, timeline: &Timeline, inside: &[u32], clock: SegmentClock) -> Result<()> {
        let times: Vec<f64> = inside.iter().map(|&i| clock.seconds(timeline, timeline.pts[i as usize])).collect();
        let wanted = |count: usize| format!("{count} frames at {} per second, from {:.3} s on", self.fps, self.start);
        if times.len() != self.count as usize {
            let found = match (times.first(), times.last()) {
                (Some(first), Some(last)) => format!("{} frames, from {first:.3} to {last:.3} s", times.len()),
                _ => "none".into(),
            };
            return Err(Error::usage("the frames of the video are not those of the episode")
                .expected(wanted(self.count as usize))
                .found(found));
        }
        let slot = |time: f64| ((time - self.start) * self.fps).round();
        match (0..).zip(&times).find(|(i, time)| slot(**time) != f64::from(*i)) {
            None => Ok(()),
            Some((i, time)) => {
                let found = format!("frame {i} at {time:.3} s");
                Err(Error::usage("a frame of the episode has the wrong time")
                    .expected(wanted(times.len()))
                    .found(found))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn timeline(pts: Vec<i64>, time_base: (u32, u32)) -> Timeline {
        let (key, end) = (vec![true; pts.len()], pts.last().copied().unwrap_or(0).saturating_add(1));
        Timeline::new((pts, key), time_base, end, Moment::ZERO)
    }

    fn cut(start: f64, end: Option<f64>, timeline: &Timeline) -> Vec<u32> {
        let us = |s| microseconds(s).unwrap();
        Segment { start_us: us(start), end_us: end.map(us) }.frames(timeline, SegmentClock::FirstFrame)
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
    fn a_player_counts_from_its_own_zero() {
        let t = timeline((0..10).map(|i| 2000 + i * 100).collect(), (1, 1000)); // from 2 s on, 10 a second
        let segment = Segment { start_us: 2_500_000, end_us: Some(2_700_000) };
        assert_eq!(segment.frames(&t, SegmentClock::Player), [5, 6]);
        assert_eq!(segment.frames(&t, SegmentClock::FirstFrame), [0; 0]);
        assert_eq!(SegmentClock::Player.span(&t), Some((2.0, 2.9)));
        // A zero in another time base, in which a third of a second is exact.
        let third = Timeline { player_zero: Moment { pts: 5, time_base: (1, 3) }, ..t };
        let from = |us| Segment { start_us: us, end_us: None }.frames(&third, SegmentClock::Player)[0];
        assert_eq!([from(333_333), from(333_334), from(433_333), from(433_334)], [0, 1, 1, 2]);
        let negative = Timeline { player_zero: Moment { pts: 2150, time_base: (1, 1000) }, ..third };
        let to = Segment { start_us: 0, end_us: Some(100_000) };
        assert_eq!(to.frames(&negative, SegmentClock::Player), [0, 1, 2], "what is before 0 is in it too");
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
        /// Compares with whole ticks of a microsecond, which need no rounding.
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
            let on_screen = || (0..pts.len()).rev().find(|&i| pts[i] - first < start as i64);
            let end = pts[pts.len() - 1] - first + steps.iter().copied().min().unwrap_or(1);
            let wanted = if wanted.is_empty() && (start as i64) < end { on_screen().map(|i| i as u32).into_iter().collect() } else { wanted };
            let segment = Segment { start_us: start, end_us: Some(start + length) };
            let t = timeline(pts, (1, 1_000_000));
            prop_assert_eq!(segment.frames(&t, SegmentClock::FirstFrame), wanted);
        }

        #[test]
        fn no_times_overflow(
            pts in prop::collection::vec(any::<i64>(), 1..5), num in 1u32.., den in 1u32.., start: u64, zero: i64,
            zero_num in 1u32.., zero_den in 1u32..,
        ) {
            let player_zero = Moment { pts: zero, time_base: (zero_num, zero_den) };
            let t = Timeline { player_zero, ..timeline(pts, (num, den)) };
            for clock in [SegmentClock::Player, SegmentClock::FirstFrame] {
                Segment { start_us: start, end_us: None }.frames(&t, clock);
            }
        }
    }
}

#[cfg(test)]
mod episode_tests {
    use super::*;
    use crate::video::Moment;

    /// A video of 30 frames a second with the time base of FFmpeg's MP4.
    fn timeline(frames: i64) -> Timeline {
        let pts: Vec<i64> = (0..frames).map(|i| i * 512).collect();
        Timeline::new((pts, vec![true; frames as usize]), (1, 15_360), frames * 512, Moment::ZERO)
    }

    fn check(episode: EpisodeFrames, timeline: &Timeline) -> Result<Vec<u32>> {
        let clock = SegmentClock::Player;
        let inside = episode.segment().unwrap().frames(timeline, clock);
        episode.check(timeline, &inside, clock).map(|()| inside)
    }

    #[test]
    fn rounded_seams_lose_and_double_nothing() {
        let timeline = timeline(300);
        for digits in [1e2, 1e3, 1e4, 1e6, 1e15] {
            let mut first = 0;
            for count in [7, 1, 30, 100, 162] {
                let start = (f64::from(first) / 30.0 * digits).round() / digits;
                let inside = check(EpisodeFrames { count, start, fps: 30.0 }, &timeline).unwrap();
                assert_eq!(inside, (first..first + count).collect::<Vec<_>>(), "{digits}");
                first += count;
            }
        }
    }
}

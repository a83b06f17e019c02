//! Times of values in nanoseconds, and the part of a video that a clip covers.

use super::array::{Array, Number, numbers};
use super::spec::TimeUnit;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::TrackType;

/// The latest time that a track may have: 100 years.
const MOST_NS: f64 = 100.0 * 366.0 * 86_400e9;

/// Converts an array of times to nanoseconds.
pub(super) fn nanoseconds(times: &Array, unit: Option<TimeUnit>) -> Result<Vec<i64>> {
    if times.shape.len() != 1 {
        return Err(Error::usage("times must be an array of one dimension").found(format!("shape {:?}", times.shape)));
    }
    let no_numbers = || Error::usage("times must be numbers").found(times.values.kind());
    let numbers = numbers(&times.values).filter(|_| times.values.kind() != TrackType::Bool).ok_or_else(no_numbers)?;
    let ns = |(i, number): (usize, Number)| match (number, unit) {
        (Number::Whole(_), None) => Err(Error::usage("the times are whole numbers without a unit")
            .expected("unit=s, unit=ms, unit=us or unit=ns in the description of the track")),
        (Number::Whole(n), Some(unit)) => {
            n.checked_mul(unit.nanoseconds()).filter(|&ns| is_time(ns as f64)).ok_or_else(|| no_time(i, n))
        }
        (Number::Float(n), unit) => {
            let ns = n * unit.unwrap_or(TimeUnit::Seconds).nanoseconds() as f64;
            if is_time(ns) { Ok(ns.round() as i64) } else { Err(no_time(i, n)) }
        }
    };
    numbers.into_iter().enumerate().map(ns).collect()
}

fn is_time(ns: f64) -> bool {
    (-MOST_NS..=MOST_NS).contains(&ns)
}

fn no_time(place: usize, found: impl std::fmt::Display) -> Error {
    Error::usage(format!("time {place} is not a valid time")).expected("a number within 100 years of 0").found(found)
}

/// Refuses times that run backwards. `what` names them in the error.
pub(super) fn check_order(times: &[i64], what: &str) -> Result<()> {
    match times.windows(2).position(|two| two[0] > two[1]) {
        None => Ok(()),
        Some(i) => Err(Error::usage(format!("{what} run backwards")).found(format!(
            "{} s at value {}, after {} s",
            text(times[i + 1]),
            i + 1,
            text(times[i])
        ))),
    }
}

/// Returns nanoseconds as seconds, for errors.
pub(super) fn text(ns: i64) -> String {
    let text = format!("{:.6}", ns as f64 / 1e9);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The frames of a video, and the part of it that a clip covers. Times are on the clock of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// The time of each frame of the video.
    pub frames: Vec<i64>,
    /// The time at which the last frame ends.
    pub end: i64,
    /// The segment, if the clip covers one.
    pub segment: Option<Span>,
    /// The ordinals of the frames in the segment, ascending. Without a segment, all frames.
    pub inside: Vec<usize>,
    /// The clip's frames, as ordinals of the video.
    pub chosen: Vec<usize>,
    /// The offset from this clock to the clip's clock, which is that of its pts.
    pub to_clip: i64,
}

/// The time from `start` to `end`. An open end is `i64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: i64,
    pub end: i64,
    /// Whether the span begins where the video does, and so includes everything before its start.
    pub from_first: bool,
}

impl Window {
    /// Returns the start and end of the video.
    pub fn video(&self) -> (i64, i64) {
        (self.frames.first().copied().unwrap_or(0), self.end)
    }

    /// Returns the start and end of the part that the clip covers.
    pub fn part(&self) -> (i64, i64) {
        let (first, end) = self.video();
        match self.segment {
            None => (first, end),
            Some(segment) => (segment.start.max(first), segment.end.min(end)),
        }
    }

    /// Returns the time of 0 on the clock of a track that counts from the segment.
    pub fn segment_start(&self) -> i64 {
        self.segment.map_or(0, |segment| segment.start)
    }

    /// Returns which of some ascending times are in the segment. They are compared in whole microseconds, as
    /// frames are.
    pub fn cut(&self, count: usize, time: impl Fn(usize) -> i64) -> std::ops::Range<usize> {
        let Some(segment) = self.segment else { return 0..count };
        let us = |ns: i64| (i128::from(ns) + 500).div_euclid(1000);
        let before = |i: usize| !segment.from_first && us(time(i)) < us(segment.start);
        let in_front = |i: usize| segment.end == i64::MAX || us(time(i)) < us(segment.end);
        let first = partition(count, before);
        first..partition(count, in_front).max(first)
    }
}

/// Returns the first number below `count` for which `is` is false, if it is true for all numbers before.
fn partition(count: usize, is: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use vidrec_core::dataset::writer::TrackValues;

    #[test]
    fn times_are_read_in_their_unit() {
        let floats = Array::row(TrackValues::F64(vec![0.5, 1.25]));
        assert_eq!(nanoseconds(&floats, None).unwrap(), [500_000_000, 1_250_000_000]);
        assert_eq!(nanoseconds(&floats, Some(TimeUnit::Milliseconds)).unwrap(), [500_000, 1_250_000]);
        let whole = Array::row(TrackValues::I64(vec![-3, 7]));
        assert_eq!(nanoseconds(&whole, Some(TimeUnit::Microseconds)).unwrap(), [-3000, 7000]);
        assert!(nanoseconds(&whole, None).unwrap_err().to_string().contains("unit=us"));
        for bad in [f64::NAN, f64::INFINITY, 1e12] {
            let e = nanoseconds(&Array::row(TrackValues::F64(vec![0.0, bad])), None).unwrap_err().to_string();
            assert!(e.contains("time 1 is not a valid time"), "{e}");
        }
        let large = Array::row(TrackValues::I64(vec![i64::MAX]));
        assert!(nanoseconds(&large, Some(TimeUnit::Seconds)).is_err());
    }

    #[test]
    fn times_that_run_backwards_are_named() {
        check_order(&[1, 1, 2], "times").unwrap();
        let e = check_order(&[0, 2_000_000_000, 1_500_000_000], "times").unwrap_err().to_string();
        assert_eq!(e, "times run backwards: found 1.5 s at value 2, after 2 s");
    }
}

#[cfg(test)]
mod window_tests {
    use super::*;

    #[test]
    fn a_segment_has_its_start_and_not_its_end() {
        let segment = |start, end, from_first| Window {
            frames: vec![0, 40],
            end: 80_000,
            segment: Some(Span { start, end, from_first }),
            inside: vec![],
            chosen: vec![],
            to_clip: 0,
        };
        let times = [-1000, 0, 1000, 2000, 3000];
        let cut = |window: Window| window.cut(times.len(), |i| times[i]);
        assert_eq!(cut(segment(1000, 3000, false)), 2..4);
        assert_eq!(cut(segment(0, 3000, true)), 0..4, "what is before 0 is in it");
        assert_eq!(cut(segment(1000, i64::MAX, false)), 2..5);
        assert_eq!(cut(segment(9000, 9001, false)), 5..5);
    }
}

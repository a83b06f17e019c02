//! Values placed on the clock of a clip, checked against the video, and cut to the segment.

use super::array::{Array, Number, numbers};
use super::spec::{TimeUnit, TrackClock, TrackSpec, TrackSpecTiming};
use vidrec_core::dataset::writer::{Track, TrackTimes};
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::TrackType;

/// Values as they were read, with their times, in nanoseconds on the track's own clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawTrack {
    pub values: Array,
    /// The times of values with timing `times`, or the starts of spans.
    pub starts: Vec<i64>,
    /// The ends of spans.
    pub ends: Vec<i64>,
}

impl From<Array> for RawTrack {
    fn from(values: Array) -> Self {
        RawTrack { values, ..RawTrack::default() }
    }
}

/// Returns the track of a clip.
pub(super) fn place(spec: &TrackSpec, raw: RawTrack, window: &Window) -> Result<Track> {
    let (values, times) = match &spec.timing {
        TrackSpecTiming::Rate(rate) => {
            let (den, num) = rate.frame_seconds();
            at_rate(spec, raw.values, (num, den), window)?
        }
        TrackSpecTiming::Times(_) => at_times(spec, raw, window)?,
        TrackSpecTiming::Spans => spans(spec, raw, window)?,
        TrackSpecTiming::Frames => {
            let places = chosen_places(spec, raw.values.len(), window)?;
            (raw.values.take(&places), TrackTimes::Frames)
        }
        TrackSpecTiming::EveryFrame => of_every_frame(spec, &raw.values, window)?,
    };
    let (name, shape, lists) = (spec.name.clone(), values.value_shape()?, values.lists());
    Ok(Track { name, values: values.values, shape, times, nan: spec.nan, lists, ..Track::default() })
}

fn origin(spec: &TrackSpec, window: &Window) -> i64 {
    match spec.clock {
        TrackClock::Video => 0,
        TrackClock::Segment => window.segment_start(),
    }
}

fn at_rate(spec: &TrackSpec, values: Array, rate: (u32, u32), window: &Window) -> Result<(Array, TrackTimes)> {
    let (count, origin) = (values.len(), origin(spec, window));
    let time = |i: usize| origin.saturating_add(after(i, rate));
    check_reach(spec, (time(0), time(count)), count, window)?;
    let range = window.cut(count, time);
    let first_ns = time(range.start).saturating_add(window.to_clip);
    Ok((values.slice(range), TrackTimes::Rate { first_ns, rate }))
}

/// Returns the nanoseconds from the first value to value `i`.
fn after(i: usize, (num, den): (u32, u32)) -> i64 {
    let exact = i as i128 * i128::from(den) * 1_000_000_000;
    i64::try_from((exact + i128::from(num) / 2).div_euclid(i128::from(num))).unwrap_or(i64::MAX / 4)
}

fn at_times(spec: &TrackSpec, raw: RawTrack, window: &Window) -> Result<(Array, TrackTimes)> {
    let RawTrack { values, mut starts, .. } = raw;
    let count = values.len();
    if starts.len() != count {
        return Err(Error::usage("the track does not have one time for each value")
            .expected(format!("{count} times"))
            .found(starts.len()));
    }
    check_order(&starts, "times")?;
    let origin = origin(spec, window);
    starts.iter_mut().for_each(|time| *time = time.saturating_add(origin));
    if let (Some(&first), Some(&last)) = (starts.first(), starts.last()) {
        // The last value lasts as long as the average value.
        let step = if count > 1 { (last - first) / (count as i64 - 1) } else { 0 };
        check_reach(spec, (first, last.saturating_add(step)), count, window)?;
    } else {
        check_reach(spec, window.part(), 0, window)?;
    }
    let range = window.cut(count, |i| starts[i]);
    let times = starts[range.clone()].iter().map(|time| time.saturating_add(window.to_clip)).collect();
    Ok((values.slice(range), TrackTimes::Times(times)))
}

fn spans(spec: &TrackSpec, raw: RawTrack, window: &Window) -> Result<(Array, TrackTimes)> {
    let RawTrack { values, starts, ends } = raw;
    if starts.len() != values.len() || ends.len() != values.len() {
        return Err(Error::usage("the track does not have one start and one end for each value"));
    }
    check_order(&starts, "starts")?;
    let (origin, tolerance) = (origin(spec, window), tolerance(spec));
    let (first, last) = within(spec, window);
    let (mut kept, mut new_starts, mut new_ends) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (start, end)) in starts.iter().zip(&ends).enumerate() {
        let (start, end) = (start.saturating_add(origin), end.saturating_add(origin));
        let named = || format!("value {i} from {} to {} s", text(start), text(end));
        if start > end {
            return Err(Error::usage("a span ends before it starts").found(named()));
        }
        if start < first.saturating_sub(tolerance) || end > last.saturating_add(tolerance) {
            return Err(Error::usage("a span lies outside the video")
                .expected(format!("{} to {} s, with a tolerance of {} s", text(first), text(last), text(tolerance)))
                .found(named()));
        }
        if let Some((start, end)) = cut_span((start, end), window) {
            kept.push(i);
            new_starts.push(start.saturating_add(window.to_clip));
            new_ends.push(end.saturating_add(window.to_clip));
        }
    }
    Ok((values.take(&kept), TrackTimes::Spans { starts: new_starts, ends: new_ends }))
}

/// Returns the part of a span that is in the segment.
fn cut_span((start, end): (i64, i64), window: &Window) -> Option<(i64, i64)> {
    let Some(segment) = window.segment else { return Some((start, end)) };
    let least = if segment.from_first { i64::MIN } else { segment.start };
    let is_moment = start == end && start >= least;
    ((end > least || is_moment) && start < segment.end).then(|| (start.max(least), end.min(segment.end)))
}

/// Returns the place of the value of each frame of the clip, of `count` values.
pub(super) fn chosen_places(spec: &TrackSpec, count: usize, window: &Window) -> Result<Vec<usize>> {
    let places = match spec.clock {
        TrackClock::Video => window.chosen.clone(),
        TrackClock::Segment => {
            let place = |frame: &usize| window.inside.binary_search(frame).ok();
            let places: Option<Vec<usize>> = window.chosen.iter().map(place).collect();
            places.ok_or_else(|| Error::internal("a chosen frame is not in its segment"))?
        }
    };
    check_frames(spec, count, window)?;
    Ok(places)
}

/// Returns the places of the pictures to store, of `count` pictures, and their times, if they have times of their own.
pub(super) fn picture_places(
    spec: &TrackSpec,
    count: usize,
    window: &Window,
) -> Result<(Vec<usize>, Option<Vec<i64>>)> {
    if spec.timing == TrackSpecTiming::Frames {
        return Ok((chosen_places(spec, count, window)?, None));
    }
    every_place(spec, count, window).map(|(places, times)| (places, Some(times)))
}

fn of_every_frame(spec: &TrackSpec, values: &Array, window: &Window) -> Result<(Array, TrackTimes)> {
    let (places, times) = every_place(spec, values.len(), window)?;
    Ok((values.take(&places), TrackTimes::Times(times)))
}

/// Returns the place and the time of the value of each frame in the segment, of `count` values.
fn every_place(spec: &TrackSpec, count: usize, window: &Window) -> Result<(Vec<usize>, Vec<i64>)> {
    check_frames(spec, count, window)?;
    let places = match spec.clock {
        TrackClock::Video => window.inside.clone(),
        TrackClock::Segment => (0..window.inside.len()).collect(),
    };
    let times = window.inside.iter().map(|&i| window.frames[i].saturating_add(window.to_clip)).collect();
    Ok((places, times))
}

/// Refuses values whose number differs from that of the frames.
fn check_frames(spec: &TrackSpec, count: usize, window: &Window) -> Result<()> {
    let (frames, what) = match spec.clock {
        TrackClock::Video => (window.frames.len(), "video"),
        TrackClock::Segment => (window.inside.len(), "segment"),
    };
    if count == frames {
        return Ok(());
    }
    Err(Error::usage(format!("the track does not have one value for each frame of the {what}"))
        .expected(format!("{frames} values"))
        .found(count))
}

fn tolerance(spec: &TrackSpec) -> i64 {
    i64::try_from(spec.tolerance_us).unwrap_or(i64::MAX).saturating_mul(1000)
}

/// Returns the time range in which values may lie.
fn within(spec: &TrackSpec, window: &Window) -> (i64, i64) {
    match spec.clock {
        TrackClock::Video => window.video(),
        TrackClock::Segment => window.part(),
    }
}

/// Refuses a track that is longer or shorter than the video or segment that it belongs to.
fn check_reach(spec: &TrackSpec, (first, end): (i64, i64), count: usize, window: &Window) -> Result<()> {
    let tolerance = tolerance(spec);
    let (least, most) = within(spec, window);
    let (start, stop) = window.part();
    let fault = |what: &str, (start, stop): (i64, i64), help: &str| {
        Err(Error::usage(format!("the track {what}"))
            .expected(format!("{} to {} s, with a tolerance of {} s", text(start), text(stop), text(tolerance)))
            .found(format!("{count} values from {} to {} s", text(first), text(end)))
            .help(help))
    };
    let wider = "if this is intended, add tolerance=SECONDS to the description of the track";
    if first < least.saturating_sub(tolerance) || end > most.saturating_add(tolerance) {
        return fault("is longer than the video", (least, most), wider);
    }
    let is_short = count == 0 || first > start.saturating_add(tolerance) || end < stop.saturating_sub(tolerance);
    if is_short && !spec.partial {
        return fault(
            "is shorter than the video",
            (start, stop),
            "if this is intended, add partial to the description of the track",
        );
    }
    Ok(())
}

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
}

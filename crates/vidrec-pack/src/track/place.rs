//! Values placed on the clock of a clip, checked against the video, and cut to the segment.

use super::array::Array;
use super::spec::{TrackClock, TrackSpec, TrackSpecTiming};
use super::times::{Window, check_order, text};
use vidrec_core::dataset::writer::{Track, TrackTimes};
use vidrec_format::error::{Error, Result};

/// Values as they were read, with their times, in nanoseconds on the track's own clock.
#[derive(Debug, Clone, Default)]
pub(super) struct Raw {
    pub values: Array,
    /// The times of values with timing `times`, or the starts of spans.
    pub starts: Vec<i64>,
    /// The ends of spans.
    pub ends: Vec<i64>,
}

/// Returns the track of a clip.
pub(super) fn place(spec: &TrackSpec, raw: Raw, window: &Window) -> Result<Track> {
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
    let shape = values.value_shape()?;
    Ok(Track { name: spec.name.clone(), values: values.values, shape, times, nan: spec.nan, ..Track::default() })
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

fn at_times(spec: &TrackSpec, raw: Raw, window: &Window) -> Result<(Array, TrackTimes)> {
    let Raw { values, mut starts, .. } = raw;
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

fn spans(spec: &TrackSpec, raw: Raw, window: &Window) -> Result<(Array, TrackTimes)> {
    let Raw { values, starts, ends } = raw;
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

#[cfg(test)]
mod tests {
    use super::super::times::Span;
    use super::*;
    use vidrec_core::dataset::writer::TrackValues;

    const MS: i64 = 1_000_000;

    /// Ten frames, ten a second, of a clip whose clock is 2 s ahead.
    fn window(segment: Option<(i64, i64)>) -> Window {
        let frames: Vec<i64> = (0..10).map(|i| i * 100 * MS).collect();
        let inside = |i: &usize| segment.is_none_or(|(start, end)| (start..end).contains(&frames[*i]));
        Window {
            inside: (0..10).filter(inside).collect(),
            segment: segment.map(|(start, end)| Span { start, end, from_first: start == 0 }),
            chosen: vec![4, 5],
            end: 1000 * MS,
            to_clip: 2000 * MS,
            frames,
        }
    }

    fn raw(count: u8) -> Raw {
        Raw { values: Array::row(TrackValues::U8((0..count).collect())), ..Raw::default() }
    }

    fn placed(spec: &str, raw: Raw, segment: Option<(i64, i64)>) -> Result<(TrackValues, TrackTimes)> {
        place(&spec.parse().unwrap(), raw, &window(segment)).map(|track| (track.values, track.times))
    }

    fn refused(spec: &str, raw: Raw, segment: Option<(i64, i64)>) -> String {
        placed(spec, raw, segment).unwrap_err().to_string()
    }

    #[test]
    fn values_at_a_rate_are_cut_and_compared_with_the_video() {
        let rate = (20, 1);
        let all = placed("a=a,rate=20", raw(20), None).unwrap();
        assert_eq!(all, (TrackValues::U8((0..20).collect()), TrackTimes::Rate { first_ns: 2000 * MS, rate }));
        let part = placed("a=a,rate=20", raw(20), Some((420 * MS, 610 * MS))).unwrap();
        assert_eq!(part, (TrackValues::U8(vec![9, 10, 11, 12]), TrackTimes::Rate { first_ns: 2450 * MS, rate }));
        let own = placed("a=a,rate=20,clock=segment,tolerance=0.01", raw(4), Some((400 * MS, 600 * MS))).unwrap();
        assert_eq!(own, (TrackValues::U8((0..4).collect()), TrackTimes::Rate { first_ns: 2400 * MS, rate }));
        let long = refused("a=a,rate=20", raw(31), None);
        assert!(long.contains("longer") && long.contains("31 values from 0 to 1.55 s"), "{long}");
        assert!(refused("a=a,rate=20", raw(9), None).contains("shorter"));
        placed("a=a,rate=20,partial", raw(9), None).unwrap();
        assert!(refused("a=a,rate=20", raw(0), None).contains("shorter"));
    }

    #[test]
    fn values_with_times_are_cut() {
        let timed = || Raw { starts: (0..10).map(|i| i * 100 * MS).collect(), ..raw(10) };
        let part = placed("a=a,times=t", timed(), Some((450 * MS, 700 * MS))).unwrap();
        assert_eq!(part, (TrackValues::U8(vec![5, 6]), TrackTimes::Times(vec![2500 * MS, 2600 * MS])));
        assert!(refused("a=a,times=t", Raw { starts: vec![0], ..raw(10) }, None).contains("one time for each"));
        let mut back = timed();
        back.starts.swap(3, 4);
        assert!(refused("a=a,times=t", back, None).contains("times run backwards"));
    }

    #[test]
    fn spans_are_cut_at_the_edges_of_a_segment() {
        let spans = |spans: &[(i64, i64)]| Raw {
            values: Array::row(TrackValues::Texts((0..spans.len()).map(|i| i.to_string()).collect())),
            starts: spans.iter().map(|s| s.0 * MS).collect(),
            ends: spans.iter().map(|s| s.1 * MS).collect(),
        };
        let all = spans(&[(0, 300), (200, 450), (500, 500), (600, 900)]);
        let (values, times) = placed("a=a,spans", all, Some((400 * MS, 700 * MS))).unwrap();
        assert_eq!(values, TrackValues::Texts(vec!["1".into(), "2".into(), "3".into()]));
        let (starts, ends) = ([2400, 2500, 2600].map(|t| t * MS), [2450, 2500, 2700].map(|t| t * MS));
        assert_eq!(times, TrackTimes::Spans { starts: starts.into(), ends: ends.into() });
        let e = refused("a=a,spans", spans(&[(0, 1), (900, 1600)]), None);
        assert!(e.contains("outside the video") && e.contains("value 1 from 0.9 to 1.6 s"), "{e}");
        assert!(refused("a=a,spans", spans(&[(5, 4)]), None).contains("ends before"));
        assert!(refused("a=a,spans", spans(&[(5, 6), (4, 9)]), None).contains("starts run backwards"));
    }

    #[test]
    fn values_of_frames_follow_their_frames() {
        assert_eq!(placed("a=a,frames", raw(10), None).unwrap(), (TrackValues::U8(vec![4, 5]), TrackTimes::Frames));
        let segment = Some((300 * MS, 600 * MS));
        let own = placed("a=a,frames,clock=segment", raw(3), segment).unwrap();
        assert_eq!(own.0, TrackValues::U8(vec![1, 2]));
        let every = placed("a=a,every-frame", raw(10), segment).unwrap();
        let times = [2300, 2400, 2500].map(|t| t * MS).to_vec();
        assert_eq!(every, (TrackValues::U8(vec![3, 4, 5]), TrackTimes::Times(times)));
        assert!(refused("a=a,frames", raw(9), None).contains("expected 10 values, found 9"));
    }
}

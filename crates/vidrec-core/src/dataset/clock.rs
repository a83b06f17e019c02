//! The clocks of clips: which clips share one, and where one begins.

use crate::dataset::Clip;
use crate::dataset::track::nanoseconds;
use vidrec_format::frame_entry::UNKNOWN_SOURCE_INDEX;
use vidrec_format::track::schema::TrackTiming;
use vidrec_format::{Error, Result};

/// The attribute by which clips of an episode say that they have one clock: those with the same text do.
const CLOCK: &str = "clock";

/// The largest distance of two frames of one moment, in seconds, if the distance of frames is unknown.
const ONE_MOMENT: f64 = 1e-3;

/// Returns why two clips of an episode cannot be paired by time, or `None` if they have one clock.
///
/// They do if they begin together: their first frames are at most half of the time from one frame to the next apart. If
/// they do not, they still do if their attribute `clock` is the same, or if both are segments from the same `start` on and
/// their first frames are at most the time of a frame apart. Frames without times have no clock that a video could have.
///
/// # Errors
///
/// The index is damaged or cannot be read.
pub fn different_clocks(one: &Clip<'_>, other: &Clip<'_>) -> Result<Option<String>> {
    if one.frame_count() == 0 || other.frame_count() == 0 || begin_together(one, other)? {
        return Ok(None);
    }
    let attributes = [one.attributes()?, other.attributes()?];
    let say_the_same = |name: &str| {
        let [one, other] = attributes.each_ref().map(|attributes| attributes.0.get(name));
        one.is_some() && one == other
    };
    if say_the_same(CLOCK) {
        return Ok(None);
    }
    if has_times(one)? != has_times(other)? {
        return Ok(Some("pictures without times beside frames with times".into()));
    }
    let [a, b] = [one.seconds(0)?, other.seconds(0)?];
    if say_the_same("start") && (a - b).abs() <= step(one)?.max(step(other)?) {
        return Ok(None);
    }
    Ok(Some(format!("the first frames at {a:.3} s and at {b:.3} s")))
}

/// Whether the first frames of two clips have one time, up to half of the time from one frame to the next.
fn begin_together(one: &Clip<'_>, other: &Clip<'_>) -> Result<bool> {
    let half = step(one)?.min(step(other)?) / 2.0;
    let near = if half.is_finite() { half.max(ONE_MOMENT) } else { ONE_MOMENT };
    Ok((one.seconds(0)? - other.seconds(0)?).abs() <= near && has_times(one)? == has_times(other)?)
}

/// The mean time from one frame to the next in seconds; infinite for a single frame.
fn step(clip: &Clip<'_>) -> Result<f64> {
    let steps = clip.frame_count().saturating_sub(1);
    if steps == 0 {
        return Ok(f64::INFINITY);
    }
    Ok((clip.seconds(steps)? - clip.seconds(0)?).abs() / f64::from(steps))
}

/// Whether frames have times. Pictures that came without a rate are numbered: each takes a second.
fn has_times(clip: &Clip<'_>) -> Result<bool> {
    if clip.time_base() != (1, 1) {
        return Ok(true);
    }
    for t in [0, clip.frame_count() - 1] {
        let entry = clip.frame_entry(t)?;
        let number = if entry.source_index == UNKNOWN_SOURCE_INDEX { t } else { entry.source_index };
        if entry.pts != i64::from(number) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Where the clock of each clip of a data set begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClockStart {
    /// At its first frame.
    FirstFrame,
    /// At the first value of the track of this name, to the nearest unit of the clip's time base.
    Track(String),
}

impl From<&str> for ClockStart {
    /// `first-frame`, or the name of a track.
    fn from(text: &str) -> Self {
        if text == "first-frame" { ClockStart::FirstFrame } else { ClockStart::Track(text.to_owned()) }
    }
}

impl ClockStart {
    /// The pts of a clip at which its clock is to begin, and the same in nanoseconds.
    pub(crate) fn find(&self, clip: &Clip<'_>) -> Result<(i64, i64)> {
        let (numerator, denominator) = clip.time_base();
        let [numerator, denominator] = [numerator, denominator].map(i128::from);
        let pts = match self {
            ClockStart::FirstFrame if clip.frame_count() == 0 => 0,
            ClockStart::FirstFrame => clip.frame_entry(0)?.pts,
            ClockStart::Track(name) => {
                let track = clip.track(name)?.filter(|track| track.schema().timing != TrackTiming::Frames);
                let track = track.filter(|track| !track.is_empty()).ok_or_else(|| {
                    let e = Error::usage(format!("the clip has no times of track \"{name}\"")).in_clip(clip.ordinal());
                    e.help("make a subset of the clips that have it first")
                })?;
                let ticks = 2 * i128::from(track.time_ns(0)?) * denominator;
                let each = numerator * 1_000_000_000;
                i64::try_from((ticks + each).div_euclid(2 * each)).map_err(|_| too_far(clip))?
            }
        };
        let ns = nanoseconds(i128::from(pts) * numerator, denominator);
        Ok((pts, i64::try_from(ns).map_err(|_| too_far(clip))?))
    }
}

pub(crate) fn too_far(clip: &Clip<'_>) -> Error {
    Error::limit("a time does not fit into 64 bits").in_clip(clip.ordinal())
}

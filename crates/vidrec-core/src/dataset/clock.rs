//! The clocks of clips: which clips share one, and where one begins.

use crate::dataset::Clip;
use vidrec_format::frame_entry::UNKNOWN_SOURCE_INDEX;
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

/// The pts of a clip's first frame, and the same in nanoseconds; zeros without frames.
pub(crate) fn beginning(clip: &Clip<'_>) -> Result<(i64, i64)> {
    if clip.frame_count() == 0 {
        return Ok((0, 0));
    }
    Ok((clip.frame_entry(0)?.pts, clip.time_ns(0)?.ok_or_else(|| too_far(clip))?))
}

pub(crate) fn too_far(clip: &Clip<'_>) -> Error {
    Error::limit("a time does not fit into 64 bits").in_clip(clip.ordinal())
}

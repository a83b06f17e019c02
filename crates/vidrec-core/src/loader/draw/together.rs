//! The frames of one camera at the times of another camera's frames.

use crate::dataset::{Clip, different_clocks};
use vidrec_format::error::{Error, Hint, Result};

/// Returns the frames of `other` that are nearest in time to `frames` of `clip`.
///
/// # Errors
///
/// The clips are not known to share a clock, no frame of `other` is within the mean time from one of its frames to the next,
/// or its frames are not in order of time.
pub(crate) fn together(clip: &Clip<'_>, frames: &[u32], other: &Clip<'_>) -> Result<Vec<u32>> {
    if frames.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(found) = different_clocks(clip, other)? {
        let e = Error::usage("the cameras of an episode are not known to share a clock").in_clip(other.ordinal());
        return Err(e.found(found).hint(Hint::Clock));
    }
    let times: Vec<f64> = (0..other.frame_count()).map(|t| other.seconds(t)).collect::<Result<_>>()?;
    let refuse = |what: &str| Error::usage(what).in_clip(other.ordinal());
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Err(refuse("the clip has no frames")) };
    if !times.is_sorted() {
        return Err(refuse("the frames of a camera are not in order of time"));
    }
    let apart = (last - first) / (times.len().max(2) - 1) as f64;
    let mut found = Vec::with_capacity(frames.len());
    for &t in frames {
        let time = clip.seconds(t)?;
        let after = times.partition_point(|&other| other < time).min(times.len() - 1);
        let before = after.saturating_sub(1);
        let nearest = if (time - times[before]).abs() <= (times[after] - time).abs() { before } else { after };
        // The clocks of several cameras differ by microseconds.
        if (times[nearest] - time).abs() > apart.max(1e-3) {
            return Err(refuse("a camera has no frame at the time of another camera's frame")
                .expected(format!("a frame at {time:.3} s"))
                .found(format!("frames from {first:.3} to {last:.3} s"))
                .help("the videos must be equally long"));
        }
        found.push(nearest as u32);
    }
    Ok(found)
}

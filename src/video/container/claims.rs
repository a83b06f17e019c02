//! How long a video is according to its container: reading a truncated file may give no error.

use ffmpeg_next::format::context;
use ffmpeg_next::{Stream, ffi};

use super::clock;
use crate::video::timeline::Moment;

/// Seconds that the container states for the stream, or for the whole file if it states none for the stream.
pub(crate) fn claimed_seconds(context: &context::Input, stream: &Stream<'_>) -> Option<f64> {
    // SAFETY: the context is live; the enumeration is a plain field of it.
    let method = unsafe { (*context.as_ptr()).duration_estimation_method };
    if method == ffi::AVDurationEstimationMethod::AVFMT_DURATION_FROM_BITRATE {
        // FFmpeg's guess, not a claim.
        return None;
    }
    let tag = stream.metadata().get("DURATION").and_then(seconds_of_tag);
    let unit = stream.time_base();
    let own = stream.duration() as f64 * f64::from(unit.numerator()) / f64::from(unit.denominator().max(1));
    let whole = context.duration() as f64 / f64::from(ffi::AV_TIME_BASE);
    let late = seconds_before(context, stream);
    tag.map(|end| end - late).into_iter().chain([own, whole - late]).find(|&s| s.is_finite() && s > 0.0)
}

/// Seconds from a container's own 0, where the claimed length of the whole begins, to the first frame. A second or less
/// counts as 0: [`VideoFacts::is_cut_off`](crate::video::VideoFacts::is_cut_off) tolerates as much.
fn seconds_before(context: &context::Input, stream: &Stream<'_>) -> f64 {
    let (start, unit) = (stream.start_time(), stream.time_base());
    if start == ffi::AV_NOPTS_VALUE || clock::player_zero(context, stream) != Moment::ZERO {
        return 0.0;
    }
    let seconds = start as f64 * f64::from(unit.numerator()) / f64::from(unit.denominator().max(1));
    if seconds > 1.0 { seconds } else { 0.0 }
}

/// Matroska's `00:01:02.500000000`.
fn seconds_of_tag(text: &str) -> Option<f64> {
    let mut parts = text.splitn(3, ':').map(|part| part.trim().parse::<f64>().ok());
    let (h, m, s) = (parts.next()??, parts.next()??, parts.next()??);
    Some(h * 3600.0 + m * 60.0 + s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read() {
        assert_eq!(seconds_of_tag("00:01:02.500000000"), Some(62.5));
        assert_eq!(seconds_of_tag("5.0"), None);
        assert_eq!(seconds_of_tag("a:b:c"), None);
    }
}

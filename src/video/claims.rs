//! What a container claims of the length of a video, against what it holds: a file that was cut off may give no error.

use std::time::Duration;

use ffmpeg_next::format::context;
use ffmpeg_next::{Stream, ffi};

use super::clock::{self, Moment};
use super::input::StreamInfo;
use super::packets::Packets;
use super::{Stage, VideoError, VideoFacts};
use crate::{Error, limits};

/// Seconds that the container gives for the stream, or for the whole file where it gives none.
pub(super) fn claimed_seconds(context: &context::Input, stream: &Stream<'_>) -> Option<f64> {
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

/// Seconds from a container's own 0, from which it claims the length of the whole, to the first frame. A second or less
/// counts as nothing: [`VideoFacts::is_cut_off`] allows for as much.
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

/// Seconds from the first frame to the end of the last, by the times of the packets; `None` if they have none.
pub(super) fn stream_seconds(stream: &StreamInfo, packets: &Packets, frame: i64) -> Option<f64> {
    let (first, last) = packets.span()?;
    let units = last.checked_sub(first)?.checked_add(frame)?;
    Some(units as f64 * f64::from(stream.time_base.0) / f64::from(stream.time_base.1))
}

/// An error if a video of so many seconds is over the limit.
pub(super) fn check_duration(seconds: Option<f64>, limit: Option<Duration>) -> Result<(), VideoError> {
    match (seconds, limit) {
        (Some(seconds), Some(limit)) if seconds > limit.as_secs_f64() => {
            let error = Error::limit("the video is too long")
                .expected(format!("at most {} s", limit.as_secs_f64()))
                .found(format!("{seconds:.1} s"));
            Err(VideoError::new(Stage::Limit, error))
        }
        _ => Ok(()),
    }
}

/// The limit that FFmpeg is given: it counts the margins of its buffers, too.
pub(super) fn decoder_pixels(limit: u64) -> u64 {
    limit.saturating_mul(2).saturating_add(1 << 20).min(limit.max(limits::MAX_PIXELS))
}

/// An error if pictures are larger than the limit.
pub(super) fn check_pixels((width, height): (u32, u32), limit: u64) -> Result<(), VideoError> {
    if u64::from(width) * u64::from(height) <= limit {
        return Ok(());
    }
    let error = Error::limit("the pictures are too large")
        .expected(format!("at most {limit} pixels"))
        .found(format!("{width}x{height}"));
    Err(VideoError::new(Stage::Limit, error))
}

impl VideoFacts {
    /// Whether clearly less is there than the container claims: a tenth is missing, and more than a second.
    pub fn is_cut_off(&self) -> bool {
        match (self.claimed_seconds, self.stream_seconds) {
            (Some(claimed), Some(found)) => found < 0.9 * claimed && claimed - found > 1.0,
            _ => false,
        }
    }
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

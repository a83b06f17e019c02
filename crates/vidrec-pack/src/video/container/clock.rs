//! Finds the zero of a player's clock.
//!
//! Most containers have their own timeline that starts at 0, and a player shows a frame at its time on that
//! timeline. These containers are MP4 and MOV (the movie's timeline, after edit lists; an empty edit at the start
//! delays the picture), Matroska and WebM, AVI, ASF, MXF, and FLV (whose first tag is at 0). For them, a player's
//! clock is the container's.
//!
//! Streams that were broadcast or cut start at any time. MPEG transport streams start at 1.4 s if FFmpeg writes
//! them, and anywhere if receivers record them. FFmpeg marks such formats with `AVFMT_TS_DISCONT`. Players show
//! the time since the first packet of any stream, so audio that starts before the picture counts. That time is
//! FFmpeg's `AVFormatContext.start_time`, to which `ffplay -ss` and `ffmpeg -ss` add. Ogg is one of these formats:
//! the granule positions of a stream that was cut continue those of the original, and players subtract the first.

use std::iter;

use ffmpeg_next::format::context;
use ffmpeg_next::{Stream, ffi};

use crate::video::timeline::Moment;

/// The formats with `AVFMT_TS_DISCONT` that are recognized by their content.
const BEGIN_ANYWHERE: [&str; 6] = ["dhav", "m4v", "mpeg", "mpegts", "ogg", "ty"];

/// Returns when the first packet of a stream is shown, on the clock of the container.
fn start_of(stream: &Stream<'_>) -> Moment {
    let unit = stream.time_base();
    let unsigned = |v: i32| u32::try_from(v).unwrap_or(0).max(1);
    Moment { pts: stream.start_time(), time_base: (unsigned(unit.numerator()), unsigned(unit.denominator())) }
}

/// Whether a moment is at this many microseconds. Halves may be rounded either way.
fn is_at(moment: Moment, us: i64) -> bool {
    let (num, den) = (i128::from(moment.time_base.0), i128::from(moment.time_base.1));
    // The value is below 2^63 * 2^32 * 2^21.
    let twice = 2 * (i128::from(moment.pts) * num * 1_000_000 - i128::from(us) * den);
    twice.abs() <= den
}

/// Returns where on the clock of an open container a player's clock shows 0. `stream` is the one that the player
/// shows.
pub(crate) fn player_zero(context: &context::Input, stream: &Stream<'_>) -> Moment {
    // SAFETY: the context is live; `start_time` is a plain field of it.
    let start_us = unsafe { (*context.as_ptr()).start_time };
    if !BEGIN_ANYWHERE.contains(&context.format().name()) || start_us == ffi::AV_NOPTS_VALUE {
        return Moment::ZERO;
    }
    // FFmpeg rounds the start of the first stream to microseconds. The stream has the exact value.
    let mut starts = iter::once(start_of(stream)).chain(context.streams().map(|s| start_of(&s)));
    let exact = starts.find(|start| start.pts != ffi::AV_NOPTS_VALUE && is_at(*start, start_us));
    exact.unwrap_or(Moment { pts: start_us, time_base: (1, 1_000_000) })
}

//! Reads what a container claims about its video: its length and its year. The length is needed because reading a
//! truncated file may return no error.

use std::ffi::CStr;

use ffmpeg_next::format::context;
use ffmpeg_next::{DictionaryRef, Stream, ffi};

use super::clock;
use crate::video::timeline::Moment;

/// Returns the seconds that the container claims for the stream, or for the whole file if it claims none for the
/// stream.
pub(crate) fn claimed_seconds(context: &context::Input, stream: &Stream<'_>) -> Option<f64> {
    // SAFETY: the context is live; the enumeration is a plain field of it.
    let method = unsafe { (*context.as_ptr()).duration_estimation_method };
    if method == ffi::AVDurationEstimationMethod::AVFMT_DURATION_FROM_BITRATE {
        // This is an estimate by FFmpeg, not a claim.
        return None;
    }
    let unit = stream.time_base();
    let own = stream.duration() as f64 * f64::from(unit.numerator()) / f64::from(unit.denominator().max(1));
    // FFmpeg takes the longest stream for the length of the file.
    let whole = if context.streams().any(|s| is_unknown(s.duration())) { 0 } else { context.duration() };
    let whole = whole as f64 / f64::from(ffi::AV_TIME_BASE);
    let own = if is_unknown(stream.duration()) { 0.0 } else { own };
    let late = seconds_before(context, stream);
    let tag = tagged_end(stream).map(|end| end - late);
    tag.into_iter().chain([own, whole - late]).find(|&s| s.is_finite() && s > 0.0)
}

/// Whether a duration is all ones in 32 bits, which stands for an unknown one (ISO 14496-12, 8.2.2.3 and 8.4.2.3).
fn is_unknown(duration: i64) -> bool {
    duration == i64::from(u32::MAX)
}

/// Returns the seconds at which the last frame of a stream ends, by the tag that FFmpeg's muxer for Matroska writes.
pub(super) fn tagged_end(stream: &Stream<'_>) -> Option<f64> {
    tag(&stream.metadata(), c"DURATION").and_then(seconds_of_tag)
}

/// Returns the seconds from a container's own 0, where the claimed length of the whole file starts, to the first
/// frame.
///
/// A second or less counts as 0, because [`VideoFacts::is_cut_off`](crate::video::VideoFacts::is_cut_off)
/// tolerates that much.
fn seconds_before(context: &context::Input, stream: &Stream<'_>) -> f64 {
    let (start, unit) = (stream.start_time(), stream.time_base());
    if start == ffi::AV_NOPTS_VALUE || clock::player_zero(context, stream) != Moment::ZERO {
        return 0.0;
    }
    let seconds = start as f64 * f64::from(unit.numerator()) / f64::from(unit.denominator().max(1));
    if seconds > 1.0 { seconds } else { 0.0 }
}

/// Returns the year in which the file was made, according to the container: the year in UTC of FFmpeg's tag
/// `creation_time`.
pub(crate) fn creation_year(context: &context::Input) -> Option<u16> {
    tag(&context.metadata(), c"creation_time").and_then(year_of_date)
}

/// Returns the value of a tag, if it is UTF-8.
///
/// FFmpeg passes on whatever the file holds, and `DictionaryRef::get` does not check it.
fn tag<'a>(tags: &'a DictionaryRef<'_>, name: &CStr) -> Option<&'a str> {
    // SAFETY: the dictionary outlives the borrow, and the name ends with a zero. The value of an entry is a C
    // string, which does not change while the dictionary is borrowed.
    let value = unsafe {
        let entry = ffi::av_dict_get(tags.as_ptr(), name.as_ptr(), std::ptr::null(), 0);
        if entry.is_null() { return None } else { CStr::from_ptr((*entry).value) }
    };
    value.to_str().ok()
}

/// Years outside this range are mistakes.
const YEARS: std::ops::RangeInclusive<u16> = 1900..=2100;

/// Returns the year of a date such as `2019-07-03T12:34:56.000000Z`.
fn year_of_date(text: &str) -> Option<u16> {
    let (date, _) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let mut parts = date.split('-');
    let mut number = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<u16>().ok()
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let is_date = parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
    Some(year).filter(|year| is_date && YEARS.contains(year))
}

/// Returns the seconds of a time as Matroska writes it: `00:01:02.500000000`.
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

    #[test]
    fn years_are_those_of_dates() {
        for date in ["2019-07-03T12:34:56.000000Z", "2019-12-31 23:59:59", "2019-01-01"] {
            assert_eq!(year_of_date(date), Some(2019), "{date}");
        }
        assert_eq!(["1900-01-01", "2100-12-31"].map(year_of_date), [Some(1900), Some(2100)]);
        let odd =
            ["", "2019", "2019-07", "2019-7-3", "1899-12-31", "2101-01-01", "2019-13-01", "2019-00-01", "2019-01-32"];
        for text in
            odd.into_iter().chain(["-2019-01-01", "+019-01-01", "2019-01-01-01", "99999-01-01", "20\u{661}9-01-01"])
        {
            assert_eq!(year_of_date(text), None, "{text}");
        }
    }
}

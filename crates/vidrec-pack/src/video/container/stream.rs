//! Reads what a container says about its video stream: parameters, length, year, and the zero of a player's clock.

use std::ffi::{CStr, c_int};
use std::iter;

use ffmpeg_next::format::context;
use ffmpeg_next::{DictionaryRef, Stream, codec, ffi, packet};
use image::metadata::Orientation;

use crate::video::timeline::Moment;

/// The properties of the video stream that the container gives.
pub(crate) struct StreamInfo {
    pub parameters: codec::Parameters,
    pub codec: &'static str,
    /// The four bytes with which the container names the codec; zeros if it names none.
    pub tag: [u8; 4],
    pub container: String,
    pub time_base: (u32, u32),
    /// Where a player's clock shows 0.
    pub player_zero: Moment,
    /// Frames per second as numerator and denominator; 0 when unknown.
    pub frame_rate: (i32, i32),
    pub claimed_frames: Option<u64>,
    pub claimed_seconds: Option<f64>,
    /// When the last frame ends, in units of the time base, by a tag of Matroska.
    pub claimed_end: Option<i64>,
    /// The year in which the file was made.
    pub creation_year: Option<u16>,
    pub sar: (u32, u32),
    pub display_matrix: Option<[i32; 9]>,
    /// The number of pictures that the decoder holds back to reorder them, for H.264 only. FFmpeg estimates this
    /// number for H.264, and loses pictures that come later than that.
    pub reorder: Option<usize>,
    /// Whether all pictures of the codec stand alone.
    pub intra_only: bool,
    /// The number of pictures that the decoder holds back to reorder them, as far as the container and the first
    /// packets tell.
    pub delay: usize,
    /// Width, height and bits per pixel of the pictures according to the container; 24 bits if it does not say.
    pub picture: (u32, u32, u32),
}

impl StreamInfo {
    pub fn of(context: &context::Input, stream: &Stream<'_>) -> Self {
        let time_base = stream.time_base();
        let unsigned = |v: i32| u32::try_from(v).unwrap_or(0);
        let parameters = stream.parameters();
        // SAFETY: `parameters` keeps the context alive, and these are plain fields of it.
        let (own_sar, of_codec) = unsafe { ((*stream.as_ptr()).sample_aspect_ratio, &*parameters.as_ptr()) };
        let delay = usize::try_from(of_codec.video_delay).unwrap_or(0);
        let sar = if own_sar.num > 0 { own_sar } else { of_codec.sample_aspect_ratio };
        StreamInfo {
            codec: parameters.id().name(),
            tag: of_codec.codec_tag.to_le_bytes(),
            // A copy: the original keeps the file open.
            parameters: parameters.clone(),
            container: context.format().name().to_owned(),
            time_base: (unsigned(time_base.numerator()).max(1), unsigned(time_base.denominator()).max(1)),
            player_zero: player_zero(context, stream),
            frame_rate: (stream.avg_frame_rate().numerator(), stream.avg_frame_rate().denominator()),
            claimed_frames: u64::try_from(stream.frames()).ok().filter(|&n| n > 0),
            claimed_seconds: claimed_seconds(context, stream),
            claimed_end: tagged_end(stream).map(|end| (end / f64::from(time_base)) as i64),
            creation_year: creation_year(context),
            sar: (unsigned(sar.num), unsigned(sar.den)),
            display_matrix: stream
                .side_data()
                .find(|d| d.kind() == packet::side_data::Type::DisplayMatrix)
                .and_then(|d| matrix_from_bytes(d.data())),
            reorder: (parameters.id() == codec::Id::H264).then_some(delay),
            intra_only: is_intra_only(parameters.id()),
            delay,
            picture: (unsigned(of_codec.width), unsigned(of_codec.height), bits_per_pixel(of_codec.format)),
        }
    }

    /// Returns the duration of a frame by the frame rate, in units of the time base; 1 if the rate is unknown.
    pub fn nominal_duration(&self) -> i64 {
        let (num, den) = (i64::from(self.frame_rate.0), i64::from(self.frame_rate.1));
        let (tick, per_second) = (i64::from(self.time_base.0), i64::from(self.time_base.1));
        // Each factor is below 2^32, so products of two fit.
        match (num.checked_mul(tick), den.checked_mul(per_second)) {
            (Some(n), Some(d)) if n > 0 && d > 0 => (d / n).max(1),
            _ => 1,
        }
    }
}

/// Whether FFmpeg lists the codec as one whose pictures never refer to others.
fn is_intra_only(id: codec::Id) -> bool {
    // SAFETY: the call takes any codec; a non-null result points to a static table.
    let props = unsafe { ffi::avcodec_descriptor_get(id.into()).as_ref().map_or(0, |descriptor| descriptor.props) };
    props & ffi::AV_CODEC_PROP_INTRA_ONLY as c_int != 0
}

/// Returns the bits that a pixel takes in memory, over all planes, in a pixel format of FFmpeg; 24 for an unknown
/// format.
fn bits_per_pixel(format: c_int) -> u32 {
    if !(0..ffi::AVPixelFormat::AV_PIX_FMT_NB as c_int).contains(&format) {
        return 24;
    }
    // SAFETY: AVPixelFormat is a C enum of the range just checked, without holes below AV_PIX_FMT_NB.
    let format = unsafe { std::mem::transmute::<c_int, ffi::AVPixelFormat>(format) };
    // SAFETY: the call takes any format; a non-null result points to a static table.
    let bits = unsafe {
        let description = ffi::av_pix_fmt_desc_get(format);
        if description.is_null() { 0 } else { ffi::av_get_padded_bits_per_pixel(description) }
    };
    u32::try_from(bits).ok().filter(|&bits| bits > 0).unwrap_or(24)
}

/// Returns the display matrix that turns a picture as the orientation in its EXIF data does.
pub(super) fn matrix_from_exif(exif: &[u8]) -> Option<[i32; 9]> {
    let [a, b, c, d] = match Orientation::from_exif_chunk(exif)? {
        Orientation::NoTransforms => [1, 0, 0, 1],
        Orientation::FlipHorizontal => [-1, 0, 0, 1],
        Orientation::Rotate180 => [-1, 0, 0, -1],
        Orientation::FlipVertical => [1, 0, 0, -1],
        Orientation::Rotate90FlipH => [0, 1, 1, 0],
        Orientation::Rotate90 => [0, 1, -1, 0],
        Orientation::Rotate270FlipH => [0, -1, -1, 0],
        Orientation::Rotate270 => [0, -1, 1, 0],
    };
    Some([a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30])
}

/// Reads the 36 bytes of FFmpeg's display matrix side data, in native order.
pub(crate) fn matrix_from_bytes(data: &[u8]) -> Option<[i32; 9]> {
    let (words, _) = data.as_chunks::<4>();
    let words: &[[u8; 4]; 9] = words.get(..9)?.try_into().ok()?;
    Some(words.map(i32::from_ne_bytes))
}

/// Returns how a stream is encrypted, if its container says so. Decoders turn encrypted packets into gray pictures.
///
/// FFmpeg keeps the types of FairPlay's samples, and those of Common Encryption (ISO/IEC 23001-7) without an original format,
/// as the tag of the codec, and the key of a Matroska track as a tag of the stream. Packets of Common Encryption say by
/// themselves how to decrypt them.
pub(super) fn encryption(stream: &Stream<'_>) -> Option<String> {
    const ENCRYPTED: [&[u8; 4]; 4] = [b"encv", b"enca", b"drmi", b"drms"];
    // SAFETY: the stream keeps the parameters alive, and this is a plain field of them.
    let kind = unsafe { (*stream.parameters().as_ptr()).codec_tag }.to_le_bytes();
    if ENCRYPTED.contains(&&kind) {
        return Some(format!("samples of type '{}'", kind.escape_ascii()));
    }
    tag(&stream.metadata(), c"enc_key_id").map(|_| "a track with ContentEncryption".into())
}

/// Returns the seconds that the container claims for the stream, or for the whole file if it claims none for the
/// stream.
fn claimed_seconds(context: &context::Input, stream: &Stream<'_>) -> Option<f64> {
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
fn tagged_end(stream: &Stream<'_>) -> Option<f64> {
    tag(&stream.metadata(), c"DURATION").and_then(seconds_of_tag)
}

/// Returns the seconds from a container's own 0, where the claimed length of the whole file starts, to the first
/// frame.
///
/// A second or less counts as 0, because [`VideoFacts::is_cut_off`](crate::video::VideoFacts::is_cut_off)
/// tolerates that much.
fn seconds_before(context: &context::Input, stream: &Stream<'_>) -> f64 {
    let (start, unit) = (stream.start_time(), stream.time_base());
    if start == ffi::AV_NOPTS_VALUE || player_zero(context, stream) != Moment::ZERO {
        return 0.0;
    }
    let seconds = start as f64 * f64::from(unit.numerator()) / f64::from(unit.denominator().max(1));
    if seconds > 1.0 { seconds } else { 0.0 }
}

/// Returns the year in which the file was made, according to the container: the year in UTC of FFmpeg's tag
/// `creation_time`.
fn creation_year(context: &context::Input) -> Option<u16> {
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
///
/// Most containers have their own timeline that starts at 0, and a player shows a frame at its time on that
/// timeline. These containers are MP4 and MOV (the movie's timeline, after edit lists; an empty edit at the start
/// delays the picture), Matroska and WebM, AVI, ASF, MXF, and FLV (whose first tag is at 0). For them, a player's
/// clock is the container's.
///
/// Streams that were broadcast or cut start at any time. MPEG transport streams start at 1.4 s if FFmpeg writes
/// them, and anywhere if receivers record them. FFmpeg marks such formats with `AVFMT_TS_DISCONT`. Players show
/// the time since the first packet of any stream, so audio that starts before the picture counts. That time is
/// FFmpeg's `AVFormatContext.start_time`, to which `ffplay -ss` and `ffmpeg -ss` add. Ogg is one of these formats:
/// the granule positions of a stream that was cut continue those of the original, and players subtract the first.
fn player_zero(context: &context::Input, stream: &Stream<'_>) -> Moment {
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

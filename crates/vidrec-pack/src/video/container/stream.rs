//! What the container says about the video stream.

use std::ffi::c_int;

use ffmpeg_next::format::context;
use ffmpeg_next::{Stream, codec, ffi, packet};
use image::metadata::Orientation;

use super::{claims, clock};
use crate::video::timeline::Moment;

/// What the container says about the video stream.
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
            player_zero: clock::player_zero(context, stream),
            frame_rate: (stream.avg_frame_rate().numerator(), stream.avg_frame_rate().denominator()),
            claimed_frames: u64::try_from(stream.frames()).ok().filter(|&n| n > 0),
            claimed_seconds: claims::claimed_seconds(context, stream),
            claimed_end: claims::tagged_end(stream).map(|end| (end / f64::from(time_base)) as i64),
            creation_year: claims::creation_year(context),
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

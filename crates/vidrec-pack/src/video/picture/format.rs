//! Reads what a decoded frame says about its pixels: format, size, matrix, range, chroma position.

use std::ffi::{CStr, c_int};

use ffmpeg_next::{ffi, frame};

use super::color::{ColorRange, Matrix};
use super::geometry::Size;

/// The families of pixel formats. Each reaches 4:2:0 in a different way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Luma and two chroma planes, whatever the packing.
    Yuv,
    /// Luma alone.
    Gray,
    /// Red, green and blue, a palette, a Bayer mosaic, CIE XYZ or one bit. FFmpeg converts these to YUV.
    Rgb,
}

/// Everything that the scaler and the color pass need to know about a frame. They can be reused as long as it
/// stays equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureFormat {
    pub format: ffi::AVPixelFormat,
    pub name: &'static str,
    pub size: Size,
    pub class: Class,
    pub matrix: Matrix,
    pub range: ColorRange,
    /// The base-2 logarithm of the luma samples per chroma sample, across and down.
    pub subsampling: (u32, u32),
    /// Where the first chroma sample lies, across and down, in 1/256 of a luma sample from the first luma sample.
    pub siting: (c_int, c_int),
    /// Whether each component has its own plane of whole bytes or native 16-bit words, which can be read without
    /// swscale.
    pub plain_planes: bool,
    /// The significant bits of a sample, as FFmpeg's scaler reports them: at most 16.
    pub depth: u32,
    /// The bits of the largest sample, as stored: 32 for floats, 16 for a Bayer mosaic of 16 bits.
    pub stored_depth: u32,
}

impl PictureFormat {
    /// Reads the description of a decoded frame; `None` if FFmpeg does not know the pixel format, or the frame is not
    /// in ordinary memory.
    pub fn of(frame: &frame::Video) -> Option<Self> {
        // SAFETY: the frame is a live AVFrame; these are plain fields of it, valid for any frame.
        let (pixel, space, range, primaries, location) = unsafe {
            let f = &*frame.as_ptr();
            (
                f.format,
                f.colorspace as c_int,
                f.color_range as c_int,
                f.color_primaries as c_int,
                f.chroma_location as c_int,
            )
        };
        if pixel < 0 || pixel >= ffi::AVPixelFormat::AV_PIX_FMT_NB as c_int {
            return None;
        }
        // SAFETY: AVPixelFormat is a C enum of the range just checked, without holes below AV_PIX_FMT_NB.
        let format = unsafe { std::mem::transmute::<c_int, ffi::AVPixelFormat>(pixel) };
        // SAFETY: the call takes any value; a non-null result points to a static table.
        let desc = unsafe { ffi::av_pix_fmt_desc_get(format).as_ref() }?;
        if desc.flags & ffi::AV_PIX_FMT_FLAG_HWACCEL as u64 != 0 {
            return None;
        }
        // SAFETY: the name of a descriptor is a static C string.
        let name = unsafe { CStr::from_ptr(desc.name) }.to_str().ok()?;
        let class = class(desc, name);
        let depth = (desc.comp[0].depth.max(1) as u32).min(16);
        let subsampling = (u32::from(desc.log2_chroma_w), u32::from(desc.log2_chroma_h));
        Some(PictureFormat {
            format,
            name,
            size: Size { width: frame.width(), height: frame.height() },
            class,
            matrix: if class == Class::Yuv { matrix(space, primaries) } else { Matrix::Bt601 },
            range: sample_range(class, name, range, depth),
            subsampling,
            siting: siting(location, subsampling),
            plain_planes: class != Class::Rgb && plain_planes(desc),
            depth,
            stored_depth: stored_depth(desc),
        })
    }

    /// Returns the chroma position in words.
    pub fn siting_name(&self) -> &'static str {
        if self.class != Class::Yuv {
            return "none";
        }
        let across = self.subsampling.0 == 0 || self.siting.0 > 0;
        match (self.subsampling, across, self.siting.1) {
            ((0, 0), ..) => "none",
            ((_, 0), true, _) => "center",
            ((_, 0), false, _) => "left",
            (_, true, 0) => "top",
            (_, false, 0) => "topleft",
            (_, true, 256) => "bottom",
            (_, false, 256) => "bottomleft",
            (_, true, _) => "center",
            (_, false, _) => "left",
        }
    }

    /// Returns the range in words.
    pub fn range_name(&self) -> &'static str {
        match self.range {
            ColorRange::Limited => "limited",
            ColorRange::Full { .. } => "full",
        }
    }
}

fn stored_depth(desc: &ffi::AVPixFmtDescriptor) -> u32 {
    let components = desc.comp.iter().take(usize::from(desc.nb_components)).map(|c| c.depth.max(0) as u32);
    if desc.flags & ffi::AV_PIX_FMT_FLAG_BAYER as u64 != 0 {
        // The channels share one sample for each pixel, and FFmpeg reports the average bits of each.
        return components.sum();
    }
    components.max().unwrap_or(0)
}

fn class(desc: &ffi::AVPixFmtDescriptor, name: &str) -> Class {
    let rgb = ffi::AV_PIX_FMT_FLAG_RGB
        | ffi::AV_PIX_FMT_FLAG_PAL
        | ffi::AV_PIX_FMT_FLAG_BAYER
        | ffi::AV_PIX_FMT_FLAG_BITSTREAM;
    if desc.flags & rgb as u64 != 0 || name.starts_with("xyz") {
        Class::Rgb
    } else if desc.nb_components <= 2 {
        Class::Gray
    } else {
        Class::Yuv
    }
}

/// Whether each component has its own plane, with one or two whole native bytes per sample, nothing shifted, and
/// no floats.
fn plain_planes(desc: &ffi::AVPixFmtDescriptor) -> bool {
    let big_endian = desc.flags & ffi::AV_PIX_FMT_FLAG_BE as u64 != 0;
    let float = desc.flags & ffi::AV_PIX_FMT_FLAG_FLOAT as u64 != 0;
    let components = desc.comp.iter().take(usize::from(desc.nb_components));
    !float
        && components.enumerate().all(|(i, c)| {
            let bytes_fit = (c.step == 1 && c.depth == 8)
                || (c.step == 2 && (9..=16).contains(&c.depth) && big_endian == cfg!(target_endian = "big"));
            bytes_fit && c.plane == i as c_int && c.offset == 0 && c.shift == 0
        })
}

/// Returns the matrix for FFmpeg's `AVColorSpace` numbers, which are those of ITU-T H.273.
///
/// Unspecified counts as BT.601, at any size. FFmpeg's own conversion does the same, and therefore PyAV, OpenCV
/// and decord show the same. The three codings that are not linear in R'G'B' (BT.2020 constant luminance, SMPTE
/// 2085, ICtCp) get BT.2020's ordinary matrix: hues shift slightly, and nothing fails. As in FFmpeg, YUV that is
/// tagged as RGB is BT.709.
fn matrix(space: c_int, primaries: c_int) -> Matrix {
    match (space, primaries) {
        (0 | 1, _) | (12 | 13, 1) => Matrix::Bt709,
        (4, _) => Matrix::Fcc,
        (7, _) => Matrix::Smpte240m,
        (8, _) => Matrix::YCgCo,
        (9 | 10 | 11 | 14, _) | (12 | 13, 9) => Matrix::Bt2020,
        _ => Matrix::Bt601,
    }
}

/// Returns the range of the samples.
///
/// It is full if the stream says so, or by the pixel format: the old `yuvj` names, and gray unless tagged as
/// limited. Pictures that come from RGB have full range with the code values of 8 bits, because vidrec asks
/// swscale for that.
fn sample_range(class: Class, name: &str, tag: c_int, depth: u32) -> ColorRange {
    let (limited, full) = (ffi::AVColorRange::AVCOL_RANGE_MPEG as c_int, ffi::AVColorRange::AVCOL_RANGE_JPEG as c_int);
    match class {
        Class::Rgb => ColorRange::Full { depth: 8 },
        Class::Gray if tag != limited => ColorRange::Full { depth },
        Class::Yuv if tag == full || name.starts_with("yuvj") => ColorRange::Full { depth },
        _ => ColorRange::Limited,
    }
}

/// Returns FFmpeg's `AVChromaLocation` as numbers for swscale.
///
/// Unspecified counts as left, as in MPEG-2 and all its successors. FFmpeg's decoders themselves state center for
/// MPEG-1, H.263, Theora and JPEG. Four-to-one chroma both ways (4:1:0) has no convention and counts as centered.
fn siting(location: c_int, (across, down): (u32, u32)) -> (c_int, c_int) {
    let center = |log2: u32| (128 << log2) - 128;
    let left = matches!(location, 0 | 1 | 3 | 5) && !(location == 0 && across == 2 && down == 2);
    let x = if left { 0 } else { center(across) };
    let y = match location {
        3 | 4 if down == 1 => 0,
        5 | 6 if down == 1 => 256,
        _ => center(down),
    };
    (x, y)
}

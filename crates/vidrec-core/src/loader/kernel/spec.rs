//! The input of the kernel: the specification of the pictures of a clip, the part of a frame, and decoded planes.

use super::colors::{Channels, ColorMatrix};
use vidrec_jpeg::Scale;

/// The value of one level after both steps of resampling: 1/128 of a level for each row, 2^-14 for each column.
pub(super) const UNIT: f64 = (128 * (1 << 14)) as f64;

/// The number of columns of the picture that are made at a time.
pub(super) const BLOCK: usize = 16;

/// The specification of pictures, independent of the frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PictureSpec {
    /// Width and height.
    pub size: (u32, u32),
    pub channels: Channels,
    /// For float samples, the value to subtract from each channel, which is then divided by `std`. 1 is full
    /// scale.
    pub mean: [f32; 3],
    pub std: [f32; 3],
    pub matrix: ColorMatrix,
    /// The factor by which a decoded frame may be larger than the picture before the inverse DCT reduces it: 1 or more,
    /// or infinity for never. Reducing in the inverse DCT is faster and sharper than resizing everything. See
    /// [`REDUCING_GAP`].
    pub reducing_gap: f64,
}

/// The default of [`PictureSpec::reducing_gap`].
///
/// The measurements use the natural-like picture of the tests, against the exact resize of a full RGB decode. A
/// gap of 2 reaches 62 dB for 340x256 to 112x112 (not reduced), 53 dB for 960x540 to 112x112 (by 2), and 47 dB for
/// 1080x1080 to 112x112 (by 4). A gap of 1 reaches 46 dB (by 2), 43 dB (by 4) and 38 dB (by 8). Frames of quality
/// 90 are themselves at about 40 dB.
pub(crate) const REDUCING_GAP: f64 = 1.125;

/// The place of one axis of the picture on that of the frame, in frame pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// The frame pixels that may be read: from the first up to but not including the second.
    pub bounds: (u32, u32),
    /// The start of the picture.
    pub start: f64,
    /// The number of frame pixels for each pixel of the picture.
    pub scale: f64,
}

impl Span {
    /// Whether the picture's pixels are the frame's own pixels along this axis.
    pub fn is_copy(&self) -> bool {
        self.scale == 1.0 && self.start.fract() == 0.0
    }
}

/// The part of a frame that becomes the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct View {
    pub x: Span,
    pub y: Span,
    /// Whether the picture is mirrored, left to right.
    pub flip: bool,
}

impl View {
    /// The frame pixels of a picture with `size` pixels: left, top, width, height.
    pub fn window(&self, size: (u32, u32)) -> [f64; 4] {
        [self.x.start, self.y.start, self.x.scale * f64::from(size.0), self.y.scale * f64::from(size.1)]
    }

    /// The matrix that takes a place `(x, y, 1)` in the frame to its place in a picture with `size` pixels. Places count from
    /// the top left corner, so that the center of the first pixel is at (0.5, 0.5).
    pub fn matrix(&self, size: (u32, u32)) -> [[f64; 3]; 3] {
        let row = |span: &Span| (1.0 / span.scale, 0.0 - span.start / span.scale);
        let ((x, left), (y, top)) = (row(&self.x), row(&self.y));
        let (x, left) = if self.flip { (-x, f64::from(size.0) - left) } else { (x, left) };
        [[x, 0.0, left], [0.0, y, top], [0.0, 0.0, 1.0]]
    }
}

/// The decoded form that a kernel needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecodedForm {
    /// The planes of a 4:2:0 picture, at this scale.
    Planes(Scale),
    /// RGB.
    Rgb,
}

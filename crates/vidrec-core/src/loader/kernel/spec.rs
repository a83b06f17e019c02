//! The specification of the pictures of a clip, independent of the frame.

use super::channels::Channels;
use super::color_matrix::ColorMatrix;

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
    /// How many times larger than the picture a frame may be decoded before the inverse DCT reduces it: 1 or more,
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

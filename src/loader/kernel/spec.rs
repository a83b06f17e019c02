//! What the pictures of a clip are to be, whatever the frame.

use super::channels::Channels;
use super::color_matrix::ColorMatrix;

/// What pictures are to be, whatever the frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PictureSpec {
    /// Width and height.
    pub size: (u32, u32),
    pub channels: Channels,
    /// For float samples: subtracted from each channel, which is then divided by `std`. 1 is full.
    pub mean: [f32; 3],
    pub std: [f32; 3],
    pub matrix: ColorMatrix,
    /// How many times larger than the picture a frame may be decoded before the inverse DCT makes it smaller, which is
    /// faster and sharper than resizing all of it: 1 or more; infinity for never. See [`REDUCING_GAP`].
    pub reducing_gap: f64,
}

/// The default of [`PictureSpec::reducing_gap`].
///
/// On the natural-like picture of the tests, against the exact resize of a full RGB decode: a gap of 2 gives 62 dB for
/// 340x256 to 112x112 (not reduced), 53 dB for 960x540 to 112x112 (by 2), 47 dB for 1080x1080 to 112x112 (by 4); one of
/// 1 gives 46 (by 2), 43 (by 4) and 38 dB (by 8). Frames of quality 90 are themselves at about 40 dB.
pub(crate) const REDUCING_GAP: f64 = 1.125;

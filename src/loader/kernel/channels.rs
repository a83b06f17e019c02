//! What the channels of a picture are.

use crate::words::words;

/// What the channels of a picture are.
///
/// As a word (`FromStr`, `Display`): `rgb`, `gray` or `ycbcr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Channels {
    /// Red, green, blue. The default.
    #[default]
    Rgb,
    /// Luma alone, one channel: it takes the first of `mean` and `std`. Chroma is not used.
    Gray,
    /// Luma and chroma, full-range BT.601 as in JFIF, where 128 of 255 is neutral chroma.
    YCbCr,
}

words!(Channels, "channels", { "rgb" => Rgb, "gray" => Gray, "ycbcr" => YCbCr });

impl Channels {
    /// How many there are: 3, or 1 for [`Gray`](Self::Gray).
    pub fn count(self) -> usize {
        if self == Channels::Gray { 1 } else { 3 }
    }
}

//! The channels of a picture.

use vidrec_format::words::words;

/// The channels of a picture.
///
/// As a word (`FromStr`, `Display`, serde): `rgb`, `gray` or `ycbcr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Channels {
    /// Red, green, blue. The default.
    #[default]
    Rgb,
    /// Luma alone, one channel. It uses the first values of [`Normalize`](crate::loader::Normalize). Chroma is not used.
    Gray,
    /// Luma and chroma, full-range BT.601 as in JFIF. Neutral chroma is 128 of 255.
    YCbCr,
}

words!(Channels, "channels", { "rgb" => Rgb, "gray" => Gray, "ycbcr" => YCbCr });

impl Channels {
    /// The number of channels: 3, or 1 for [`Gray`](Self::Gray).
    pub fn count(self) -> usize {
        if self == Channels::Gray { 1 } else { 3 }
    }
}

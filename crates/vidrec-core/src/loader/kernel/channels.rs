//! The channels of a picture.

use vidrec_format::error::Error;
use vidrec_format::words::unknown_variant;

/// The channels of a picture.
///
/// As a word (`FromStr`, `Display`, serde): `rgb`, `gray` or `ycbcr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Channels {
    /// Red, green, blue. The default.
    #[default]
    Rgb,
    /// Luma alone, one channel. It uses the first values of [`Normalize`](crate::loader::Normalize). Chroma is not used.
    Gray,
    /// Luma and chroma, full-range BT.601 as in JFIF. Neutral chroma is 128 of 255.
    YCbCr,
}

impl Channels {
    /// The number of channels: 3, or 1 for [`Gray`](Self::Gray).
    pub fn count(self) -> usize {
        if self == Channels::Gray { 1 } else { 3 }
    }
}

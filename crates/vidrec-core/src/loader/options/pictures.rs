//! The contents of a batch: the type of a value, the order of dimensions, and what replaces damaged data.

use serde::{Deserialize, Serialize};
use vidrec_format::error::Error;
use vidrec_format::words::unknown_variant;

/// The type of a value in a batch.
///
/// As a word (`FromStr`, `Display`, serde): `uint8`, `float16`, `bfloat16` or `float32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Dtype {
    /// 0 to 255 as decoded, rounded to the nearest if pictures are resized. The default.
    #[default]
    #[serde(rename = "uint8")]
    #[strum(serialize = "uint8")]
    U8,
    /// [`Normalize`](crate::loader::Normalize)d, rounded to IEEE 754 binary16.
    #[serde(rename = "float16")]
    #[strum(serialize = "float16")]
    F16,
    /// [`Normalize`](crate::loader::Normalize)d, rounded to bfloat16.
    #[serde(rename = "bfloat16")]
    #[strum(serialize = "bfloat16")]
    Bf16,
    /// [`Normalize`](crate::loader::Normalize)d: 0 to 1 without a mean and a standard deviation.
    #[serde(rename = "float32")]
    #[strum(serialize = "float32")]
    F32,
}

impl Dtype {
    /// The length of a value in bytes.
    pub fn size(self) -> usize {
        match self {
            Dtype::U8 => 1,
            Dtype::F16 | Dtype::Bf16 => 2,
            Dtype::F32 => 4,
        }
    }
}

/// The order of a batch's dimensions: B clips, T frames, C channels, H rows, W columns.
///
/// As a word (serde): `BTCHW`, `BCTHW` or `BTHWC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Layout {
    /// Channels before rows, as in PyTorch. The default.
    #[default]
    Btchw,
    /// Channels before frames, for PyTorch's 3D convolutions.
    Bcthw,
    /// Channels last, as in NumPy, OpenCV and JAX.
    Bthwc,
}

impl Layout {
    /// The dimensions of a batch in this order.
    pub(crate) fn shape(self, [b, t, c, h, w]: [usize; 5]) -> [usize; 5] {
        match self {
            Layout::Btchw => [b, t, c, h, w],
            Layout::Bcthw => [b, c, t, h, w],
            Layout::Bthwc => [b, t, h, w, c],
        }
    }
}

/// The handling of a clip that cannot be read or decoded.
///
/// The CRC-32 of every frame is compared. A frame whose planes come from a [`DecodedCache`](crate::loader::DecodedCache) is not
/// read again, so later damage to its record goes unnoticed.
///
/// As a word (serde): `error` or `substitute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OnBadFrame {
    /// The batch is an error that names file, clip, frame and offset. The default.
    #[default]
    Error,
    /// Another sample replaces the whole clip. The replacement is drawn from (seed, epoch, sample), so it is
    /// always the same one.
    ///
    /// [`Batch::clips`](crate::loader::Batch::clips) has the replacing clip, and the mask is that of the replaced sample.
    /// [`SampleParams::instead_of`](crate::loader::SampleParams::instead_of) names the replaced clip, and
    /// [`LoaderStats`](crate::loader::LoaderStats) counts the replacements. It is an error if 16 draws in turn cannot be
    /// read.
    Substitute,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_as_themselves() {
        for word in ["uint8", "float16", "bfloat16", "float32"] {
            assert_eq!(word.parse::<Dtype>().unwrap().to_string(), word);
        }
        assert!("float64".parse::<Dtype>().unwrap_err().to_string().contains("bfloat16"));
    }
}

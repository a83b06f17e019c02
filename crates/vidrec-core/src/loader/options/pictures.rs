//! The contents of a batch: the size of pictures, their channels, the type of a value, the order of dimensions.

use serde::{Deserialize, Serialize};

use super::Normalize;
use crate::loader::kernel::{Channels, ColorMatrix, PictureSpec};
use vidrec_format::error::Error;
use vidrec_format::words::unknown_variant;
use vidrec_jpeg::JpegDecoder;

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
/// As a word (`FromStr`, `Display`, serde): `BTCHW`, `BCTHW` or `BTHWC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "UPPERCASE", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum Layout {
    /// Channels before rows, as in PyTorch. The default.
    #[default]
    Btchw,
    /// Channels before frames, for PyTorch's 3D convolutions.
    Bcthw,
    /// Channels last, as in NumPy, OpenCV and JAX.
    Bthwc,
}

/// The format of the pictures of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pictures {
    /// Width and height in pixels.
    pub size: (u32, u32),
    pub channels: Channels,
    pub dtype: Dtype,
    pub layout: Layout,
    pub normalize: Normalize,
    pub reducing_gap: f64,
    pub decoder: JpegDecoder,
}

impl Pictures {
    /// The specification of the pictures of a clip with these colors.
    pub fn spec(&self, colors: Option<ColorMatrix>) -> PictureSpec {
        let Pictures { size, channels, normalize: Normalize { mean, std }, reducing_gap, .. } = *self;
        PictureSpec { size, channels, mean, std, reducing_gap, matrix: colors.unwrap_or(ColorMatrix::IDENTITY) }
    }

    /// The shape of a batch of this many clips and frames.
    pub fn shape(&self, clips: u32, frames: u32) -> [usize; 5] {
        let (b, t, c) = (clips as usize, frames as usize, self.channels.count());
        let (w, h) = (self.size.0 as usize, self.size.1 as usize);
        match self.layout {
            Layout::Btchw => [b, t, c, h, w],
            Layout::Bcthw => [b, c, t, h, w],
            Layout::Bthwc => [b, t, h, w, c],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_as_themselves() {
        for word in ["uint8", "float16", "bfloat16", "float32"] {
            assert_eq!(word.parse::<Dtype>().unwrap().to_string(), word);
        }
        assert_eq!("BTHWC".parse::<Layout>().unwrap(), Layout::Bthwc);
        assert!("float64".parse::<Dtype>().unwrap_err().to_string().contains("bfloat16"));
    }
}

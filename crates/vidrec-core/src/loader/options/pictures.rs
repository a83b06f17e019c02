//! The contents of a batch: the type of a value, the order of dimensions, colors, and what replaces damaged data.

use serde::{Deserialize, Serialize};

use super::values::{one_or_three, require};
use vidrec_format::error::{Error, Result};
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

/// The range of the colors of clips. Each clip has one draw.
///
/// Brightness, contrast and saturation each draw a factor evenly from `max(0, 1 - x)` to `1 + x`. The order in
/// which they apply is drawn too, as in torchvision's `ColorJitter` (0.20). There are two differences, which make
/// the result one affine map for a whole clip:
///
/// * Contrast blends with mid-gray, where torchvision takes the mean gray of each picture. Contrast therefore also
///   moves the brightness of pictures that are dark or bright as a whole.
/// * Levels are clamped once at the end, not after each of the three.
///
/// There is no hue: it is not an affine map.
///
/// ```
/// use vidrec::{ColorJitter, LoaderOptions};
///
/// let color = ColorJitter { brightness: 0.4, contrast: 0.4, saturation: 0.4, grayscale: 0.2 };
/// let options = LoaderOptions { color, ..LoaderOptions::default() };
/// # drop(options);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColorJitter {
    /// Default 0: unchanged.
    pub brightness: f32,
    /// Default 0: unchanged.
    pub contrast: f32,
    /// Default 0: unchanged.
    pub saturation: f32,
    /// The probability that a clip becomes gray after the other changes: torchvision's `RandomGrayscale`. Default
    /// 0.
    pub grayscale: f32,
}

impl ColorJitter {
    /// Returns an error if a value makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        let strengths = [self.brightness, self.contrast, self.saturation];
        let finite = strengths.iter().all(|x| (0.0..1e3).contains(x));
        require(finite, "color", format_args!("{strengths:?}"), "strengths of 0 or more")?;
        let gray = (0.0..=1.0).contains(&self.grayscale);
        require(gray, "color's grayscale", self.grayscale, "a probability, 0 to 1")
    }
}

/// The normalization of float values: `(x / 255 - mean) / std` for each channel. Without it, values are `x / 255`.
///
/// ```
/// use vidrec::{Dtype, LoaderOptions, Normalize};
///
/// let normalize = Some(Normalize::IMAGENET);
/// let options = LoaderOptions { dtype: Dtype::F32, normalize, ..LoaderOptions::default() };
/// # drop(options);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalize {
    /// The mean of each channel, as a fraction of full scale: 0 to 1. As JSON also one number for all channels.
    #[serde(deserialize_with = "one_or_three")]
    pub mean: [f32; 3],
    /// The standard deviation of each channel, in the same units, at most 10.
    #[serde(deserialize_with = "one_or_three")]
    pub std: [f32; 3],
}

/// The name of a normalization.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum KnownNormalize {
    Imagenet,
    Kinetics,
}

impl From<KnownNormalize> for Option<Normalize> {
    fn from(name: KnownNormalize) -> Self {
        Some(match name {
            KnownNormalize::Imagenet => Normalize::IMAGENET,
            KnownNormalize::Kinetics => Normalize::KINETICS,
        })
    }
}

impl Normalize {
    /// The mean and standard deviation of ImageNet.
    pub const IMAGENET: Normalize = Normalize { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
    /// The mean and standard deviation that are customary for Kinetics: 0.45 and 0.225.
    pub const KINETICS: Normalize = Normalize { mean: [0.45; 3], std: [0.225; 3] };

    /// No change.
    pub(crate) const NONE: Normalize = Normalize { mean: [0.0; 3], std: [1.0; 3] };

    /// Returns an error that names the field if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let (mean, std) = (format_args!("{:?}", self.mean), format_args!("{:?}", self.std));
        let in_levels = "fractions of full: divide levels by 255";
        require(self.mean.iter().all(|m| (0.0..=1.0).contains(m)), "normalize: mean", mean, in_levels)?;
        require(self.std.iter().all(|s| s.is_normal()), "normalize: std", std, "finite numbers other than 0")?;
        require(self.std.iter().all(|s| s.abs() <= 10.0), "normalize: std", std, in_levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        Normalize::IMAGENET.check().unwrap();
        let none = Normalize::NONE;
        for (named, normalize) in [
            ("mean", Normalize { mean: [f32::INFINITY; 3], ..none }),
            ("mean", Normalize { mean: [123.675, 116.28, 103.53], ..none }),
            ("std", Normalize { std: [58.395, 57.12, 57.375], ..none }),
            ("std", Normalize { std: [1.0, 0.0, 1.0], ..none }),
        ] {
            assert!(normalize.check().unwrap_err().to_string().contains(named), "{normalize:?}");
        }
    }
}

//! The normalization of float values.

use serde::{Deserialize, Serialize};

use crate::loader::require::require;
use vidrec_format::error::Result;

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
    /// The mean of each channel, as a fraction of full scale: 0 to 1.
    pub mean: [f32; 3],
    /// The standard deviation of each channel, in the same units, at most 10.
    pub std: [f32; 3],
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

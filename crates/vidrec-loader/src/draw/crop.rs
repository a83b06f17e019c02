//! The part of a frame that becomes the picture: the choices of a user.

use std::fmt;
use std::str::FromStr;

use crate::require::require;
use vidrec_format::error::{Error, Result};
use vidrec_format::words::unknown;

/// The part of a frame that becomes the picture.
///
/// As a word (`FromStr`, `Display`): `center`, `random`, `random-resized` ([`Crop::RANDOM_RESIZED`]), `multi-scale`,
/// `multi-scale-fixed`, `cover`, `cover-random` or `three`. `Display` omits the numbers of
/// [`Crop::RandomResized`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Crop {
    /// The middle. The default.
    ///
    /// If an odd number of pixels remains, the crop is where torchvision's `CenterCrop` puts it.
    #[default]
    Center,
    /// Any place with equal probability. Each clip draws one.
    Random,
    /// The largest part in the shape of the picture, resized to its size. Nothing is distorted, and the crop
    /// removes only what does not fit the shape. The part is in the middle, or each clip draws a place with equal
    /// probability.
    Cover {
        /// Whether the place of the part is random.
        random: bool,
    },
    /// A random area with a random shape at a random place, resized to the size of the picture: torchvision's
    /// `RandomResizedCrop`. Each clip draws one.
    RandomResized {
        /// The smallest and largest area as a fraction of the frame's; commonly 0.08 and 1.
        scale: (f64, f64),
        /// The smallest and largest ratio of width to height; commonly 3/4 and 4/3.
        ratio: (f64, f64),
    },
    /// A part whose sides are 1, 7/8, 3/4 or 0.66 of the frame's shorter side, resized to the size of the picture:
    /// TSN's `GroupMultiScaleCrop`. Each side is drawn by itself, but the two are at most one step apart. Each
    /// clip draws one part.
    MultiScale {
        /// Whether the part is at one of TSN's 13 fixed places (corners, center, edges, quarters). Otherwise it is
        /// anywhere.
        fixed: bool,
    },
    /// Three parts along the longer side: left, middle and right, or top, middle and bottom. This is for testing:
    /// each part is a sample of its own, as [`Temporal`](super::Temporal) describes.
    Three,
}

impl Crop {
    /// [`Crop::RandomResized`] with torchvision's defaults: scale 0.08 to 1, ratio 3/4 to 4/3.
    pub const RANDOM_RESIZED: Crop = Crop::RandomResized { scale: (0.08, 1.0), ratio: (3.0 / 4.0, 4.0 / 3.0) };

    /// The words that `FromStr` accepts and `Display` prints.
    pub const WORDS: &'static [&'static str] =
        &["center", "random", "random-resized", "multi-scale", "multi-scale-fixed", "cover", "cover-random", "three"];

    /// The number of samples of each clip that differ in the part of the frame.
    pub(crate) fn count(self) -> u32 {
        if self == Crop::Three { 3 } else { 1 }
    }

    /// Whether the crop itself determines the size to which a part of the frame is resized.
    pub(super) fn resizes(self) -> bool {
        matches!(self, Crop::RandomResized { .. } | Crop::MultiScale { .. } | Crop::Cover { .. })
    }

    /// Returns an error if a range makes no sense.
    pub(super) fn check(self) -> Result<()> {
        let Crop::RandomResized { scale, ratio } = self else { return Ok(()) };
        let range = |(least, greatest): (f64, f64)| least > 0.0 && least <= greatest && greatest.is_finite();
        let fits = range(scale) && scale.1 <= 1.0;
        require(fits, "crop's scale", format_args!("{scale:?}"), "0 < least <= greatest <= 1")?;
        require(range(ratio), "crop's ratio", format_args!("{ratio:?}"), "0 < least <= greatest")
    }
}

impl fmt::Display for Crop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Crop::Center => "center",
            Crop::Random => "random",
            Crop::RandomResized { .. } => "random-resized",
            Crop::MultiScale { fixed: false } => "multi-scale",
            Crop::MultiScale { fixed: true } => "multi-scale-fixed",
            Crop::Cover { random: false } => "cover",
            Crop::Cover { random: true } => "cover-random",
            Crop::Three => "three",
        })
    }
}

impl FromStr for Crop {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "center" => Ok(Crop::Center),
            "random" => Ok(Crop::Random),
            "random-resized" => Ok(Crop::RANDOM_RESIZED),
            "multi-scale" => Ok(Crop::MultiScale { fixed: false }),
            "multi-scale-fixed" => Ok(Crop::MultiScale { fixed: true }),
            "cover" => Ok(Crop::Cover { random: false }),
            "cover-random" => Ok(Crop::Cover { random: true }),
            "three" => Ok(Crop::Three),
            _ => Err(unknown("crop", word, Crop::WORDS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_itself() {
        for word in Crop::WORDS {
            assert_eq!(word.parse::<Crop>().unwrap().to_string(), *word);
        }
        assert!("centre".parse::<Crop>().unwrap_err().to_string().contains("multi-scale-fixed"));
    }
}

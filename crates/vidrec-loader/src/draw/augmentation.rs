//! Augmentation, which varies from clip to clip: the part of the frame, its size, flip and colors.

use super::color::ColorJitter;
use super::crop::Crop;
use crate::require::require;
use vidrec_format::error::Result;
use vidrec_format::limits::MAX_SIDE;

/// Augmentation, which varies from clip to clip. Each clip has one draw for all its frames.
///
/// ```
/// # mod vidrec { pub use vidrec_loader::{Augmentation, Crop, LoaderOptions}; }
/// use vidrec::{Augmentation, Crop, LoaderOptions};
///
/// let augmentation = Augmentation { crop: Crop::RANDOM_RESIZED, flip: 0.5, ..Augmentation::default() };
/// let options = LoaderOptions { augmentation, ..LoaderOptions::default() };
/// assert_eq!(options.augmentation.resize_short, None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Augmentation {
    /// The part of a frame that becomes the picture. Default [`Crop::Center`].
    pub crop: Crop,
    /// The length in pixels to which the shorter side of a frame is resized before [`Crop::Center`],
    /// [`Crop::Random`] or [`Crop::Three`]. Default `None`: not resized. A frame that would then be smaller
    /// than the picture is enlarged until it covers the picture.
    pub resize_short: Option<u32>,
    /// The upper bound of a random length. If given, each clip draws its length evenly from `resize_short` to
    /// this, both included. This is SlowFast's scale jitter, commonly 256 to 320. Default `None`.
    pub resize_short_max: Option<u32>,
    /// The probability that a clip is mirrored, left to right. Default 0.
    pub flip: f32,
    /// The variation of colors. Default: none.
    pub color: ColorJitter,
}

impl Augmentation {
    /// Returns an error that names the option if a value makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        let side = |side: u32| (1..=MAX_SIDE).contains(&side);
        require(self.resize_short.is_none_or(side), "resize_short", "out of range", "1 to 65500")?;
        let range = |max| side(max) && self.resize_short.is_some_and(|min| min <= max);
        let fits = self.resize_short_max.is_none_or(range);
        require(fits, "resize_short_max", "out of range", "resize_short, and from it to 65500")?;
        let fits = !self.crop.resizes() || self.resize_short.is_none();
        require(fits, "resize_short", "set", "none with a crop that resizes by itself")?;
        require((0.0..=1.0).contains(&self.flip), "flip", self.flip, "a probability, 0 to 1")?;
        self.color.check()?;
        self.crop.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_that_makes_no_sense_is_named() {
        let d = Augmentation::default;
        let crop = |scale, ratio| Augmentation { crop: Crop::RandomResized { scale, ratio }, ..d() };
        d().check().unwrap();
        Augmentation { crop: Crop::RANDOM_RESIZED, ..d() }.check().unwrap();
        for (name, options) in [
            ("resize_short", Augmentation { resize_short: Some(0), ..d() }),
            ("resize_short", Augmentation { resize_short: Some(9), crop: Crop::RANDOM_RESIZED, ..d() }),
            ("resize_short", Augmentation { resize_short: Some(9), crop: Crop::MultiScale { fixed: true }, ..d() }),
            ("resize_short_max", Augmentation { resize_short_max: Some(9), ..d() }),
            ("resize_short_max", Augmentation { resize_short: Some(9), resize_short_max: Some(8), ..d() }),
            ("color", Augmentation { color: ColorJitter { contrast: -1.0, ..ColorJitter::default() }, ..d() }),
            ("grayscale", Augmentation { color: ColorJitter { grayscale: 2.0, ..ColorJitter::default() }, ..d() }),
            ("flip", Augmentation { flip: 1.5, ..d() }),
            ("flip", Augmentation { flip: f32::NAN, ..d() }),
            ("scale", crop((0.0, 1.0), (1.0, 1.0))),
            ("scale", crop((0.5, 1.1), (1.0, 1.0))),
            ("ratio", crop((0.5, 1.0), (2.0, 1.0))),
            ("ratio", crop((0.5, 1.0), (f64::NAN, 1.0))),
        ] {
            let e = options.check().unwrap_err();
            assert!(e.to_string().contains(name), "{name}: {e}");
        }
    }
}

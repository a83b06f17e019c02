//! The part of a frame that becomes the picture, and the size of the picture.

use serde::{Deserialize, Serialize};

use super::smart_resize::SmartResize;
use super::values::{OneOrTwo, getters, list_of_sizes, range, require, setters, size, size_or_none};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits::MAX_SIDE;

/// The part of a frame that becomes the picture, and the size of the picture in pixels: width and height. All frames
/// of a clip have the same part. Each clip draws one.
///
/// `resize` resizes the frame first: its shorter side gets a length that is drawn evenly from a range, both ends
/// included. This is SlowFast's scale jitter, commonly 256 to 320. A frame that would then be smaller than the picture
/// is enlarged until it covers the picture. Default `None`: not resized.
///
/// As JSON (serde): the name of the variant, followed by `Crop` except for `Cover` and `SmartResize`, with its fields.
/// A size is a number or **height and width**, as in Python, and `resize` is a number or two: `{"RandomCrop": {"size":
/// [96, 128], "resize": [256, 320]}}`. Fields with a default may be missing.
///
/// ```
/// use vidrec::{Crop, LoaderOptions};
///
/// let options = LoaderOptions { crop: Crop::random_resized((112, 112)), flip: 0.5, ..LoaderOptions::default() };
/// assert_eq!(LoaderOptions::default().crop, Crop::center((224, 224)));
/// # drop(options);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub enum Crop {
    /// The middle. The default, with 224 by 224 pixels.
    ///
    /// If an odd number of pixels remains, the crop is where torchvision's `CenterCrop` puts it.
    #[serde(rename = "CenterCrop")]
    Center {
        /// Width and height of the picture.
        #[serde(with = "size")]
        size: (u32, u32),
        /// The length of the frame's shorter side, from the least to the greatest.
        #[serde(default, with = "range")]
        resize: Option<(u32, u32)>,
    },
    /// Any place with equal probability.
    #[serde(rename = "RandomCrop")]
    Random {
        /// Width and height of the picture.
        #[serde(with = "size")]
        size: (u32, u32),
        /// The length of the frame's shorter side, from the least to the greatest.
        #[serde(default, with = "range")]
        resize: Option<(u32, u32)>,
    },
    /// A random area with a random shape at a random place, resized to the size of the picture: torchvision's
    /// `RandomResizedCrop`.
    #[serde(rename = "RandomResizedCrop")]
    RandomResized {
        /// Width and height of the picture.
        #[serde(with = "size")]
        size: (u32, u32),
        /// The smallest and largest area as a fraction of the frame's. Default 0.08 to 1.
        #[serde(default = "scale")]
        scale: (f64, f64),
        /// The smallest and largest ratio of width to height. Default 3/4 to 4/3.
        #[serde(default = "ratio")]
        ratio: (f64, f64),
    },
    /// A part whose sides are 1, 7/8, 3/4 or 0.66 of the frame's shorter side, resized to the size of the picture:
    /// TSN's `GroupMultiScaleCrop`. Each side is drawn by itself, but the two are at most one step apart.
    #[serde(rename = "MultiScaleCrop")]
    MultiScale {
        /// Width and height of the picture.
        #[serde(with = "size")]
        size: (u32, u32),
        /// Whether the part is at one of TSN's 13 fixed places (corners, center, edges, quarters). Otherwise it is
        /// anywhere. Default `false`.
        #[serde(default)]
        fixed: bool,
    },
    /// Three parts along the longer side: left, middle and right, or top, middle and bottom. This is for testing:
    /// each part is a sample of its own, as [`Frames`](super::Frames) describes.
    #[serde(rename = "ThreeCrop")]
    Three {
        /// Width and height of the picture.
        #[serde(with = "size")]
        size: (u32, u32),
        /// The length of the frame's shorter side, from the least to the greatest.
        #[serde(default, with = "range")]
        resize: Option<(u32, u32)>,
    },
    /// The largest part in the shape of the picture, resized to its size. Nothing is distorted, and the crop
    /// removes only what does not fit the shape.
    ///
    /// With several sizes, a clip goes to the size that is nearest in shape (width over height), and all clips of a
    /// batch have the same size. The loader then keeps two bytes for each clip, and 8 bytes for each sample of an epoch.
    Cover {
        /// Width and height of the picture. Either this or `sizes` is given.
        #[serde(default, with = "size_or_none", skip_serializing_if = "Option::is_none")]
        size: Option<(u32, u32)>,
        /// Widths and heights of pictures.
        #[serde(default, with = "list_of_sizes", skip_serializing_if = "Vec::is_empty")]
        sizes: Vec<(u32, u32)>,
        /// Whether the place of the part is random. Otherwise it is in the middle. Default `false`.
        #[serde(default)]
        random: bool,
    },
    /// The whole frame, in about its own shape and size: both sides become multiples of `factor`, and the number of
    /// pixels is kept within bounds. This is the rule of Qwen2-VL and Qwen2.5-VL: `smart_resize` of transformers, with
    /// the limit of `cap_pixels_per_frame` for whole videos.
    ///
    /// All clips of a batch have the same size, that of each by itself. A substitute, and the clip of another camera,
    /// have the size of the sample. The loader keeps two bytes for each clip, and 8 bytes for each sample of an epoch.
    SmartResize(SmartResize),
}

impl Default for Crop {
    fn default() -> Self {
        Crop::center((224, 224))
    }
}

/// A crop from the middle of height and width, or of a side.
impl From<OneOrTwo> for Crop {
    fn from(size: OneOrTwo) -> Self {
        let (height, width) = size.both();
        Crop::center((width, height))
    }
}

fn scale() -> (f64, f64) {
    (0.08, 1.0)
}

fn ratio() -> (f64, f64) {
    (3.0 / 4.0, 4.0 / 3.0)
}

impl Crop {
    /// [`Crop::Center`] of this width and height, with defaults.
    pub fn center(size: (u32, u32)) -> Self {
        Crop::Center { size, resize: None }
    }

    /// [`Crop::Random`] of this width and height, with defaults.
    pub fn random(size: (u32, u32)) -> Self {
        Crop::Random { size, resize: None }
    }

    /// [`Crop::RandomResized`] of this width and height, with torchvision's defaults.
    pub fn random_resized(size: (u32, u32)) -> Self {
        Crop::RandomResized { size, scale: scale(), ratio: ratio() }
    }

    /// [`Crop::MultiScale`] of this width and height, at fixed places or anywhere.
    pub fn multi_scale(size: (u32, u32), fixed: bool) -> Self {
        Crop::MultiScale { size, fixed }
    }

    /// [`Crop::Three`] of this width and height, with defaults.
    pub fn three(size: (u32, u32)) -> Self {
        Crop::Three { size, resize: None }
    }

    /// [`Crop::Cover`] of this width and height, in the middle or at a random place.
    pub fn cover(size: (u32, u32), random: bool) -> Self {
        Crop::Cover { size: Some(size), sizes: Vec::new(), random }
    }

    /// [`Crop::Cover`] of the best of these widths and heights, in the middle or at a random place.
    pub fn cover_sizes(sizes: impl Into<Vec<(u32, u32)>>, random: bool) -> Self {
        Crop::Cover { size: None, sizes: sizes.into(), random }
    }

    /// [`Crop::SmartResize`] to multiples of this, with these least and greatest numbers of pixels.
    pub fn smart_resize(factor: u32, min_pixels: u64, max_pixels: u64) -> Self {
        Crop::SmartResize(SmartResize { factor, min_pixels, max_pixels, ..SmartResize::default() })
    }

    setters! { Crop:
        /// Returns the same crop of a frame whose shorter side is resized first, if the crop does not resize by itself.
        with_resize, resize: Option<(u32, u32)>, Center | Random | Three;
    }

    getters! { Crop:
        /// The range of lengths of the frame's shorter side, if the frame is resized first.
        resize: Option<(u32, u32)>, resize, of Center | Random | Three, or None;
    }

    /// Width and height of the picture; those of the first, if there are several sizes. Of [`Crop::SmartResize`], the
    /// smallest picture.
    pub fn size(&self) -> (u32, u32) {
        match self {
            Crop::Center { size, .. }
            | Crop::Random { size, .. }
            | Crop::RandomResized { size, .. }
            | Crop::MultiScale { size, .. }
            | Crop::Three { size, .. } => *size,
            Crop::Cover { size, sizes, .. } => size.or(sizes.first().copied()).unwrap_or_default(),
            Crop::SmartResize(SmartResize { factor, .. }) => (*factor, *factor),
        }
    }

    /// The sizes of pictures that are known before any clip is: several with [`Crop::Cover`], none with
    /// [`Crop::SmartResize`].
    pub(crate) fn sizes(&self) -> Vec<(u32, u32)> {
        match self {
            Crop::Cover { sizes, .. } if !sizes.is_empty() => sizes.clone(),
            Crop::SmartResize { .. } => Vec::new(),
            _ => vec![self.size()],
        }
    }

    /// The number of samples of each clip that differ in the part of the frame.
    pub(crate) fn count(&self) -> u32 {
        if let Crop::Three { .. } = self { 3 } else { 1 }
    }

    /// The rule for the size of each clip, if it follows from that of its frames.
    pub(crate) fn rule(&self) -> Option<&SmartResize> {
        if let Crop::SmartResize(rule) = self { Some(rule) } else { None }
    }

    /// Returns an error that names the field if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let side = |side: &u32| (1..=MAX_SIDE).contains(side);
        let fits = |(width, height): (u32, u32)| side(&width) && side(&height);
        let (width, height) = self.size();
        if let Crop::Cover { size, sizes, .. } = self
            && size.is_some() != sizes.is_empty()
        {
            return Err(Error::usage("loader option crop: Cover has either a size or sizes"));
        }
        if let Some(rule) = self.rule() {
            rule.check()?;
        }
        require(fits((width, height)), "crop: size", format_args!("{width}x{height}"), "sides of 1 to 65500")?;
        let sizes = self.sizes();
        require(sizes.iter().copied().all(fits), "crop: sizes", format_args!("{sizes:?}"), "sides of 1 to 65500")?;
        if let Some((least, most)) = self.resize() {
            let fits = side(&least) && side(&most) && least <= most;
            require(fits, "crop: resize", format_args!("{least} to {most}"), "a length or a range, of 1 to 65500")?;
        }
        let Crop::RandomResized { scale, ratio, .. } = self else { return Ok(()) };
        let range = |(least, greatest): (f64, f64)| least > 0.0 && least <= greatest && greatest.is_finite();
        let fits = range(*scale) && scale.1 <= 1.0;
        require(fits, "crop: scale", format_args!("{scale:?}"), "0 < least <= greatest <= 1")?;
        require(range(*ratio), "crop: ratio", format_args!("{ratio:?}"), "0 < least <= greatest")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        let resized = |scale, ratio| Crop::RandomResized { size: (8, 8), scale, ratio };
        for (named, crop) in [
            ("size", Crop::center((224, 0))),
            ("size", Crop::center((u32::MAX, 1))),
            ("size", Crop::cover_sizes([], false)),
            ("sizes", Crop::cover_sizes([(8, 8), (0, 8)], false)),
            ("resize", Crop::center((8, 8)).with_resize(Some((9, 8)))),
            ("resize", Crop::center((8, 8)).with_resize(Some((0, 8)))),
            ("scale", resized((0.0, 1.0), (1.0, 1.0))),
            ("scale", resized((0.5, 1.1), (1.0, 1.0))),
            ("ratio", resized((0.5, 1.0), (2.0, 1.0))),
            ("ratio", resized((0.5, 1.0), (f64::NAN, 1.0))),
            ("factor", Crop::smart_resize(0, 1, 9)),
            ("min_pixels", Crop::smart_resize(28, 10, 9)),
            ("min_pixels", Crop::smart_resize(28, 0, 9)),
        ] {
            assert!(crop.check().unwrap_err().to_string().contains(named), "{crop:?}");
        }
    }
}

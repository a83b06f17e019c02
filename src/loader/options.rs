//! What a training loop can ask for.

use std::ops::RangeInclusive;

use crate::order::LastBatch;
use crate::{Error, Result, limits};

/// Which part of a frame becomes the picture.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Crop {
    /// The middle. The default.
    ///
    /// Where an odd number of pixels is left over, the crop stands where torchvision's `CenterCrop` puts it.
    #[default]
    Center,
    /// Any place with equal probability, drawn once a clip.
    Random,
    /// A random area with a random shape at a random place, resized to the wanted size; torchvision's
    /// `RandomResizedCrop`. Drawn once a clip.
    RandomResized {
        /// Least and greatest area as a fraction of the frame's; commonly 0.08 and 1.
        scale: (f64, f64),
        /// Least and greatest width over height; commonly 3/4 and 4/3.
        ratio: (f64, f64),
    },
}

impl Crop {
    /// [`Crop::RandomResized`] with torchvision's defaults: scale 0.08 to 1, ratio 3/4 to 4/3.
    pub const RANDOM_RESIZED: Crop = Crop::RandomResized { scale: (0.08, 1.0), ratio: (3.0 / 4.0, 4.0 / 3.0) };
}

/// Type of a sample in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dtype {
    /// 0 to 255 as decoded, rounded to nearest where pictures are resized. The default.
    #[default]
    U8,
    /// `(x / 255 - mean) / std` for each channel.
    F32,
}

/// Order of a batch's dimensions: B clips, T frames, C channels (red, green, blue), H rows, W columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// Channels before rows, as PyTorch has it. The default.
    #[default]
    Btchw,
    /// Channels last, as NumPy, OpenCV and JAX have it.
    Bthwc,
}

/// What a [`Loader`](super::Loader) gives and in which order.
///
/// ```
/// use vidrec::{Crop, Dtype, LoaderOptions};
///
/// let options = LoaderOptions { crop: Crop::RANDOM_RESIZED, flip: 0.5, dtype: Dtype::F32, ..LoaderOptions::default() };
/// assert_eq!((options.batch_size, options.size), (16, (224, 224)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LoaderOptions {
    /// Clips in a batch. Default 16.
    pub batch_size: u32,
    /// Frames taken from each clip, spread evenly as [`sampler::uniform`](crate::sampler::uniform) does (a clip with
    /// fewer repeats some). Default `None`: all of them, and then every clip must have the same number.
    pub frames: Option<u32>,
    /// Width and height of the pictures in pixels. Default 224 by 224.
    pub size: (u32, u32),
    /// Length in pixels to which the shorter side of a frame is resized before [`Crop::Center`] or [`Crop::Random`].
    /// Default `None`: not resized. Frames that would be smaller than `size` are enlarged until they cover it.
    pub resize_short: Option<u32>,
    /// Which part of a frame is taken. Default [`Crop::Center`].
    pub crop: Crop,
    /// Probability that a clip is mirrored, left to right. Default 0.
    pub flip: f32,
    /// Type of a sample. Default [`Dtype::U8`].
    pub dtype: Dtype,
    /// Order of dimensions. Default [`Layout::Btchw`].
    pub layout: Layout,
    /// Mean of red, green and blue that [`Dtype::F32`] subtracts, in units where 1 is full. Default 0.
    pub mean: [f32; 3],
    /// Standard deviation by which [`Dtype::F32`] then divides, in the same units. Default 1.
    pub std: [f32; 3],
    /// Whether clips come in a new random order each epoch. Default `false`: as stored.
    pub shuffle: bool,
    /// Seed of order, crops and flips. Default 0.
    pub seed: u64,
    /// Number of this process among those that train together, from 0. Default 0.
    pub rank: u32,
    /// Processes that train together. Default 1.
    pub world_size: u32,
    /// What becomes of clips that do not fill a batch on every rank. Default [`LastBatch::Pad`].
    pub last: LastBatch,
    /// Threads that decode. Default `None`: as many as there are cores, up to 8. The batches do not depend on it.
    pub threads: Option<usize>,
}

impl Default for LoaderOptions {
    fn default() -> Self {
        LoaderOptions {
            batch_size: 16,
            frames: None,
            size: (224, 224),
            resize_short: None,
            crop: Crop::Center,
            flip: 0.0,
            dtype: Dtype::U8,
            layout: Layout::Btchw,
            mean: [0.0; 3],
            std: [1.0; 3],
            shuffle: false,
            seed: 0,
            rank: 0,
            world_size: 1,
            last: LastBatch::Pad,
            threads: None,
        }
    }
}

const SIDES: RangeInclusive<u32> = 1..=limits::MAX_SIDE;

impl LoaderOptions {
    /// Refuses what makes no sense, naming the option.
    pub(super) fn check(&self) -> Result<()> {
        let (width, height) = self.size;
        let sides = |sides: &[u32]| sides.iter().all(|side| SIDES.contains(side));
        require(self.batch_size > 0, "batch_size", self.batch_size, "1 or more")?;
        require(self.frames != Some(0), "frames", 0, "1 or more")?;
        require(sides(&[width, height]), "size", format_args!("{width}x{height}"), "sides of 1 to 65500")?;
        require(self.resize_short.is_none_or(|side| sides(&[side])), "resize_short", "out of range", "1 to 65500")?;
        require((0.0..=1.0).contains(&self.flip), "flip", self.flip, "a probability, 0 to 1")?;
        require(self.mean.iter().all(|m| m.is_finite()), "mean", "not a number", "finite numbers")?;
        require(self.std.iter().all(|s| s.is_normal()), "std", "0 or not a number", "finite numbers other than 0")?;
        let ranks = format_args!("{} of {}", self.rank, self.world_size).to_string();
        require(self.rank < self.world_size, "rank", ranks, "less than world_size")?;
        require(self.threads != Some(0), "threads", 0, "1 or more")?;
        self.check_crop()
    }

    fn check_crop(&self) -> Result<()> {
        let Crop::RandomResized { scale, ratio } = self.crop else { return Ok(()) };
        let range = |(least, greatest): (f64, f64)| least > 0.0 && least <= greatest && greatest.is_finite();
        require(
            range(scale) && scale.1 <= 1.0,
            "crop's scale",
            format_args!("{scale:?}"),
            "0 < least <= greatest <= 1",
        )?;
        require(range(ratio), "crop's ratio", format_args!("{ratio:?}"), "0 < least <= greatest")?;
        let unused = self.resize_short.is_none();
        require(unused, "resize_short", "set", "none with Crop::RandomResized, which resizes by itself")
    }
}

fn require(holds: bool, option: &str, found: impl std::fmt::Display, expected: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::usage(format!("loader option {option}")).expected(expected).found(found)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_accepted() {
        LoaderOptions::default().check().unwrap();
        LoaderOptions { crop: Crop::RANDOM_RESIZED, ..LoaderOptions::default() }.check().unwrap();
    }

    #[test]
    fn each_senseless_option_is_named() {
        let d = LoaderOptions::default;
        let crop = |scale, ratio| LoaderOptions { crop: Crop::RandomResized { scale, ratio }, ..d() };
        for (name, options) in [
            ("batch_size", LoaderOptions { batch_size: 0, ..d() }),
            ("frames", LoaderOptions { frames: Some(0), ..d() }),
            ("size", LoaderOptions { size: (224, 0), ..d() }),
            ("size", LoaderOptions { size: (u32::MAX, 1), ..d() }),
            ("resize_short", LoaderOptions { resize_short: Some(0), ..d() }),
            ("resize_short", LoaderOptions { resize_short: Some(9), crop: Crop::RANDOM_RESIZED, ..d() }),
            ("flip", LoaderOptions { flip: 1.5, ..d() }),
            ("flip", LoaderOptions { flip: f32::NAN, ..d() }),
            ("mean", LoaderOptions { mean: [f32::INFINITY; 3], ..d() }),
            ("std", LoaderOptions { std: [1.0, 0.0, 1.0], ..d() }),
            ("rank", LoaderOptions { rank: 2, world_size: 2, ..d() }),
            ("rank", LoaderOptions { world_size: 0, ..d() }),
            ("threads", LoaderOptions { threads: Some(0), ..d() }),
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

//! What a training loop can ask for.

use std::ops::RangeInclusive;

use super::colour::{ColorDraw, ColorJitter, ColorMatrix};
use super::kernel::{REDUCING_GAP, Target};
use super::temporal::Temporal;
use crate::jpeg::JpegDecoder;
use crate::order::{LastBatch, Order};
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
    /// A part whose sides are 1, 7/8, 3/4 or 0.66 of the frame's shorter side, each side for itself but at most one step
    /// apart, resized to the wanted size; TSN's `GroupMultiScaleCrop`. Drawn once a clip.
    MultiScale {
        /// Whether it stands at one of 13 fixed places (corners, centre, edges, quarters), as TSN has it, rather than
        /// anywhere.
        fixed: bool,
    },
    /// Three parts along the longer side: left, middle and right, or top, middle and bottom. For testing: each is a
    /// sample of its own, as [`Temporal`] tells.
    Three,
}

impl Crop {
    /// Samples that differ in place that each clip gives.
    pub(super) fn count(self) -> u32 {
        if self == Crop::Three { 3 } else { 1 }
    }

    /// [`Crop::RandomResized`] with torchvision's defaults: scale 0.08 to 1, ratio 3/4 to 4/3.
    pub const RANDOM_RESIZED: Crop = Crop::RandomResized { scale: (0.08, 1.0), ratio: (3.0 / 4.0, 4.0 / 3.0) };
}

/// Type of a sample in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dtype {
    /// 0 to 255 as decoded, rounded to nearest where pictures are resized. The default.
    #[default]
    U8,
    /// `(x / 255 - mean) / std` for each channel, rounded to IEEE 754 binary16.
    F16,
    /// `(x / 255 - mean) / std` for each channel, rounded to bfloat16.
    Bf16,
    /// `(x / 255 - mean) / std` for each channel.
    F32,
}

/// What the channels of a picture are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Channels {
    /// Red, green, blue. The default.
    #[default]
    Rgb,
    /// Luma alone, one channel: the first of `mean` and `std` is its own. Chroma is not looked at.
    Gray,
    /// Luma and chroma, full-range BT.601 as JFIF has it, 128 of 255 being neutral chroma.
    YCbCr,
}

impl Channels {
    /// How many there are: 3, or 1 for [`Gray`](Self::Gray).
    pub fn count(self) -> usize {
        if self == Channels::Gray { 1 } else { 3 }
    }
}

/// Order of a batch's dimensions: B clips, T frames, C channels, H rows, W columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// Channels before rows, as PyTorch has it. The default.
    #[default]
    Btchw,
    /// Channels before frames, as 3D convolutions of PyTorch have it.
    Bcthw,
    /// Channels last, as NumPy, OpenCV and JAX have it.
    Bthwc,
}

/// What becomes of a clip that cannot be read or decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnBadFrame {
    /// The batch is an error that names file, clip, frame and offset. The default.
    #[default]
    Error,
    /// Another sample stands in for the whole clip: a draw from (seed, epoch, sample), so always the same one.
    ///
    /// [`Batch::clips`](super::Batch::clips) says which clip it is (its mask is that of the sample it replaces), [`SampleParams::instead_of`](super::SampleParams)
    /// which it replaces, and [`LoaderStats`](super::LoaderStats) counts. After 16 draws that cannot be read either, it
    /// is an error.
    Substitute,
}

/// Which clips an epoch has of a data set with several draws of each video
/// ([`Dataset::draws`](crate::Dataset::draws)). Without draws both are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Draws {
    /// One of each video: draw `epoch` modulo their number. The default.
    ///
    /// Sample `i` is then of clips `i K` to `i K + K - 1`, so orders with weights or indices count videos, not clips.
    #[default]
    Rotate,
    /// All of them, each a sample of its own.
    All,
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
    /// Frames taken from each clip, chosen by [`temporal`](Self::temporal) (a clip with fewer repeats some). Default
    /// `None`: all of them, and then every clip must have the same number.
    pub frames: Option<u32>,
    /// How they are chosen. Default [`Temporal::Uniform`]: spread evenly.
    pub temporal: Temporal,
    /// Width and height of the pictures in pixels. Default 224 by 224.
    pub size: (u32, u32),
    /// Length in pixels to which the shorter side of a frame is resized before [`Crop::Center`], [`Crop::Random`] or
    /// [`Crop::Three`]. Default `None`: not resized. Frames that would be smaller than `size` are enlarged until they
    /// cover it.
    pub resize_short: Option<u32>,
    /// Where given, that length is drawn evenly from `resize_short` up to and with this, once a clip: the scale jitter
    /// of SlowFast, commonly 256 to 320. Default `None`.
    pub resize_short_max: Option<u32>,
    /// Which part of a frame is taken. Default [`Crop::Center`].
    pub crop: Crop,
    /// Probability that a clip is mirrored, left to right. Default 0.
    pub flip: f32,
    /// How colours vary from clip to clip. Default: not.
    pub color: ColorJitter,
    /// What the channels are. Default [`Channels::Rgb`].
    pub channels: Channels,
    /// Type of a sample. Default [`Dtype::U8`].
    pub dtype: Dtype,
    /// Order of dimensions. Default [`Layout::Btchw`].
    pub layout: Layout,
    /// Mean of each channel that the float types subtract, in units where 1 is full. Default 0.
    pub mean: [f32; 3],
    /// Standard deviation by which the float types then divide, in the same units. Default 1.
    pub std: [f32; 3],
    /// How many times larger than the picture, at least, a frame is decoded where the JPEG decoder could make it
    /// smaller by 2, 4 or 8, which is faster and less exact. Default 1.125, so that 256 pixels become 112 by way of
    /// 128. Against the exact resize of the full decode, a gap of 1 gives 46 dB (by 2), 43 dB (by 4) and 38 dB (by 8)
    /// at the least; one of 2, as Pillow's `thumbnail` has it, 53 and 47 dB. Infinity turns it off.
    pub reducing_gap: f64,
    /// In which order they come. Default [`Order::Sequential`]: as stored. Training takes [`Order::Shuffled`].
    pub order: Order,
    /// Which draws of a video an epoch has, where there are several. Default [`Draws::Rotate`].
    pub draws: Draws,
    /// Seed of everything that is drawn: order, frames, crops, flips, colours. Default 0.
    pub seed: u64,
    /// Number of this process among those that train together, from 0. Default 0.
    pub rank: u32,
    /// Processes that train together. Default 1.
    pub world_size: u32,
    /// What becomes of clips that do not fill a batch on every rank. Default [`LastBatch::Pad`].
    pub last: LastBatch,
    /// Threads that decode. Default `None`: as many as there are cores, up to 8. The batches do not depend on it.
    pub threads: Option<usize>,
    /// Whether the CRC-32 of every frame is compared. Default `true`; it costs a few microseconds a frame.
    pub check_crc: bool,
    /// Which JPEG decoder is used. Default [`JpegDecoder::Auto`]: the fastest; all give the same batches.
    pub decoder: JpegDecoder,
    /// What becomes of a clip that cannot be read or decoded. Default [`OnBadFrame::Error`].
    pub on_bad_frame: OnBadFrame,
    /// Batches that [`Loader::iter`](super::Loader::iter) keeps ready or in the making ahead of the one in use, 1 or
    /// more. Default 2.
    pub prefetch: u32,
    /// Bytes of samples to which it keeps those batches, but for one batch, which is always made. Default 1 GiB. Between
    /// epochs the loader keeps the memory of those batches and of one more.
    pub prefetch_bytes: u64,
    /// Batches, after those, of which the system is asked to bring in the pages. Default 4; 0 asks for none.
    pub readahead: u32,
}

impl Default for LoaderOptions {
    fn default() -> Self {
        LoaderOptions {
            batch_size: 16,
            frames: None,
            temporal: Temporal::Uniform,
            size: (224, 224),
            resize_short: None,
            resize_short_max: None,
            crop: Crop::Center,
            flip: 0.0,
            color: ColorJitter::default(),
            channels: Channels::Rgb,
            dtype: Dtype::U8,
            layout: Layout::Btchw,
            mean: [0.0; 3],
            std: [1.0; 3],
            reducing_gap: REDUCING_GAP,
            order: Order::Sequential,
            draws: Draws::Rotate,
            seed: 0,
            rank: 0,
            world_size: 1,
            last: LastBatch::Pad,
            threads: None,
            check_crc: true,
            decoder: JpegDecoder::Auto,
            on_bad_frame: OnBadFrame::Error,
            prefetch: 2,
            prefetch_bytes: 1 << 30,
            readahead: 4,
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
        let range =
            self.resize_short_max.is_none_or(|max| sides(&[max]) && self.resize_short.is_some_and(|min| min <= max));
        require(range, "resize_short_max", "out of range", "resize_short, and from it to 65500")?;
        require((0.0..=1.0).contains(&self.flip), "flip", self.flip, "a probability, 0 to 1")?;
        require(self.mean.iter().all(|m| m.is_finite()), "mean", "not a number", "finite numbers")?;
        require(self.std.iter().all(|s| s.is_normal()), "std", "0 or not a number", "finite numbers other than 0")?;
        require(self.reducing_gap >= 1.0, "reducing_gap", self.reducing_gap, "1 or more")?;
        let ranks = format_args!("{} of {}", self.rank, self.world_size).to_string();
        require(self.rank < self.world_size, "rank", ranks, "less than world_size")?;
        require(self.threads != Some(0), "threads", 0, "1 or more")?;
        require(self.prefetch > 0, "prefetch", 0, "1 or more")?;
        self.temporal.check(self.frames)?;
        self.check_color()?;
        self.check_crop()
    }

    /// What the kernel is to make of a sample with these colours.
    pub(super) fn target(&self, color: &ColorDraw) -> Target {
        let LoaderOptions { size, channels, mean, std, reducing_gap, .. } = *self;
        let matrix = color.matrix().unwrap_or(ColorMatrix::IDENTITY);
        Target { size, channels, mean, std, matrix, reducing_gap }
    }

    fn check_color(&self) -> Result<()> {
        let ColorJitter { brightness, contrast, saturation, grayscale } = self.color;
        let strengths = [brightness, contrast, saturation];
        let finite = strengths.iter().all(|x| (0.0..1e3).contains(x));
        require(finite, "color", format_args!("{strengths:?}"), "strengths of 0 or more")?;
        require((0.0..=1.0).contains(&grayscale), "color's grayscale", grayscale, "a probability, 0 to 1")
    }

    fn check_crop(&self) -> Result<()> {
        if let Crop::RandomResized { scale, ratio } = self.crop {
            let range = |(least, greatest): (f64, f64)| least > 0.0 && least <= greatest && greatest.is_finite();
            let fits = range(scale) && scale.1 <= 1.0;
            require(fits, "crop's scale", format_args!("{scale:?}"), "0 < least <= greatest <= 1")?;
            require(range(ratio), "crop's ratio", format_args!("{ratio:?}"), "0 < least <= greatest")?;
        }
        let resizes = matches!(self.crop, Crop::RandomResized { .. } | Crop::MultiScale { .. });
        let fits = !resizes || self.resize_short.is_none();
        require(fits, "resize_short", "set", "none with a crop that resizes by itself")
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
            ("resize_short", LoaderOptions { resize_short: Some(9), crop: Crop::MultiScale { fixed: true }, ..d() }),
            ("resize_short_max", LoaderOptions { resize_short_max: Some(9), ..d() }),
            ("resize_short_max", LoaderOptions { resize_short: Some(9), resize_short_max: Some(8), ..d() }),
            ("temporal", LoaderOptions { temporal: Temporal::Dense { stride: 1 }, ..d() }),
            ("color", LoaderOptions { color: ColorJitter { contrast: -1.0, ..ColorJitter::default() }, ..d() }),
            ("grayscale", LoaderOptions { color: ColorJitter { grayscale: 2.0, ..ColorJitter::default() }, ..d() }),
            ("prefetch", LoaderOptions { prefetch: 0, ..d() }),
            ("flip", LoaderOptions { flip: 1.5, ..d() }),
            ("flip", LoaderOptions { flip: f32::NAN, ..d() }),
            ("mean", LoaderOptions { mean: [f32::INFINITY; 3], ..d() }),
            ("std", LoaderOptions { std: [1.0, 0.0, 1.0], ..d() }),
            ("rank", LoaderOptions { rank: 2, world_size: 2, ..d() }),
            ("rank", LoaderOptions { world_size: 0, ..d() }),
            ("threads", LoaderOptions { threads: Some(0), ..d() }),
            ("reducing_gap", LoaderOptions { reducing_gap: f64::NAN, ..d() }),
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

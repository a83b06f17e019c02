//! What a batch holds: the size of pictures, their channels, the type of a value, the order of dimensions.

use crate::Result;
use crate::jpeg::JpegDecoder;
use crate::limits::MAX_SIDE;
use crate::loader::kernel::{Channels, ColorMatrix, PictureSpec, REDUCING_GAP};
use crate::loader::require::require;
use crate::words::words;

/// Type of a value in a batch.
///
/// As a word (`FromStr`, `Display`): `uint8`, `float16`, `bfloat16` or `float32`; `u8`, `f16`, `bf16` and `f32` are
/// read too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dtype {
    /// 0 to 255 as decoded, rounded to the nearest where pictures are resized. The default.
    #[default]
    U8,
    /// `(x / 255 - mean) / std` for each channel, rounded to IEEE 754 binary16.
    F16,
    /// `(x / 255 - mean) / std` for each channel, rounded to bfloat16.
    Bf16,
    /// `(x / 255 - mean) / std` for each channel.
    F32,
}

words!(Dtype, "dtype", {
    "uint8" | "u8" => U8,
    "float16" | "f16" => F16,
    "bfloat16" | "bf16" => Bf16,
    "float32" | "f32" => F32,
});

impl Dtype {
    /// Bytes of a value.
    pub fn size(self) -> usize {
        match self {
            Dtype::U8 => 1,
            Dtype::F16 | Dtype::Bf16 => 2,
            Dtype::F32 => 4,
        }
    }
}

/// Order of a batch's dimensions: B clips, T frames, C channels, H rows, W columns.
///
/// As a word (`FromStr`, `Display`): `BTCHW`, `BCTHW` or `BTHWC`, also in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Layout {
    /// Channels before rows, as in PyTorch. The default.
    #[default]
    Btchw,
    /// Channels before frames, as PyTorch's 3D convolutions want it.
    Bcthw,
    /// Channels last, as in NumPy, OpenCV and JAX.
    Bthwc,
}

words!(Layout, "layout", {
    "BTCHW" | "btchw" => Btchw,
    "BCTHW" | "bcthw" => Bcthw,
    "BTHWC" | "bthwc" => Bthwc,
});

/// What the pictures of a batch are.
///
/// ```
/// use vidrec::{Dtype, LoaderOptions, Pictures};
///
/// let pictures = Pictures { size: (112, 112), dtype: Dtype::F32, ..Pictures::default() };
/// let options = LoaderOptions { pictures, ..LoaderOptions::default() };
/// assert_eq!(options.pictures.std, [1.0; 3]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pictures {
    /// Width and height in pixels. Default 224 by 224.
    pub size: (u32, u32),
    /// What the channels are. Default [`Channels::Rgb`].
    pub channels: Channels,
    /// Type of a value. Default [`Dtype::U8`].
    pub dtype: Dtype,
    /// Order of dimensions. Default [`Layout::Btchw`].
    pub layout: Layout,
    /// Mean of each channel that the float types subtract, as a fraction of full: 0 to 1. Default 0.
    pub mean: [f32; 3],
    /// Standard deviation by which the float types then divide, in the same units, at most 10. Default 1.
    pub std: [f32; 3],
    /// How many times larger than the picture, at least, a frame is decoded where the JPEG decoder could make it
    /// smaller by 2, 4 or 8, which is faster and less exact. Default 1.125, so that 256 pixels become 112 by way of
    /// 128. Against the exact resize of the full decode, a gap of 1 gives 46 dB (by 2), 43 dB (by 4) and 38 dB (by 8)
    /// at the least; a gap of 2, as in Pillow's `thumbnail`, gives 53 and 47 dB. Infinity turns it off.
    pub reducing_gap: f64,
    /// Which JPEG decoder is used. Default [`JpegDecoder::Auto`]: the fastest; all give the same batches.
    pub decoder: JpegDecoder,
}

impl Default for Pictures {
    fn default() -> Self {
        Pictures {
            size: (224, 224),
            channels: Channels::Rgb,
            dtype: Dtype::U8,
            layout: Layout::Btchw,
            mean: [0.0; 3],
            std: [1.0; 3],
            reducing_gap: REDUCING_GAP,
            decoder: JpegDecoder::Auto,
        }
    }
}

impl Pictures {
    /// Refuses what makes no sense, and names the option.
    pub(super) fn check(&self) -> Result<()> {
        let (width, height) = self.size;
        let fits = [width, height].iter().all(|side| (1..=MAX_SIDE).contains(side));
        require(fits, "size", format_args!("{width}x{height}"), "sides of 1 to 65500")?;
        let (mean, std) = (format_args!("{:?}", self.mean), format_args!("{:?}", self.std));
        let in_levels = "fractions of full: divide levels by 255";
        require(self.mean.iter().all(|m| (0.0..=1.0).contains(m)), "mean", mean, in_levels)?;
        require(self.std.iter().all(|s| s.is_normal()), "std", std, "finite numbers other than 0")?;
        require(self.std.iter().all(|s| s.abs() <= 10.0), "std", std, in_levels)?;
        require(self.reducing_gap >= 1.0, "reducing_gap", self.reducing_gap, "1 or more")
    }

    /// What the kernel makes of a clip with these colors.
    pub(crate) fn spec(&self, colors: Option<ColorMatrix>) -> PictureSpec {
        let Pictures { size, channels, mean, std, reducing_gap, .. } = *self;
        PictureSpec { size, channels, mean, std, reducing_gap, matrix: colors.unwrap_or(ColorMatrix::IDENTITY) }
    }

    /// The shape of a batch of so many clips of so many frames.
    pub(crate) fn shape(&self, clips: u32, frames: u32) -> [usize; 5] {
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
    fn words_read_back_as_themselves_and_in_their_other_form() {
        for (words, short) in [("uint8", "u8"), ("float16", "f16"), ("bfloat16", "bf16"), ("float32", "f32")] {
            assert_eq!(words.parse::<Dtype>().unwrap(), short.parse::<Dtype>().unwrap());
            assert_eq!(short.parse::<Dtype>().unwrap().to_string(), words);
        }
        assert_eq!("bthwc".parse::<Layout>().unwrap(), Layout::Bthwc);
        assert!("float64".parse::<Dtype>().unwrap_err().to_string().contains("bfloat16"));
    }

    #[test]
    fn each_option_that_makes_no_sense_is_named() {
        let d = Pictures::default;
        d().check().unwrap();
        for (name, options) in [
            ("size", Pictures { size: (224, 0), ..d() }),
            ("size", Pictures { size: (u32::MAX, 1), ..d() }),
            ("mean", Pictures { mean: [f32::INFINITY; 3], ..d() }),
            ("mean", Pictures { mean: [123.675, 116.28, 103.53], ..d() }),
            ("std", Pictures { std: [58.395, 57.12, 57.375], ..d() }),
            ("std", Pictures { std: [1.0, 0.0, 1.0], ..d() }),
            ("reducing_gap", Pictures { reducing_gap: f64::NAN, ..d() }),
        ] {
            let e = options.check().unwrap_err();
            assert!(e.to_string().contains(name), "{name}: {e}");
        }
    }
}

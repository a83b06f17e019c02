//! The contents of a batch: the size of pictures, their channels, the type of a value, the order of dimensions.

use crate::kernel::{Channels, ColorMatrix, PictureSpec, REDUCING_GAP};
use crate::require::require;
use vidrec_format::error::Result;
use vidrec_format::limits::MAX_SIDE;
use vidrec_format::words::words;
use vidrec_jpeg::JpegDecoder;

/// The type of a value in a batch.
///
/// As a word (`FromStr`, `Display`): `uint8`, `float16`, `bfloat16` or `float32`. `FromStr` also accepts `u8`,
/// `f16`, `bf16` and `f32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dtype {
    /// 0 to 255 as decoded, rounded to the nearest if pictures are resized. The default.
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
/// As a word (`FromStr`, `Display`): `BTCHW`, `BCTHW` or `BTHWC`, also in lowercase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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

words!(Layout, "layout", {
    "BTCHW" | "btchw" => Btchw,
    "BCTHW" | "bcthw" => Bcthw,
    "BTHWC" | "bthwc" => Bthwc,
});

/// The format of the pictures of a batch.
///
/// ```
/// # mod vidrec { pub use vidrec_loader::{Dtype, LoaderOptions, Pictures}; }
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
    /// The channels. Default [`Channels::Rgb`].
    pub channels: Channels,
    /// The type of a value. Default [`Dtype::U8`].
    pub dtype: Dtype,
    /// The order of dimensions. Default [`Layout::Btchw`].
    pub layout: Layout,
    /// The mean of each channel, which the float types subtract, as a fraction of full scale: 0 to 1. Default 0.
    pub mean: [f32; 3],
    /// The standard deviation by which the float types then divide, in the same units, at most 10. Default 1.
    pub std: [f32; 3],
    /// How many times larger than the picture, at least, a frame is decoded if the JPEG decoder could reduce it by
    /// 2, 4 or 8. Reducing in the decoder is faster and less exact. Default 1.125, so that 256 pixels become 112
    /// by way of 128. Against the exact resize of the full decode, a gap of 1 reaches at least 46 dB (by 2), 43 dB
    /// (by 4) and 38 dB (by 8). A gap of 2, as in Pillow's `thumbnail`, reaches 53 and 47 dB. Infinity turns it
    /// off.
    pub reducing_gap: f64,
    /// The JPEG decoder. Default [`JpegDecoder::Auto`]: the fastest. All decoders produce the same batches.
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
    /// Returns an error that names the option if a value makes no sense.
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

    /// The specification of the pictures of a clip with these colors.
    pub(crate) fn spec(&self, colors: Option<ColorMatrix>) -> PictureSpec {
        let Pictures { size, channels, mean, std, reducing_gap, .. } = *self;
        PictureSpec { size, channels, mean, std, reducing_gap, matrix: colors.unwrap_or(ColorMatrix::IDENTITY) }
    }

    /// The shape of a batch of this many clips and frames.
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

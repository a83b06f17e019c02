//! Encodes planes to tiled baseline JPEGs.

use std::fmt;

use super::turbo::{Compressor, Yuv420};
use crate::Planes;
use crate::encode::RateDistortionEncoder;
use crate::region::MCU_SIDE;
use crate::tiles::restart_interval;
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

/// A JPEG encoder that keeps its buffers. Create one for each thread, and reuse it for every frame.
///
/// The same picture and quality produce the same bytes on every platform on which libjpeg-turbo's accurate DCT
/// runs.
///
/// ```
/// let picture = vidrec_jpeg::Planes::new(340, 256)?;
/// let mut encoder = vidrec_jpeg::Encoder::new(90)?;
/// let mut jpeg = Vec::new();
/// encoder.encode(&picture, &mut jpeg)?;
/// assert_eq!(jpeg[..2], [0xFF, 0xD8]);
/// # Ok::<(), vidrec_jpeg::Error>(())
/// ```
pub struct Encoder {
    compressor: Compressor,
    quality: u8,
    /// The encoder that replaces libjpeg-turbo, with effort.
    rate_distortion: Option<Box<RateDistortionEncoder>>,
    /// A buffer with room for the largest JPEG so far. The caller's vector gets a copy of the right size.
    target: Vec<u8>,
    /// Luma with even sides, for pictures with odd sides.
    padded: Vec<u8>,
    /// Whether restart markers cut the picture into tiles.
    tiled: bool,
}

impl Encoder {
    /// Creates an encoder with libjpeg's `quality`, 1 (smallest) to 100 (best). 90 is a good choice for training.
    ///
    /// # Errors
    ///
    /// The quality is outside 1 to 100.
    pub fn new(quality: u8) -> Result<Self> {
        if !(1..=100).contains(&quality) {
            return Err(Error::usage(format!("the JPEG quality {quality} is out of range")).help("use 1 to 100"));
        }
        Ok(Encoder {
            compressor: Compressor::new(quality)?,
            quality,
            rate_distortion: None,
            target: Vec::new(),
            padded: Vec::new(),
            tiled: true,
        })
    }

    /// Sets the amount of work for each picture. 0, the default, is libjpeg-turbo. 1 makes files a fifth smaller
    /// at the same PSNR, and takes longer. It uses quantizers of our own, coefficients chosen by their cost, and
    /// Huffman tables that the pictures of a clip share. Call [`start_clip`](Self::start_clip) before each clip.
    ///
    /// # Errors
    ///
    /// The effort is above [`MAX_EFFORT`](Self::MAX_EFFORT).
    pub fn set_effort(&mut self, effort: u8) -> Result<()> {
        if effort > Self::MAX_EFFORT {
            return Err(Error::usage(format!("the effort {effort} is out of range")).help("use 0 or 1"));
        }
        self.rate_distortion = (effort > 0).then(|| Box::new(RateDistortionEncoder::new(self.quality)));
        Ok(())
    }

    /// The maximum effort.
    pub const MAX_EFFORT: u8 = 1;

    /// Declares that the next picture has nothing to do with those before it. With effort, a picture uses the
    /// Huffman tables of the one before it if it can. Its bytes therefore depend on the pictures since the start
    /// of the clip.
    pub fn start_clip(&mut self) {
        if let Some(rate_distortion) = &mut self.rate_distortion {
            rate_distortion.start_clip();
        }
    }

    /// Turns restart markers off for pictures that are always decoded whole. The files are a few percent smaller, and the
    /// pixels are the same.
    pub fn without_tiles(self) -> Self {
        Encoder { tiled: false, rate_distortion: None, ..self }
    }

    /// Replaces the contents of `jpeg` by the encoded `picture`.
    ///
    /// # Errors
    ///
    /// The lengths of the planes do not match their size (they are public fields), or there is no memory.
    pub fn encode(&mut self, picture: &Planes, jpeg: &mut Vec<u8>) -> Result<()> {
        let (width, height) = (picture.width(), picture.height());
        if let Some(rate_distortion) = &mut self.rate_distortion {
            return rate_distortion.encode(picture, restart_interval(width), jpeg);
        }
        let luma = if width % 2 == 0 && height % 2 == 0 {
            &picture.y
        } else {
            self.pad_luma(picture)?;
            &self.padded
        };
        let planes = Yuv420 { width, height, planes: [&luma[..], &picture.cb, &picture.cr] };
        let room = largest_jpeg(width, height);
        if self.target.len() < room {
            allocation::resize(&mut self.target, room, 0, "an encoded picture")?;
        }
        let restart = if self.tiled { restart_interval(width) } else { 0 };
        let length = self.compressor.compress(&planes, restart, &mut self.target)?;
        jpeg.clear();
        allocation::reserve(jpeg, length, "a JPEG")?;
        jpeg.extend_from_slice(&self.target[..length]);
        Ok(())
    }

    /// Copies luma into `padded`, and repeats the last column and row to make both sides even.
    fn pad_luma(&mut self, picture: &Planes) -> Result<()> {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        if picture.y.len() != width * height {
            return Err(Error::usage("the length of the luma plane does not fit the size of the picture"));
        }
        self.padded.clear();
        allocation::reserve(&mut self.padded, width.next_multiple_of(2) * height.next_multiple_of(2), "a picture")?;
        for y in 0..height.next_multiple_of(2) {
            let row = &picture.y[y.min(height - 1) * width..][..width];
            self.padded.extend_from_slice(row);
            self.padded.extend(row.last().filter(|_| width % 2 == 1));
        }
        Ok(())
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// A number of bytes that is enough for any JPEG of this size.
///
/// A Huffman code and its bits take at most 26 bits a coefficient at 8-bit precision (T.81, tables K.5 and F.2). A
/// block cannot have more than a few coefficients of that length, because its energy is bounded (Parseval). This
/// leaves room for stuffed bytes. An MCU has 384 coefficients and at most 3 bytes of restart marker and padding. A
/// kilobyte covers the header. If the bound were wrong, the compressor would report it: it never writes past the
/// end.
fn largest_jpeg(width: u32, height: u32) -> usize {
    const BYTES_PER_MCU: usize = 384 * 26 / 8 + 3;
    let mcus = width.div_ceil(MCU_SIDE) as usize * height.div_ceil(MCU_SIDE) as usize;
    1024 + mcus * BYTES_PER_MCU
}

#[cfg(test)]
mod tests {
    use super::super::Decoder;
    use super::*;
    use crate::fuzzing::{self, encoded};
    use crate::quality::psnr;

    fn picture(width: u32, height: u32) -> Planes {
        fuzzing::picture(width, height, 9)
    }

    const SIZES: [(u32, u32); 14] = [
        (1, 1),
        (1, 2),
        (2, 1),
        (3, 5),
        (15, 17),
        (16, 16),
        (17, 16),
        (31, 33),
        (32, 16),
        (33, 47),
        (48, 64),
        (64, 1),
        (97, 61),
        (340, 256),
    ];

    #[test]
    fn every_size_decodes_to_nearly_the_picture_that_went_in() {
        for (width, height) in SIZES {
            for effort in [0, 1] {
                let (mut encoder, before, mut jpeg) = (Encoder::new(95).unwrap(), picture(width, height), Vec::new());
                encoder.set_effort(effort).unwrap();
                encoder.encode(&before, &mut jpeg).unwrap();
                let mut after = Planes::new(1, 1).unwrap();
                Decoder::new().unwrap().decode_planes(&jpeg, &mut after).unwrap();
                assert_eq!((after.width(), after.height()), (width, height));
                for (a, b) in [(&before.y, &after.y), (&before.cb, &after.cb), (&before.cr, &after.cr)] {
                    assert!(psnr(a, b) > 33.0, "{width}x{height}, effort {effort}: {} dB", psnr(a, b));
                }
            }
        }
    }

    #[test]
    fn a_reused_encoder_gives_the_same_bytes_as_a_new_one() {
        let mut encoder = Encoder::new(90).unwrap();
        let mut jpeg = Vec::new();
        for (width, height) in SIZES.into_iter().rev().chain(SIZES) {
            encoder.encode(&picture(width, height), &mut jpeg).unwrap();
            assert_eq!(jpeg, encoded(&picture(width, height), 90), "{width}x{height}");
        }
    }

    #[test]
    fn planes_of_the_wrong_length_are_an_error() {
        for (width, height) in [(16, 16), (17, 15)] {
            let mut bad = picture(width, height);
            bad.y.pop();
            assert!(Encoder::new(90).unwrap().encode(&bad, &mut Vec::new()).is_err());
            let mut bad = picture(width, height);
            bad.cr.push(0);
            assert!(Encoder::new(90).unwrap().encode(&bad, &mut Vec::new()).is_err());
        }
    }
}

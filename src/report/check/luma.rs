//! The luma of frames, decoded small.

use image::GrayImage;

use crate::{Error, Result};
use vidrec_format::allocation;
use vidrec_jpeg::{Pixels, Region, RegionDecoder, Scale};

/// The size at which a frame is decoded: the number of pixels to keep on its shorter side, if it has that many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Enough to judge the light of a frame and its changes.
    Coarse = 32,
    /// Enough to hash a frame: several pixels for each of the 32 that the hash uses. A copy of another size, whose
    /// pixels lie elsewhere, then has nearly the same hash.
    Fine = 128,
}

/// Decodes frames at a fraction of their size. There is one per thread, reused for every frame.
pub(super) struct LumaDecoder {
    decoder: RegionDecoder,
    planes: [Vec<u8>; 3],
    rgb: Vec<u8>,
}

impl LumaDecoder {
    pub fn new() -> Result<Self> {
        let decoder = RegionDecoder::new()?;
        Ok(LumaDecoder { decoder, planes: Default::default(), rgb: Vec::new() })
    }

    /// Decodes the luma of a JPEG.
    ///
    /// # Errors
    ///
    /// The data is not a JPEG or is damaged, the image is beyond [`limits`](vidrec_format::limits), or there is no
    /// memory.
    pub fn decode(&mut self, jpeg: &[u8], detail: Detail) -> Result<GrayImage> {
        let format = self.decoder.format(jpeg)?;
        let (scale, whole) = (scale_of(format.size, detail), Region::whole(format.size));
        let (width, height) = (scale.side(format.size.0), scale.side(format.size.1));
        let mut luma = Vec::new();
        allocation::resize(&mut luma, width as usize * height as usize, 0, "a decoded picture")?;
        match format.pixels {
            Pixels::Ycc420 => {
                let cut = self.decoder.planes(jpeg, whole, scale, &mut self.planes)?;
                let rows = self.planes[0].chunks(cut.luma_pitch(scale));
                let to = luma.chunks_exact_mut(width as usize);
                to.zip(rows).for_each(|(to, from)| to.copy_from_slice(&from[..to.len()]));
            }
            Pixels::Other => {
                let cut = self.decoder.rgb(jpeg, format.size, whole, &mut self.rgb)?;
                shrink(&self.rgb, cut.region.width as usize, format.size, scale, &mut luma);
            }
        }
        GrayImage::from_raw(width, height, luma).ok_or_else(|| Error::internal("a decoded picture has another size"))
    }
}

/// Returns the smallest scale at which the shorter side has this many pixels; otherwise the full size.
fn scale_of((width, height): (u32, u32), detail: Detail) -> Scale {
    let fits = |scale: &Scale| scale.side(width.min(height)) >= detail as u32;
    Scale::ALL.into_iter().rev().find(fits).unwrap_or(Scale::Full)
}

/// Averages the luma (BT.601, as in JFIF) of squares of RGB pixels, `pitch` of them in a row.
fn shrink(rgb: &[u8], pitch: usize, (width, height): (u32, u32), scale: Scale, luma: &mut [u8]) {
    let (width, height, step) = (width as usize, height as usize, scale.step() as usize);
    let pitch_out = width.div_ceil(step);
    for (i, pixel) in luma.iter_mut().enumerate() {
        let (x, y) = (i % pitch_out * step, i / pitch_out * step);
        let (columns, rows) = (x..(x + step).min(width), y..(y + step).min(height));
        let count = (columns.len() * rows.len()) as u32;
        let row = |y: usize| &rgb[(y * pitch + columns.start) * 3..(y * pitch + columns.end) * 3];
        let pixels = rows.flat_map(|y| row(y).chunks_exact(3));
        let sum: u32 =
            pixels.map(|p| (299 * u32::from(p[0]) + 587 * u32::from(p[1]) + 114 * u32::from(p[2])) / 1000).sum();
        *pixel = (sum / count.max(1)) as u8;
    }
}

/// The lowest luma of a white pixel. It is below 255 because sensors and encoders that clip rarely reach 255 in
/// the mean of 8 x 8 pixels.
pub(super) const WHITE: u8 = 250;

/// Returns the luma that each of these shares of the pixels, in percent, does not exceed, and the share of white pixels.
pub(super) fn percentiles<const N: usize>(luma: &GrayImage, percents: [u64; N]) -> ([u8; N], f64) {
    let mut counts = [0u32; 256];
    luma.iter().for_each(|&luma| counts[usize::from(luma)] += 1);
    let total = luma.len() as u64;
    let percentile = |percent: u64| {
        let mut seen = 0u64;
        let reaches = |&luma: &usize| {
            seen += u64::from(counts[luma]);
            seen * 100 >= total * percent
        };
        (0..256).find(reaches).unwrap_or(255) as u8
    };
    let white: u32 = counts[usize::from(WHITE)..].iter().sum();
    (percents.map(percentile), f64::from(white) / total.max(1) as f64)
}

/// Returns the largest difference between a pixel and that of another frame; 255 if the frames have different sizes.
pub(super) fn largest_change(one: &GrayImage, other: &GrayImage) -> u8 {
    if one.dimensions() != other.dimensions() {
        return 255;
    }
    one.iter().zip(other.iter()).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_without_planes_give_the_same_luma() {
        let mut gray = image::GrayImage::new(256, 256);
        gray.enumerate_pixels_mut().for_each(|(x, y, p)| p.0 = [((x + y) / 2) as u8]);
        let mut jpeg = Vec::new();
        image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 95).encode_image(&gray).unwrap();
        let luma = LumaDecoder::new().unwrap().decode(&jpeg, Detail::Coarse).unwrap();
        assert_eq!(luma.dimensions(), (32, 32));
        let expected = |i: usize| (i % 32 * 8 + i / 32 * 8 + 7) / 2;
        assert!(luma.iter().enumerate().all(|(i, &pixel)| usize::from(pixel).abs_diff(expected(i)) < 3));
    }
}

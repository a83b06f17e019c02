//! Frames as small pictures, and the frames of a clip side by side in one small JPEG.

use image::{Rgb, RgbImage, imageops};
use serde::Serialize;
use turbojpeg::{Compressor, Subsamp};

use crate::{Clip, Error, ErrorKind, Frame, Result};
use vidrec_format::sampler::uniform;
use vidrec_jpeg::Decoder;

/// The largest ratio of width to height of a thumbnail.
const WIDEST: u32 = 4;

/// Decodes a frame to at most `height` rows. A frame is never enlarged, and one that is very wide gets fewer rows.
///
/// # Errors
///
/// A checksum does not match, or the JPEG is damaged.
pub(crate) fn thumbnail(frame: &Frame<'_>, height: u32, decoder: &mut Decoder) -> Result<RgbImage> {
    frame.check()?;
    let full = decoder.decode_picture(frame.jpeg()).map_err(|e| frame.place(e))?;
    let (width, rows) = (u64::from(full.width), u64::from(full.height));
    let high = u64::from(height).min(rows).min(u64::from(WIDEST * height) * rows / width).max(1);
    let wide = (width * high / rows).clamp(1, u64::from(WIDEST * height));
    let full = RgbImage::from_raw(full.width, full.height, full.pixels)
        .ok_or_else(|| Error::internal("a decoded picture has another size than its header says"))?;
    Ok(imageops::thumbnail(&full, wide as u32, high as u32))
}

/// The size of strips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StripSize {
    /// The most rows of a frame.
    pub height: u32,
    /// The most frames in a strip. Longer clips show some of their frames, evenly spread.
    pub frames: u32,
    /// JPEG quality.
    pub quality: u8,
}

impl StripSize {
    /// All sizes, from the best to the smallest.
    pub const ALL: [StripSize; 6] = [
        StripSize { height: 128, frames: 16, quality: 75 },
        StripSize { height: 96, frames: 16, quality: 70 },
        StripSize { height: 96, frames: 8, quality: 65 },
        StripSize { height: 72, frames: 8, quality: 60 },
        StripSize { height: 64, frames: 5, quality: 50 },
        StripSize { height: 48, frames: 3, quality: 45 },
    ];
}

/// A strip, as the page describes it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Strip {
    #[serde(skip)]
    pub jpeg: Vec<u8>,
    /// The width of a frame in pixels.
    width: u32,
    /// The height of a frame in pixels.
    height: u32,
    /// The number of pixels from the left edge of one frame to that of the next.
    pitch: u32,
    /// The frames in the strip.
    pub frames: Vec<u32>,
    /// Their times in seconds.
    times: Vec<f64>,
    /// The frames among them that cannot be decoded. They are gray.
    damaged: Vec<u32>,
}

/// The columns of a block of a 4:2:0 JPEG. Frames that start at a multiple do not bleed into each other.
const BLOCK: u32 = 16;

/// The color of a frame that cannot be decoded.
const GRAY: Rgb<u8> = Rgb([96; 3]);

impl Strip {
    /// Draws the strip of a clip; `None` if the clip has no frames. Damaged frames are gray.
    ///
    /// # Errors
    ///
    /// Those of the machine or the network, not those of a frame.
    pub fn of(clip: &Clip<'_>, size: StripSize, decoder: &mut Decoder) -> Result<Option<Self>> {
        let count = clip.frame_count();
        let frames = uniform(count, count.min(size.frames));
        let (mut pictures, mut damaged, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for &t in &frames {
            times.push((clip.seconds(t)? * 1e3).round() / 1e3);
            match clip.frame(t).and_then(|frame| thumbnail(&frame, size.height, decoder)) {
                Ok(picture) => pictures.push(Some(picture)),
                Err(e) if matches!(e.kind(), ErrorKind::Format | ErrorKind::Decode | ErrorKind::Limit) => {
                    damaged.push(t);
                    pictures.push(None);
                }
                Err(e) => return Err(e),
            }
        }
        if frames.is_empty() {
            return Ok(None);
        }
        let first = pictures.iter().flatten().map(RgbImage::dimensions).next();
        let (width, height) = first.unwrap_or((size.height, size.height));
        let pitch = width.next_multiple_of(BLOCK);
        let mut sheet = RgbImage::from_pixel(pitch * frames.len() as u32, height, GRAY);
        for (at, picture) in (0..).zip(&pictures) {
            picture.iter().for_each(|picture| draw(&mut sheet, at * pitch, pitch, picture));
        }
        let jpeg = encoded(&sheet, size.quality).map_err(|e| Error::internal(format!("a strip: {e}")))?;
        Ok(Some(Strip { jpeg, width, height, pitch, frames, times, damaged }))
    }
}

/// Draws a picture into the `width` columns from `left` on. What does not fit is cut off, and the last column is repeated.
fn draw(sheet: &mut RgbImage, left: u32, width: u32, picture: &RgbImage) {
    let (shown, rows) = (picture.width().min(width), picture.height().min(sheet.height()));
    let part = imageops::crop_imm(picture, 0, 0, shown, rows);
    imageops::replace(sheet, &*part, left.into(), 0);
    for (x, y) in (shown..width).flat_map(|x| (0..rows).map(move |y| (x, y))) {
        sheet.put_pixel(left + x, y, *picture.get_pixel(shown - 1, y));
    }
}

fn encoded(picture: &RgbImage, quality: u8) -> turbojpeg::Result<Vec<u8>> {
    let mut encoder = Compressor::new()?;
    encoder.set_quality(quality.into())?;
    encoder.set_subsamp(Subsamp::Sub2x2)?;
    encoder.set_optimize(true)?;
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    encoder.compress_to_vec(turbojpeg::Image {
        pixels: picture.as_raw().as_slice(),
        width,
        pitch: 3 * width,
        height,
        format: turbojpeg::PixelFormat::RGB,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vidrec_core::dataset::Dataset;
    use vidrec_core::dataset::writer::{ClipInfo, FrameData, Writer, WriterOptions};
    use vidrec_jpeg::Encoder;
    use vidrec_jpeg::Planes;

    /// A picture of one gray.
    fn gray(size: (u32, u32), luma: u8) -> Vec<u8> {
        let mut picture = Planes::new(size.0, size.1).unwrap();
        picture.y.fill(luma);
        let mut jpeg = Vec::new();
        Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
        jpeg
    }

    fn strip_of(jpegs: &[Vec<u8>], size: StripSize) -> Strip {
        let temp = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(temp.path().join("set"), WriterOptions::default()).unwrap();
        let frames: Vec<_> = jpegs.iter().map(|jpeg| FrameData { jpeg, pts: 0, source_index: None }).collect();
        writer.append(&ClipInfo::default(), &frames).unwrap();
        writer.finish().unwrap();
        let set = Dataset::open(temp.path().join("set")).unwrap();
        Strip::of(&set.clip(0).unwrap(), size, &mut Decoder::new().unwrap()).unwrap().unwrap()
    }

    #[test]
    fn frames_lie_side_by_side_and_long_clips_are_thinned() {
        let jpegs: Vec<_> = (0..20).map(|t| gray((340, 256), t * 12)).collect();
        let strip = strip_of(&jpegs, StripSize { height: 96, frames: 4, quality: 90 });
        assert_eq!((strip.width, strip.height, strip.pitch, &*strip.frames), (127, 96, 128, &[2, 7, 12, 17][..]));
        let picture = Decoder::new().unwrap().decode_picture(&strip.jpeg).unwrap();
        assert_eq!((picture.width, picture.height), (4 * 128, 96));
        for (at, t) in [2, 7, 12, 17].into_iter().enumerate() {
            for x in [0, 64, 127] {
                let found = picture.pixels[(48 * 512 + at * 128 + x) * 3];
                assert!(found.abs_diff(t * 12) <= 3, "{found} for {}", t * 12);
            }
        }
    }

    #[test]
    fn a_picture_of_any_size_has_its_place() {
        for (width, height) in [(1, 1), (1, 900), (900, 1), (3, 2), (95, 97), (2000, 40), (33, 1000)] {
            let strip = strip_of(&[gray((width, height), 128), gray((64, 48), 10)], StripSize::ALL[1]);
            assert!(strip.width <= 4 * 96 && strip.height <= 96 && strip.damaged.is_empty(), "{width}x{height}");
        }
    }
}

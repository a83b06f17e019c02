//! Puts the frames of a clip side by side in one small JPEG.

use serde::Serialize;

use super::shrink::Channel;
use vidrec_core::dataset::{Clip, Frame};
use vidrec_format::error::{Error, ErrorKind, Result};
use vidrec_format::sampler::uniform;
use vidrec_jpeg::Planes;
use vidrec_jpeg::{Encoder, JpegDecoder, Pixels, Region, RegionDecoder, Scale};

/// The size of strips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct StripSize {
    /// The height of a frame in pixels.
    pub height: u32,
    /// The most frames in a strip. Longer clips show some of their frames, evenly spread.
    pub frames: u32,
    /// JPEG quality.
    pub quality: u8,
}

impl StripSize {
    /// All sizes, from the best to the smallest.
    pub const ALL: [StripSize; 9] = [
        StripSize { height: 96, frames: 16, quality: 70 },
        StripSize { height: 96, frames: 12, quality: 70 },
        StripSize { height: 96, frames: 8, quality: 70 },
        StripSize { height: 96, frames: 8, quality: 60 },
        StripSize { height: 80, frames: 8, quality: 60 },
        StripSize { height: 72, frames: 6, quality: 60 },
        StripSize { height: 64, frames: 6, quality: 50 },
        StripSize { height: 64, frames: 4, quality: 50 },
        StripSize { height: 48, frames: 3, quality: 45 },
    ];

    /// Returns the size of the strips that are shown when somebody opens a clip. They have the same frames.
    pub fn opened(self) -> Self {
        StripSize { height: 256, quality: 75, ..self }
    }

    /// Returns the next smaller size.
    pub fn smaller(self) -> Option<Self> {
        Self::ALL.into_iter().skip_while(|&size| size != self).nth(1)
    }
}

/// A strip.
#[derive(Debug, Clone)]
pub(super) struct Strip {
    pub jpeg: Vec<u8>,
    /// The width and height of a frame in pixels.
    pub frame: (u32, u32),
    /// The number of pixels from the left edge of one frame to that of the next.
    pub pitch: u32,
    /// The frames in the strip.
    pub frames: Vec<u32>,
    /// The frames among them that cannot be decoded. They are gray.
    pub damaged: Vec<u32>,
}

/// The largest ratio of width to height of a frame in a strip.
const WIDEST: u32 = 4;
/// The columns and rows of a block of a 4:2:0 JPEG. Frames that start at a multiple do not bleed into each other.
const BLOCK: u32 = 16;

/// Makes strips. There is one per thread.
pub(super) struct StripMaker {
    decoder: RegionDecoder,
    encoder: Encoder,
    size: StripSize,
    planes: [Vec<u8>; 3],
    rgb: Vec<u8>,
    record: Vec<u8>,
}

impl StripMaker {
    pub fn new(size: StripSize) -> Result<Self> {
        let mut encoder = Encoder::new(size.quality)?.without_tiles();
        encoder.optimize_tables(true)?;
        let decoder = RegionDecoder::new(JpegDecoder::Auto)?;
        Ok(StripMaker { decoder, encoder, size, planes: Default::default(), rgb: Vec::new(), record: Vec::new() })
    }

    /// Returns the strip of a clip; `None` if the clip has no frames. The strip lists damaged frames.
    ///
    /// # Errors
    ///
    /// Faults of the machine.
    pub fn strip(&mut self, clip: &Clip<'_>) -> Result<Option<Strip>> {
        let count = clip.frame_count();
        let frames = uniform(count, count.min(self.size.frames));
        if frames.is_empty() {
            return Ok(None);
        }
        let (mut pictures, mut damaged) = (Vec::with_capacity(frames.len()), Vec::new());
        for &t in &frames {
            match self.frame(clip, t) {
                Ok(picture) => pictures.push(Some(picture)),
                Err(e) if is_of_the_frame(&e) => {
                    damaged.push(t);
                    pictures.push(None);
                }
                Err(e) => return Err(e),
            }
        }
        let stated = (clip.width() > 0 && clip.height() > 0).then(|| (clip.width(), clip.height()));
        let first = pictures.iter().flatten().map(|p| (p.width(), p.height())).next();
        let frame = first.or(stated.map(|size| self.fitted(size))).unwrap_or((self.size.height, self.size.height));
        let pitch = frame.0.next_multiple_of(BLOCK);
        let mut sheet = Planes::new(pitch * frames.len() as u32, frame.1)?;
        for (at, picture) in (0..).zip(&pictures) {
            draw(&mut sheet, at * pitch, (pitch, frame.1), picture.as_ref());
        }
        let mut jpeg = Vec::new();
        self.encoder.encode(&sheet, &mut jpeg)?;
        Ok(Some(Strip { jpeg, frame, pitch, frames, damaged }))
    }

    /// Returns a frame at its size in the strip.
    fn frame(&mut self, clip: &Clip<'_>, t: u32) -> Result<Planes> {
        let mut record = std::mem::take(&mut self.record);
        let picture = clip.frame_with(t, &mut record).and_then(|frame| self.small(&frame));
        self.record = record;
        picture
    }

    fn small(&mut self, frame: &Frame<'_>) -> Result<Planes> {
        frame.check()?;
        let jpeg = frame.jpeg();
        let format = self.decoder.format(jpeg)?;
        let target = self.fitted(format.size);
        let mut small = Planes::new(target.0, target.1)?;
        let luma = (target.0 as usize, target.1 as usize);
        let chroma = (small.chroma_width() as usize, small.chroma_height() as usize);
        let whole = Region::whole(format.size);
        if format.pixels == Pixels::Ycc420 {
            let enough =
                |scale: &&Scale| scale.side(format.size.0) >= target.0 && scale.side(format.size.1) >= target.1;
            let scale = *Scale::ALL.iter().rev().find(enough).unwrap_or(&Scale::Full);
            let cut = self.decoder.planes(jpeg, whole, scale, &mut self.planes)?;
            let size = (scale.side(format.size.0) as usize, scale.side(format.size.1) as usize);
            let pitch = cut.luma_pitch(scale);
            let half = (size.0.div_ceil(2), size.1.div_ceil(2));
            let [y, cb, cr] = &self.planes;
            small.y = Channel { samples: y, size, step: 1, pitch }.resized(luma);
            small.cb = Channel { samples: cb, size: half, step: 1, pitch: pitch / 2 }.resized(chroma);
            small.cr = Channel { samples: cr, size: half, step: 1, pitch: pitch / 2 }.resized(chroma);
        } else {
            let cut = self.decoder.rgb(jpeg, format.size, whole, &mut self.rgb)?;
            let size = (format.size.0 as usize, format.size.1 as usize);
            let pitch = 3 * cut.region.width as usize;
            let at = |size_out| {
                [0, 1, 2].map(|c| Channel { samples: &self.rgb[c..], size, step: 3, pitch }.resized(size_out))
            };
            small.y = mixed(&at(luma), [0.299, 0.587, 0.114], 0.0);
            let halves = at(chroma);
            small.cb = mixed(&halves, [-0.168_736, -0.331_264, 0.5], 128.0);
            small.cr = mixed(&halves, [0.5, -0.418_688, -0.081_312], 128.0);
        }
        Ok(small)
    }

    /// Returns the size of a frame in the strip: as high as the strip, but never enlarged, and with even sides.
    fn fitted(&self, (width, height): (u32, u32)) -> (u32, u32) {
        let most = (WIDEST * self.size.height).min(width.max(1));
        let mut high = self.size.height.min(height.max(1));
        let of = |high: u32| (u64::from(width) * u64::from(high) / u64::from(height.max(1))).max(1);
        if of(high) > u64::from(most) {
            high = (u64::from(high) * u64::from(most) / of(high)).max(1) as u32;
        }
        ((of(high) as u32).clamp(1, most).next_multiple_of(2), high.next_multiple_of(2))
    }
}

/// Whether the error means only that this frame cannot be shown. Other errors end the work.
fn is_of_the_frame(e: &Error) -> bool {
    matches!(e.kind(), ErrorKind::Format | ErrorKind::Decode | ErrorKind::Limit)
}

/// Returns a weighted sum of three channels (BT.601, full range, as in JFIF).
fn mixed([r, g, b]: &[Vec<u8>; 3], weights: [f32; 3], offset: f32) -> Vec<u8> {
    let sum = |((r, g), b): ((&u8, &u8), &u8)| {
        let sum = [r, g, b].iter().zip(weights).map(|(&&v, weight)| f32::from(v) * weight).sum::<f32>();
        (sum + offset + 0.5).clamp(0.0, 255.0) as u8
    };
    r.iter().zip(g).zip(b).map(sum).collect()
}

/// The luma of a frame that cannot be decoded.
const GRAY: u8 = 96;

/// Draws a picture into the cell of the sheet that starts at column `left`. A part that does not fit is cut off,
/// and a missing part stays black. The last column of the picture is repeated up to the next cell. Without a
/// picture, the cell is gray.
fn draw(sheet: &mut Planes, left: u32, (width, height): (u32, u32), picture: Option<&Planes>) {
    let row = sheet.width() as usize;
    let Some(picture) = picture else {
        sheet.y.chunks_exact_mut(row).for_each(|row| row[left as usize..(left + width) as usize].fill(GRAY));
        return;
    };
    // All sides are even.
    let top = height.saturating_sub(picture.height()) / 4 * 2;
    let planes = [(&mut sheet.y, &picture.y, 1), (&mut sheet.cb, &picture.cb, 2), (&mut sheet.cr, &picture.cr, 2)];
    for (to, from, divisor) in planes {
        let part = |side: u32| (side / divisor) as usize;
        let cell = part(left)..part(left + width);
        let rows = to.chunks_exact_mut(row / divisor as usize).skip(part(top));
        for (to, from) in rows.zip(from.chunks_exact(part(picture.width()))) {
            let to = &mut to[cell.clone()];
            let shown = to.len().min(from.len());
            to[..shown].copy_from_slice(&from[..shown]);
            to[shown..].fill(from[shown - 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vidrec_core::dataset::Dataset;
    use vidrec_core::dataset::writer::{ClipInfo, FrameData, Writer, WriterOptions};
    use vidrec_jpeg::Decoder;

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
        StripMaker::new(size).unwrap().strip(&set.clip(0).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn frames_lie_side_by_side_and_long_clips_are_thinned() {
        let jpegs: Vec<_> = (0..20).map(|t| gray((340, 256), t * 12)).collect();
        let size = StripSize { height: 96, frames: 4, quality: 90 };
        let strip = strip_of(&jpegs, size);
        assert_eq!((strip.frame, strip.pitch, strip.frames.as_slice()), ((128, 96), 128, &[2, 7, 12, 17][..]));
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
    fn no_size_of_a_picture_is_too_odd() {
        let size = StripSize::ALL[0];
        for (width, height) in [(1, 1), (1, 900), (900, 1), (3, 2), (95, 97), (2000, 40), (33, 1000)] {
            let strip = strip_of(&[gray((width, height), 128), gray((64, 48), 10)], size);
            assert!(strip.frame.0 <= 4 * 96 + 2 && strip.frame.1 <= 96, "{width}x{height}: {:?}", strip.frame);
            assert!(strip.frame.0.is_multiple_of(2) && strip.frame.1.is_multiple_of(2) && strip.damaged.is_empty());
        }
    }
}

//! Encodes each picture at the lowest quality at which it is similar enough to the original.

use std::time::{Duration, Instant};

use super::codec::{Decoder, Encoder, RgbPicture};
use super::measure::{QualityTarget, Scores, psnr};
use vidrec_format::error::Result;
use vidrec_format::planes::Planes;

/// A picture that was encoded and measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The quality of the JPEG, on the encoder's scale.
    pub quality: u8,
    /// The similarity of the JPEG to the original.
    pub scores: Scores,
    /// The peak signal-to-noise ratio of RGB in dB, if it was measured: [`MeasuredEncoder::rgb_psnr`].
    pub rgb_psnr: Option<f64>,
    /// The time that the measurement took.
    pub took: Duration,
}

/// Encodes pictures and measures the results. It keeps its buffers.
pub struct MeasuredEncoder {
    encoder: Encoder,
    decoder: Decoder,
    /// The picture after encoding and decoding.
    after: Planes,
    rgb: RgbPicture,
    /// A JPEG that may be too large.
    tried: Vec<u8>,
}

/// The quality at which the search for the first picture begins.
const FIRST: u8 = 88;
const MOST: u8 = 100;

impl MeasuredEncoder {
    /// Creates a measuring encoder from `encoder`.
    pub fn new(encoder: Encoder) -> Result<Self> {
        let (decoder, after, rgb) = (Decoder::new()?, Planes::new(1, 1)?, RgbPicture::default());
        Ok(MeasuredEncoder { encoder, decoder, after, rgb, tried: Vec::new() })
    }

    /// Encodes `picture` at the encoder's own quality.
    pub fn encode(&mut self, picture: &Planes, jpeg: &mut Vec<u8>) -> Result<Measured> {
        self.encoder.encode(picture, jpeg)?;
        let started = Instant::now();
        self.decoder.decode_planes(jpeg, &mut self.after)?;
        let scores = Scores::of(picture, &self.after);
        Ok(Measured { quality: self.encoder.quality(), scores, rgb_psnr: None, took: started.elapsed() })
    }

    /// Returns how near a JPEG is to this RGB picture of the same size, 3 bytes a pixel: the peak signal-to-noise ratio in
    /// dB. It includes what was lost before encoding, when the picture became 4:2:0.
    pub fn rgb_psnr(&mut self, before: &[u8], jpeg: &[u8]) -> Result<f64> {
        self.decoder.decode_picture_into(jpeg, &mut self.rgb)?;
        Ok(psnr(before, &self.rgb.pixels))
    }

    /// Encodes `picture` at the lowest quality that reaches `target`, or at the best quality if none does.
    ///
    /// The search begins at `near`, the quality of the picture before, which is usually right or one off. A score
    /// need not rise with every step of quality. The result reaches the target in any case, and the next lower
    /// quality does not.
    pub fn search(
        &mut self,
        picture: &Planes,
        target: QualityTarget,
        near: Option<u8>,
        jpeg: &mut Vec<u8>,
    ) -> Result<Measured> {
        let start = self.encoder.state();
        let mut best = None;
        // All qualities up to `fails` are too low.
        let (mut fails, mut quality, mut step) = (0u8, near.unwrap_or(FIRST), 1u8);
        loop {
            self.encoder.set_state(&start);
            self.encoder.set_quality(quality)?;
            let mut tried = std::mem::take(&mut self.tried);
            let measured = self.encode(picture, &mut tried);
            self.tried = tried;
            let measured = measured?;
            if target.is_reached(&measured.scores) || quality == MOST {
                std::mem::swap(jpeg, &mut self.tried);
                best = Some((measured, self.encoder.state()));
            } else {
                fails = quality;
            }
            // The steps grow until the answer is in between, then halve what is left.
            let lowest = best.as_ref().map(|(best, _)| best.quality);
            quality = match lowest {
                Some(lowest) if lowest - fails == 1 => break,
                Some(lowest) if fails > 0 => fails + (lowest - fails) / 2,
                Some(lowest) => lowest.saturating_sub(step).max(1),
                None => fails.saturating_add(step).min(MOST),
            };
            step = step.saturating_mul(2);
        }
        let (measured, state) = best.ok_or_else(|| vidrec_format::error::Error::internal("a search without an end"))?;
        self.encoder.set_state(&state);
        Ok(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vidrec_format::random::Random;

    fn picture(t: u32) -> Planes {
        let mut random = Random::new(4, &[t.into()]);
        let mut picture = Planes::new(96, 64).unwrap();
        let wave = |i: usize| 120.0 + 70.0 * (f64::from(i as u32 % 96 + t) / 6.0).sin();
        picture.y = (0..96 * 64).map(|i| (wave(i) + f64::from(random.next_u32() % 25)) as u8).collect();
        picture
    }

    fn encoder(effort: u8) -> MeasuredEncoder {
        let mut encoder = Encoder::new(90).unwrap();
        encoder.set_effort(effort).unwrap();
        MeasuredEncoder::new(encoder).unwrap()
    }

    #[test]
    fn the_lowest_quality_that_reaches_the_target_is_found_from_anywhere() {
        for target in [QualityTarget::Psnr(32.0), QualityTarget::Psnr(41.5), QualityTarget::Ssim(0.97)] {
            let mut all = Vec::new();
            for quality in 1..=100 {
                let mut encoder = Encoder::new(quality).unwrap();
                encoder.set_effort(0).unwrap();
                let measured = MeasuredEncoder::new(encoder).unwrap().encode(&picture(0), &mut Vec::new()).unwrap();
                all.push(target.is_reached(&measured.scores));
            }
            for near in [None, Some(1), Some(37), Some(99), Some(100)] {
                let (mut jpeg, mut plain) = (Vec::new(), Vec::new());
                let found = encoder(0).search(&picture(0), target, near, &mut jpeg).unwrap();
                assert!(target.is_reached(&found.scores));
                assert!(!all[usize::from(found.quality) - 2], "{target}: {found:?} from {near:?}");
                Encoder::new(found.quality).unwrap().encode(&picture(0), &mut plain).unwrap();
                assert!(jpeg == plain, "the JPEG is that of the quality found");
            }
        }
    }

    #[test]
    fn what_was_tried_leaves_no_trace_in_the_pictures_that_follow() {
        let target = QualityTarget::Psnr(38.0);
        let run = |near| {
            let mut encoder = encoder(1);
            let mut jpegs = [Vec::new(), Vec::new(), Vec::new()];
            let mut last = near;
            for (t, jpeg) in (0..).zip(&mut jpegs) {
                let found = encoder.search(&picture(t), target, last, jpeg).unwrap();
                assert!(target.is_reached(&found.scores), "{found:?}");
                last = Some(found.quality);
            }
            (jpegs, last)
        };
        // Paths of any length must lead to the same quality.
        assert_eq!(run(Some(3)), run(Some(97)));
    }

    #[test]
    fn a_target_beyond_all_qualities_gives_the_best() {
        let mut noise = picture(0);
        let mut random = Random::new(1, &[]);
        noise.cb.iter_mut().for_each(|sample| *sample = random.next_u32() as u8);
        let found = encoder(1).search(&noise, QualityTarget::Ssim(1.1), None, &mut Vec::new()).unwrap();
        assert_eq!(found.quality, 100);
    }
}

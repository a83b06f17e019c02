//! Encodes pictures and measures how close the results are.

use super::codec::{Decoder, Encoder};
use crate::Planes;
use vidrec_format::error::Result;

/// Encodes pictures and measures the results. It keeps its buffers.
pub struct MeasuredEncoder {
    encoder: Encoder,
    decoder: Decoder,
    /// The picture after encoding and decoding.
    after: Planes,
}

impl MeasuredEncoder {
    /// Creates a measuring encoder from `encoder`.
    pub fn new(encoder: Encoder) -> Result<Self> {
        Ok(MeasuredEncoder { encoder, decoder: Decoder::new()?, after: Planes::new(1, 1)? })
    }

    /// Encodes `picture`. Returns the PSNR of luma in dB; chroma follows luma, because one quality sets both.
    pub fn encode(&mut self, picture: &Planes, jpeg: &mut Vec<u8>) -> Result<f64> {
        self.encoder.encode(picture, jpeg)?;
        self.decoder.decode_planes(jpeg, &mut self.after)?;
        Ok(psnr(&picture.y, &self.after.y))
    }
}

/// The score of equal samples, which would otherwise be infinite.
const MOST_PSNR: f64 = 99.0;

/// Peak signal-to-noise ratio in dB: 10 lg (255² / mean of the squared errors).
pub(crate) fn psnr(before: &[u8], after: &[u8]) -> f64 {
    let square = |(&a, &b): (&u8, &u8)| u64::from(a.abs_diff(b)) * u64::from(a.abs_diff(b));
    let squares: u64 = before.iter().zip(after).map(square).sum();
    let ratio = 255.0 * 255.0 * before.len() as f64 / squares as f64;
    (10.0 * ratio.log10()).min(MOST_PSNR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_definition() {
        assert_eq!(psnr(&[10; 64], &[10; 64]), MOST_PSNR);
        // Each sample is off by 5.
        assert!((psnr(&[10; 64], &[15; 64]) - (255.0f64 / 5.0).log10() * 20.0).abs() < 1e-9);
    }
}

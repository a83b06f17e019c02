//! Encodes frames as JPEGs.

use std::time::Instant;

use super::options::ClipRecipe;
use crate::video::{FullColor, SampledFrame};
use vidrec_format::error::Result;
use vidrec_jpeg::{Encoder, Measured, MeasuredEncoder, QualityTarget};

/// Encodes the frames of a video, in their order.
pub(super) enum FrameEncoder {
    Plain(Encoder),
    Measured(MeasuredEncoder),
    Target {
        encoder: MeasuredEncoder,
        target: QualityTarget,
        /// The quality of the previous frame.
        quality: Option<u8>,
    },
}

impl FrameEncoder {
    /// Creates the encoder that the options ask for.
    pub fn new(recipe: ClipRecipe<'_>) -> Result<Self> {
        let options = recipe.pictures;
        let mut encoder = Encoder::new(options.quality.level())?;
        encoder.set_effort(options.effort)?;
        Ok(match options.quality.target() {
            None if !recipe.measure => FrameEncoder::Plain(encoder),
            None => FrameEncoder::Measured(MeasuredEncoder::new(encoder)?),
            Some(target) => FrameEncoder::Target { encoder: MeasuredEncoder::new(encoder)?, target, quality: None },
        })
    }

    /// Returns the JPEG, and its measured quality if it was measured.
    pub fn encode(&mut self, frame: &SampledFrame) -> Result<(Vec<u8>, Option<Measured>)> {
        let (mut jpeg, picture) = (Vec::new(), &frame.image);
        let measured = match self {
            FrameEncoder::Plain(encoder) => {
                encoder.encode(picture, &mut jpeg)?;
                None
            }
            FrameEncoder::Measured(encoder) => {
                let measured = encoder.encode(picture, &mut jpeg)?;
                Some(with_color(measured, encoder, frame, &jpeg)?)
            }
            FrameEncoder::Target { encoder, target, quality } => {
                let measured = encoder.search(picture, *target, *quality, &mut jpeg)?;
                *quality = Some(measured.quality);
                Some(with_color(measured, encoder, frame, &jpeg)?)
            }
        };
        Ok((jpeg, measured))
    }
}

/// Also measures RGB, if the frame came with all of its color.
fn with_color(
    mut measured: Measured,
    encoder: &mut MeasuredEncoder,
    frame: &SampledFrame,
    jpeg: &[u8],
) -> Result<Measured> {
    if let Some(FullColor { rgb, took }) = &frame.full_color {
        let started = Instant::now();
        measured.rgb_psnr = Some(encoder.rgb_psnr(rgb, jpeg)?);
        measured.took += started.elapsed() + *took;
    }
    Ok(measured)
}

/// The bytes that an encoder keeps for each pixel: room for the largest JPEG, and a copy of luma with even sides.
/// An encoder that measures keeps another picture.
pub(super) const ENCODER_BYTES_PER_PIXEL: u64 = 8;

/// Encodes a frame of a video.
pub(super) fn encode(encoder: &mut FrameEncoder, frame: &SampledFrame) -> Result<EncodedFrame> {
    let (jpeg, measured) = encoder.encode(frame)?;
    let size = (frame.image.width(), frame.image.height());
    Ok(EncodedFrame { jpeg, size, pts: frame.pts, source_index: frame.source_index, measured })
}

/// An encoded frame of a video or a folder.
pub(super) struct EncodedFrame {
    pub jpeg: Vec<u8>,
    /// Width and height in pixels.
    pub size: (u32, u32),
    pub pts: i64,
    pub source_index: u32,
    /// The measured quality, if it was measured.
    pub measured: Option<Measured>,
}

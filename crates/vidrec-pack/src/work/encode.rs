//! Encodes frames as JPEGs.

use super::encoded_source::EncodedPicture;
use super::failure::{ClipFailure, PackStage};
use super::options::ClipRecipe;
use crate::video::SampledFrame;
use vidrec_format::error::{Error, Result};
use vidrec_format::planes::Planes;
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
    pub fn encode(&mut self, picture: &Planes) -> Result<(Vec<u8>, Option<Measured>)> {
        let mut jpeg = Vec::new();
        let measured = match self {
            FrameEncoder::Plain(encoder) => {
                encoder.encode(picture, &mut jpeg)?;
                None
            }
            FrameEncoder::Measured(encoder) => Some(encoder.encode(picture, &mut jpeg)?),
            FrameEncoder::Target { encoder, target, quality } => {
                let measured = encoder.search(picture, *target, *quality, &mut jpeg)?;
                *quality = Some(measured.quality);
                Some(measured)
            }
        };
        Ok((jpeg, measured))
    }
}

/// The bytes that an encoder keeps for each pixel: room for the largest JPEG, and a copy of luma with even sides.
/// An encoder that measures keeps another picture.
pub(super) const ENCODER_BYTES_PER_PIXEL: u64 = 8;

pub(super) fn encode(encoder: &mut FrameEncoder, frame: &SampledFrame) -> Result<EncodedPicture, ClipFailure> {
    let (jpeg, measured) = encoder.encode(&frame.image).map_err(not_encoded)?;
    let size = (frame.image.width(), frame.image.height());
    Ok(EncodedPicture { jpeg, size, pts: frame.pts, source_index: frame.source_index, measured })
}

pub(super) fn not_encoded(e: Error) -> ClipFailure {
    ClipFailure::of(PackStage::Encode, &e)
}

//! From a frame to its JPEG.

use super::encoded_source::EncodedPicture;
use super::failure::{ClipFailure, PackStage};
use super::options::PictureOptions;
use crate::jpeg::Encoder;
use crate::video::SampledFrame;
use crate::{Error, Result};

/// The encoder that the options ask for.
pub(super) fn encoder(options: &PictureOptions) -> Result<Encoder> {
    let mut encoder = Encoder::new(options.quality)?;
    encoder.optimize_tables(options.optimize)?;
    encoder.set_effort(options.effort)?;
    Ok(encoder)
}

/// What an encoder keeps for itself: room for the largest JPEG, and a copy of luma with even sides.
pub(super) const ENCODER_BYTES_PER_PIXEL: u64 = 6;

pub(super) fn encode(encoder: &mut Encoder, frame: &SampledFrame) -> Result<EncodedPicture, ClipFailure> {
    let mut jpeg = Vec::new();
    encoder.encode(&frame.image, &mut jpeg).map_err(not_encoded)?;
    let size = (frame.image.width(), frame.image.height());
    Ok(EncodedPicture { jpeg, size, pts: frame.pts, source_index: frame.source_index })
}

pub(super) fn not_encoded(e: Error) -> ClipFailure {
    ClipFailure::of(PackStage::Encode, &e)
}

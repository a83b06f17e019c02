//! Whole pictures through libjpeg-turbo: planes to JPEG, JPEG to RGB or planes.

mod decoder;
mod encoder;
mod turbo;

pub use decoder::{Decoder, JpegHeader, RgbPicture, Subsampling};
pub use encoder::Encoder;
#[cfg(any(test, vidrec_internals))]
pub(super) use turbo::Compressor;
pub(super) use turbo::{Decompressor, Transformer, Yuv420, check_limits};

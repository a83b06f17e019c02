//! Whole pictures through libjpeg-turbo: planes to JPEG, JPEG to RGB or planes.

mod decoder;
mod encoder;
mod picture;
mod private;
mod turbo;

pub use decoder::{Decoder, JpegHeader, Subsampling};
pub use encoder::Encoder;
pub(super) use encoder::restart_interval;
pub use picture::RgbPicture;
pub(super) use private::{PrivateCopy, PrivateJpeg};
#[cfg(any(test, vidrec_internals))]
pub(super) use turbo::Compressor;
pub(super) use turbo::{Decompressor, Transformer, Yuv420, check_limits};

//! Whole pictures through libjpeg-turbo: planes to JPEG, JPEG to RGB or planes.

mod decoder;
mod encoder;
mod picture;
mod turbo;

pub use decoder::{Decoder, JpegHeader, Subsampling};
pub(super) use decoder::{check_limits, read_header};
pub use encoder::Encoder;
pub(super) use encoder::restart_interval;
pub use picture::RgbPicture;
#[cfg(any(test, feature = "fuzzing"))]
pub(super) use turbo::Compressor;
pub(super) use turbo::{Decompressor, Transformer, Yuv420};

//! Our own encoder: planes to the same kind of JPEG as libjpeg-turbo's, with fewer bytes at the same quality.
//!
//! It chooses coefficients by what they cost ([`ac`], [`dc`]), with quantizers made for video frames
//! ([`quantization`]), and makes Huffman codes for all pictures of a clip, so that a loader builds its tables once for
//! each clip. Every decision is made in integers, or by single sums and products of `f32`, so the bytes are the same on
//! every machine.

mod ac;
mod code;
mod costs;
mod dc;
mod dct;
mod encoder;
mod order;
mod quantization;
mod rounding;
mod shared;
mod source;
mod symbols;
#[cfg(test)]
mod tests;
mod tile;
mod write;

#[cfg(feature = "pack")]
pub(super) use encoder::ClipState;
pub(super) use encoder::{StoredPicture, ThriftyEncoder};
pub(super) use shared::SharedCodes;

//! Our own encoder. It turns planes into the same kind of JPEG as libjpeg-turbo, with fewer bytes at the same
//! quality.
//!
//! It chooses coefficients by their costs ([`ac`], [`dc`]), with quantizers made for video frames
//! ([`quantization`]). It makes Huffman codes for all pictures of a clip, so that a loader builds its tables once
//! for each clip. Every decision uses integers, or single sums and products of `f32`, so the bytes are the same on
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
mod source;
mod symbols;
#[cfg(test)]
mod tests;
mod tile;
mod write;

pub(super) use encoder::ClipState;
pub(super) use encoder::RateDistortionEncoder;

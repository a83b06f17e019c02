//! Our own encoder. It turns planes into the same kind of JPEG as libjpeg-turbo, with fewer bytes at the same
//! quality.
//!
//! It chooses coefficients by their costs ([`coefficients`]), with quantizers made for video frames
//! ([`encoder`]). It makes Huffman codes for all pictures of a clip, so that a loader builds its tables once
//! for each clip. Every decision uses integers, or single sums and products of `f32`, so the bytes are the same on
//! every machine.

mod coefficients;
mod dct;
mod encoder;
mod huffman;
mod order;
#[cfg(test)]
mod tests;
mod tile;

pub(super) use encoder::RateDistortionEncoder;

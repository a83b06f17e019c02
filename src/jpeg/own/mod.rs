//! A decoder for tiled JPEGs: from the bytes of the wanted tiles straight to planes, the same as libjpeg-turbo's.
//!
//! It knows one kind of JPEG only, the one that the packer writes (see [`tiles`](super::tiles)), and of that only what an
//! encoder writes. Whatever else the bytes say, it declines, and libjpeg-turbo has the last word. So it never has to
//! judge damage: what it gives is what libjpeg-turbo gives without a warning, and what it does not give, libjpeg-turbo
//! gives or refuses.

mod bits;
mod block;
mod coding;
mod decoder;
mod huffman;
mod idct;
mod mcu;
mod steps;
#[cfg(test)]
mod tests;
mod tile_data;

pub(super) use coding::Coding;
pub(super) use decoder::{TileDecoder, TilePlanes, Tiles};
#[cfg(any(test, feature = "fuzzing"))]
pub(super) use idct::IdctMachine;
pub(super) use tile_data::TileData;

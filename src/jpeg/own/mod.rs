//! A decoder for tiled JPEGs: from the bytes of the wanted tiles straight to planes, the same as libjpeg-turbo's.
//!
//! It knows only one kind of JPEG, the kind that the packer writes (see [`tiles`](super::tiles)), and of that only what
//! an encoder writes. It declines everything else, and leaves it to libjpeg-turbo. So it never has to judge damage: its
//! samples are those that libjpeg-turbo gives without a warning, and whatever it declines, libjpeg-turbo decodes or
//! refuses.

mod bits;
mod block;
mod coding;
mod coefficients;
mod decoder;
mod huffman;
mod idct;
mod mcu;
mod steps;
#[cfg(test)]
mod tests;
mod tile_data;

pub(super) use block::{Block, MCU};
pub(super) use coding::Coding;
pub(super) use coefficients::CoefficientReader;
pub(super) use decoder::{TileDecoder, TilePlanes, Tiles};
#[cfg(any(test, feature = "fuzzing"))]
pub(super) use idct::IdctMachine;
pub(super) use tile_data::TileData;

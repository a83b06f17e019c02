//! A decoder for tiled JPEGs, from the bytes of the wanted tiles directly to planes. The planes are the same as
//! libjpeg-turbo's.
//!
//! It knows only the kind of JPEG that the packer writes (see [`tiles`](super::tiles)), and decodes only data that
//! an encoder writes. It declines everything else, and leaves it to libjpeg-turbo. It therefore never has to judge
//! damage. Its samples are those that libjpeg-turbo returns without a warning, and libjpeg-turbo decodes or
//! rejects whatever it declines.

mod bits;
mod coding;
mod decoder;
mod huffman;
mod idct;
mod mcu;
#[cfg(test)]
mod tests;

pub(super) use coding::Coding;
pub use coding::TablePlaces;
pub(super) use decoder::{TileData, TileDecoder, TilePlanes, Tiles};
#[cfg(any(test, vidrec_internals))]
pub(super) use idct::IdctMachine;

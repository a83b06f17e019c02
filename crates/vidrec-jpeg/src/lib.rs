//! JPEG for training data: encodes planes, decodes to RGB or planes, and moves RecordIO's magic word off bad
//! places. Opens no file.
//!
//! [`Encoder`] writes ordinary baseline JPEGs (4:2:0; standard Huffman tables unless others are requested).
//! Restart markers divide the picture into tiles of 16 rows and 32 columns, or 16 columns if the number of
//! 16-pixel columns is odd. A reader that needs a crop can copy the tiles that it touches and decode only those.
//!
//! The loader decodes only the tiles under a crop, and never touches the entropy-coded data of the others. Either
//! our own decoder reads the tiles, or they are cut out for libjpeg-turbo. [`JpegDecoder`] chooses, and the
//! samples are the same.
//!
//! [`Decoder`] uses libjpeg-turbo's defaults: accurate inverse DCT and smooth ("fancy") chroma upsampling. It
//! therefore returns the same pixels as Pillow and OpenCV built on libjpeg-turbo.
//!
//! ```
//! use vidrec::Planes;
//! use vidrec::jpeg::{Decoder, Encoder};
//!
//! let mut gray = Planes::new(64, 48)?;
//! gray.y.fill(100);
//! let mut jpeg = Vec::new();
//! Encoder::new(90)?.encode(&gray, &mut jpeg)?;
//!
//! let mut decoder = Decoder::new()?;
//! let picture = decoder.decode_picture(&jpeg)?;
//! assert_eq!((picture.width, picture.height), (64, 48));
//! assert_eq!(picture.pixels[..3], [100, 100, 100]);
//! # Ok::<(), vidrec::Error>(())
//! ```

#[doc(hidden)]
#[cfg(vidrec_internals)]
#[path = "../../../benches/internals/tiles.rs"]
pub mod bench;
#[doc(hidden)]
pub mod between_reads;
mod choice;
mod codec;
mod encode;
mod fill;
mod found_tiles;
#[doc(hidden)]
#[cfg(any(test, vidrec_internals))]
#[path = "../../../fuzz/internals/jpeg/mod.rs"]
pub mod fuzzing;
mod markers;
mod measure;
mod region;
mod region_decoder;
mod retile;
mod scale;
mod target;
#[cfg(test)]
mod tests;
mod tile_decoder;
mod tile_grid;
mod tiles;

pub use choice::JpegDecoder;
pub use codec::{Decoder, Encoder, JpegHeader, RgbPicture, Subsampling};
#[doc(hidden)]
pub use fill::avoid_magic;
#[doc(hidden)]
pub use found_tiles::{FoundTiles, TilesOfRegion};
#[doc(hidden)]
pub use markers::exif;
pub use measure::QualityTarget;
#[doc(hidden)]
pub use measure::Scores;
#[doc(hidden)]
pub use region::{Cut, Region};
#[doc(hidden)]
pub use region_decoder::{DecodedRegion, Pixels, RegionDecoder, changed, make_room};
#[doc(hidden)]
pub use retile::{Retiled, Retiler};
#[doc(hidden)]
pub use scale::Scale;
#[doc(hidden)]
pub use target::{Measured, MeasuredEncoder};
#[doc(hidden)]
pub use tile_decoder::Coding;
#[doc(hidden)]
pub use tile_grid::{Parts, TileGrid};

#[cfg(test)]
#[path = "../../../tests/common/skip.rs"]
mod skip;

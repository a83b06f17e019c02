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
mod codec;
mod encode;
#[doc(hidden)]
#[cfg(any(test, vidrec_internals))]
#[path = "../../../fuzz/internals/jpeg/mod.rs"]
pub mod fuzzing;
mod markers;
mod planes;
mod private_copy;
mod quality;
mod record_magic;
mod region;
mod region_decoder;
mod retile;
#[cfg(test)]
mod tests;
mod tile_decoder;
mod tiles;

pub use codec::{Decoder, Encoder, JpegHeader, RgbPicture, Subsampling};
pub use markers::exif;
pub use planes::Planes;
#[doc(hidden)]
pub use private_copy::between_reads;
pub use quality::{Measured, MeasuredEncoder, QualityTarget, Scores};
#[doc(hidden)]
pub use record_magic::avoid_magic;
pub use region::{Cut, Parts, Region, Scale, TileGrid};
pub use region_decoder::{DecodedRegion, JpegDecoder, Pixels, RegionDecoder, changed, make_room};
pub use retile::{Retiled, Retiler};
pub use tile_decoder::Coding;
pub use tiles::{FoundTiles, TilesOfRegion};

#[cfg(test)]
#[path = "../../../tests/common/skip.rs"]
mod skip;

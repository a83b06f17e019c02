//! A JPEG decoder that decodes only what you crop, and an encoder of such JPEGs. Opens no file.
//!
//! [`Encoder`] writes ordinary baseline JPEGs (4:2:0; standard Huffman tables unless others are requested).
//! Restart markers divide the picture into tiles of 16 rows and 32 columns, or 16 columns if the number of
//! 16-pixel columns is odd. [`Retiler`] adds such markers to other JPEGs.
//!
//! [`RegionDecoder`] decodes only the tiles under a crop, and never touches the entropy-coded data of the others.
//! Our own decoder reads the tiles. If it declines, they are cut out for libjpeg-turbo, and the samples are the same.
//! A JPEG without tiles is decoded whole.
//!
//! [`Decoder`] uses libjpeg-turbo's defaults: accurate inverse DCT and smooth ("fancy") chroma upsampling. It
//! therefore returns the same pixels as Pillow and OpenCV built on libjpeg-turbo.
//!
//! ```
//! use vidrec_jpeg::{Encoder, Planes, Region, RegionDecoder, RgbPicture};
//!
//! let mut gray = Planes::new(640, 480)?;
//! gray.y.fill(100);
//! let mut jpeg = Vec::new();
//! Encoder::new(90)?.encode(&gray, &mut jpeg)?;
//!
//! let mut picture = RgbPicture::default();
//! let crop = Region { x: 64, y: 32, width: 32, height: 16 };
//! let cut = RegionDecoder::new()?.crop(&jpeg, crop, &mut picture)?;
//! assert_eq!((picture.width, picture.height, &picture.pixels[..3]), (32, 16, &[100, 100, 100][..]));
//! assert!(cut.tiles <= 9 && cut.tiles + cut.skipped == 20 * 30);
//! # Ok::<(), vidrec_jpeg::Error>(())
//! ```

#[doc(hidden)]
#[cfg(vidrec_internals)]
#[path = "../../../benches/internals/tiles.rs"]
pub mod bench;
mod codec;
mod encode;
mod exif;
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
mod rgb_rows;
#[cfg(test)]
mod tests;
mod tile_decoder;
mod tiles;

pub use codec::{Decoder, Encoder, JpegHeader, RgbPicture, Subsampling};
pub use exif::exif;
#[doc(hidden)]
pub use exif::png_or_webp_exif;
pub use planes::Planes;
#[doc(hidden)]
pub use private_copy::between_reads;
#[doc(hidden)]
pub use quality::MeasuredEncoder;
pub use record_magic::avoid_magic;
pub use region::{Cut, Parts, Region, Scale, TileGrid};
pub use region_decoder::{PixelFormat, Pixels, RegionDecoder, changed, make_room};
pub use retile::{Retiled, Retiler};
#[doc(hidden)]
pub use rgb_rows::{ChromaLines, DecodedPart, RgbRows};
pub use tile_decoder::TablePlaces;
pub use tiles::TileHeader;
pub use vidrec_format::error::{Error, ErrorKind, Result};
pub use vidrec_format::limits;

/// Compiles the README's example as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
#[path = "../../../tests/common/skip.rs"]
mod skip;

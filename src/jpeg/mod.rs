//! JPEG: encode from planes, decode to RGB or planes, and keep RecordIO's magic word off bad places. Opens no file.
//!
//! What [`Encoder`] writes is an ordinary baseline JPEG (4:2:0; standard Huffman tables unless asked for others) whose restart markers cut the
//! picture into tiles of 16 rows and 32 columns (16 if the number of 16-pixel columns is odd). A reader that wants a
//! crop can copy the tiles that it touches and decode only those.
//!
//! The loader decodes only the tiles under a crop, and never touches the entropy-coded data of the others. Either our
//! own decoder reads the tiles, or they are cut out for libjpeg-turbo; [`JpegDecoder`] chooses, and the samples are the
//! same.
//!
//! [`Decoder`] uses libjpeg-turbo's defaults: accurate inverse DCT and smooth ("fancy") chroma upsampling. So it gives
//! the same pixels as Pillow and OpenCV built on libjpeg-turbo.
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

#[cfg(feature = "bench")]
pub(crate) mod bench;
pub(crate) mod between_reads;
mod choice;
mod codec;
mod encode;
mod fill;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod markers;
#[cfg(feature = "pack")]
mod measure;
mod own;
mod recode;
mod region;
mod region_decoder;
mod retile;
mod scale;
#[cfg(feature = "pack")]
mod target;
#[cfg(test)]
mod tests;
mod tile_grid;
mod tiles;

pub use choice::JpegDecoder;
pub use codec::{Decoder, Encoder, JpegHeader, RgbPicture, Subsampling};
pub(crate) use fill::avoid_magic;
#[cfg(feature = "pack")]
pub(crate) use markers::exif;
#[cfg(feature = "pack")]
pub use measure::QualityTarget;
#[cfg(feature = "pack")]
pub(crate) use measure::Scores;
pub(crate) use recode::{ClipRecoder, RecodedClip};
pub(crate) use region::{Cut, Region};
pub(crate) use region_decoder::{DecodedPart, Pixels, RegionDecoder, changed, make_room};
#[cfg(feature = "interop")]
pub(crate) use retile::{Retiled, Retiler};
pub(crate) use scale::Scale;
#[cfg(feature = "pack")]
pub(crate) use target::{Measured, MeasuredEncoder};
pub(crate) use tile_grid::{Parts, TileGrid};

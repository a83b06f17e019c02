//! JPEG: encode from planes, decode to RGB or planes, and move bytes out of RecordIO's way. Knows no file.
//!
//! What [`Encoder`] writes is an ordinary baseline JPEG (4:2:0, standard Huffman tables) whose restart markers cut
//! the picture into tiles of 16 rows and 32 columns (16 where the number of 16-pixel columns is odd), so that a
//! reader which wants a crop can copy the tiles it touches and decode only those.
//!
//! A part of such a picture is decoded by its tiles alone, without touching the entropy-coded data of the others: by a
//! decoder of our own, or cut out and by libjpeg-turbo; [`JpegDecoder`] says which, and the samples are the same.
//!
//! What [`Decoder`] gives is libjpeg-turbo's default: accurate inverse DCT and smooth ("fancy") chroma upsampling,
//! and so the same pixels as Pillow and OpenCV built on libjpeg-turbo.
//!
//! ```
//! use vidrec::Planes;
//! use vidrec::jpeg::{Decoder, Encoder};
//!
//! let mut grey = Planes::new(64, 48)?;
//! grey.y.fill(100);
//! let mut jpeg = Vec::new();
//! Encoder::new(90)?.encode(&grey, &mut jpeg)?;
//!
//! let mut decoder = Decoder::new()?;
//! let header = decoder.header(&jpeg)?;
//! assert_eq!((header.width, header.height), (64, 48));
//! let mut rgb = vec![0; header.rgb_len()];
//! decoder.decode_rgb(&jpeg, &mut rgb, 64 * 3)?;
//! assert_eq!(rgb[..3], [100, 100, 100]);
//! # Ok::<(), vidrec::Error>(())
//! ```

#[cfg(feature = "bench")]
pub(crate) mod bench;
mod choice;
mod codec;
mod fill;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod markers;
mod own;
mod region;
mod region_decoder;
#[cfg(any(feature = "interop", feature = "fuzzing"))]
mod retile;
mod scale;
mod tiles;

pub use choice::JpegDecoder;
pub use codec::{Decoder, Encoder, JpegHeader, RgbPicture, Subsampling};
pub(crate) use fill::avoid_magic;
#[cfg(feature = "pack")]
pub(crate) use markers::exif;
pub(crate) use region::{Cut, Region};
pub(crate) use region_decoder::{Pixels, RegionDecoder};
#[cfg(any(feature = "interop", feature = "fuzzing"))]
pub(crate) use retile::{Retiled, Retiler};
pub(crate) use scale::Scale;

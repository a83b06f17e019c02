//! Decodes whole JPEGs to RGB or to planes, with libjpeg-turbo's default settings.

use std::fmt;

use turbojpeg::raw;

use super::turbo::{Decompressor, OpenJpeg, RawHeader, Yuv420};
use crate::Planes;
use crate::private_copy::PrivateCopy;
use crate::region::Scale;
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

/// The resolution at which a JPEG stores its chroma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subsampling {
    /// Full resolution.
    S444,
    /// Half the columns.
    S422,
    /// Half the columns and half the rows, which vidrec writes.
    S420,
    /// Half the rows.
    S440,
    /// No chroma at all.
    Gray,
    /// Any other.
    Other,
}

/// The facts in the header of a JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JpegHeader {
    /// Width in pixels, 1 to [`limits::MAX_SIDE`](vidrec_format::limits::MAX_SIDE).
    pub width: u32,
    /// Height in pixels, 1 to [`limits::MAX_SIDE`](vidrec_format::limits::MAX_SIDE).
    pub height: u32,
    /// The resolution of the chroma.
    pub subsampling: Subsampling,
}

impl JpegHeader {
    /// The length of the picture in RGB without padding, in bytes: `width * height * 3`.
    pub fn rgb_len(&self) -> usize {
        self.width as usize * self.height as usize * 3
    }
}

/// A decoder of whole JPEGs. Create one for each thread, and reuse it for every frame.
///
/// It decodes every JPEG that libjpeg-turbo decodes to RGB: baseline and progressive, gray and color. Damaged or
/// truncated data is an error, never a half-gray picture.
///
/// It decodes a copy of its own, so another process may change a mapped file meanwhile. The result is then one
/// picture or an error.
///
/// ```
/// # let mut jpeg = Vec::new();
/// # vidrec_jpeg::Encoder::new(90)?.encode(&vidrec_jpeg::Planes::new(32, 32)?, &mut jpeg)?;
/// let mut decoder = vidrec_jpeg::Decoder::new()?;
/// let mut planes = vidrec_jpeg::Planes::new(1, 1)?;
/// decoder.decode_planes(&jpeg, &mut planes)?;
/// assert_eq!((planes.width(), planes.height()), (32, 32));
/// assert!(decoder.decode_planes(&jpeg[..jpeg.len() / 2], &mut planes).is_err());
/// # Ok::<(), vidrec_jpeg::Error>(())
/// ```
pub struct Decoder {
    decompressor: Decompressor,
    copy: PrivateCopy,
    /// Luma with even sides, for pictures with odd sides.
    padded: Vec<u8>,
}

impl Decoder {
    /// Creates a decoder with accurate inverse DCT and smooth chroma upsampling.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn new() -> Result<Self> {
        Ok(Decoder { decompressor: Decompressor::new()?, copy: PrivateCopy::default(), padded: Vec::new() })
    }

    /// Reads the header of `jpeg`.
    ///
    /// # Errors
    ///
    /// The bytes are not a JPEG, or the picture is beyond [`limits`](vidrec_format::limits).
    pub fn header(&mut self, jpeg: &[u8]) -> Result<JpegHeader> {
        let open = self.decompressor.open(self.copy.copy_header(jpeg)?)?;
        let &RawHeader { width, height, subsampling, .. } = open.header();
        let subsampling = match subsampling {
            raw::TJSAMP_TJSAMP_444 => Subsampling::S444,
            raw::TJSAMP_TJSAMP_422 => Subsampling::S422,
            raw::TJSAMP_TJSAMP_420 => Subsampling::S420,
            raw::TJSAMP_TJSAMP_440 => Subsampling::S440,
            raw::TJSAMP_TJSAMP_GRAY => Subsampling::Gray,
            _ => Subsampling::Other,
        };
        Ok(JpegHeader { width, height, subsampling })
    }

    /// Decodes to RGB: 3 bytes per pixel, rows from the top, `pitch` bytes from the start of one row to the next.
    ///
    /// Bytes between rows keep their values. After an error, the contents of `out` are unspecified.
    ///
    /// # Errors
    ///
    /// Not a JPEG, damaged data, a picture beyond [`limits`](vidrec_format::limits), a `pitch` below `3 * width`,
    /// or an `out` shorter than `(height - 1) * pitch + 3 * width`.
    pub fn decode_rgb(&mut self, jpeg: &[u8], out: &mut [u8], pitch: usize) -> Result<()> {
        self.open(jpeg)?.rgb(out, pitch)
    }

    fn open(&mut self, jpeg: &[u8]) -> Result<OpenJpeg<'_>> {
        self.decompressor.open(self.copy.copy(jpeg)?)
    }

    /// Decodes to a new RGB picture. [`decode_picture_into`](Self::decode_picture_into) reuses the memory of an
    /// existing one.
    ///
    /// # Errors
    ///
    /// The errors of [`decode_picture_into`](Self::decode_picture_into).
    pub fn decode_picture(&mut self, jpeg: &[u8]) -> Result<RgbPicture> {
        let mut picture = RgbPicture::default();
        self.decode_picture_into(jpeg, &mut picture)?;
        Ok(picture)
    }

    /// Decodes to RGB. `picture` gets the JPEG's size, and keeps its memory from one picture to the next.
    ///
    /// # Errors
    ///
    /// Not a JPEG, damaged data, a picture beyond [`limits`](vidrec_format::limits), or no memory.
    pub fn decode_picture_into(&mut self, jpeg: &[u8], picture: &mut RgbPicture) -> Result<()> {
        let open = self.open(jpeg)?;
        (picture.width, picture.height) = (open.header().width, open.header().height);
        let pitch = picture.width as usize * 3;
        allocation::resize(&mut picture.pixels, pitch * picture.height as usize, 0, "a decoded picture")?;
        open.rgb(&mut picture.pixels, pitch)
    }

    /// Decodes a 4:2:0 JPEG to its planes, without upsampling or color conversion. `planes` gets the JPEG's size.
    ///
    /// # Errors
    ///
    /// Not a JPEG, damaged data, a picture beyond [`limits`](vidrec_format::limits), or one that is not 4:2:0 YCbCr.
    pub fn decode_planes(&mut self, jpeg: &[u8], planes: &mut Planes) -> Result<()> {
        let open = self.decompressor.open(self.copy.copy(jpeg)?)?;
        let (width, height) = (open.header().width, open.header().height);
        if !open.header().has_planes() {
            return Err(Error::decode("the JPEG is not 4:2:0 YCbCr, so it has no such planes").help("decode it to RGB"));
        }
        fit(planes, width, height)?;
        let (even_width, even_height) = (width.next_multiple_of(2) as usize, height.next_multiple_of(2) as usize);
        let odd = planes.y.len() != even_width * even_height;
        let luma = if odd { &mut self.padded } else { &mut planes.y };
        allocation::resize(luma, even_width * even_height, 0, "a decoded picture")?;
        let target = Yuv420 { width, height, planes: [&mut luma[..], &mut planes.cb, &mut planes.cr] };
        open.yuv420(Scale::Full, target)?;
        if odd {
            let rows = planes.y.chunks_exact_mut(width as usize);
            rows.zip(self.padded.chunks_exact(even_width)).for_each(|(to, from)| to.copy_from_slice(&from[..to.len()]));
        }
        Ok(())
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// Sets the size of `planes`, with planes of the right lengths. Keeps its memory if the size is already the same.
fn fit(planes: &mut Planes, width: u32, height: u32) -> Result<()> {
    if (planes.width(), planes.height()) != (width, height) {
        *planes = Planes::new(width, height)?;
    }
    let chroma = planes.chroma_width() as usize * planes.chroma_height() as usize;
    allocation::resize(&mut planes.y, width as usize * height as usize, 0, "a decoded picture")?;
    allocation::resize(&mut planes.cb, chroma, 128, "a decoded picture")?;
    allocation::resize(&mut planes.cr, chroma, 128, "a decoded picture")?;
    Ok(())
}

/// A picture in RGB: 3 bytes per pixel, rows from the top without padding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RgbPicture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// `width * height * 3` bytes: red, green and blue of each pixel.
    pub pixels: Vec<u8>,
}

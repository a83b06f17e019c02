//! Adds restart markers to JPEGs that have none: the same DCT coefficients, in tiles from which a crop can be cut.

use super::codec::{Decoder, Subsampling, Transformer};
use super::private_copy::PrivateCopy;
use super::tiles::{Tiler, restart_interval};
use crate::Planes;
use vidrec_format::error::Result;

/// The result of [`Retiler::retile`].
#[derive(Debug, PartialEq, Eq)]
pub enum Retiled<'a> {
    /// A tiled JPEG with the same pixels, bit for bit.
    Tiled(&'a [u8]),
    /// The JPEG is already tiled.
    Already,
    /// The JPEG does not change, because tiles need 4:2:0 and 8 bits.
    Unfit,
}

/// Rewrites JPEGs with restart markers. It keeps its buffers.
pub struct Retiler {
    transformer: Transformer,
    decoder: Decoder,
    copy: PrivateCopy,
    tiler: Tiler,
    out: Vec<u8>,
    before: Planes,
    after: Planes,
}

impl Retiler {
    /// Creates the decoder and the encoder for all pictures.
    pub fn new() -> Result<Self> {
        Ok(Retiler {
            transformer: Transformer::new()?,
            decoder: Decoder::new()?,
            copy: PrivateCopy::default(),
            tiler: Tiler::default(),
            out: Vec::new(),
            before: Planes::new(1, 1)?,
            after: Planes::new(1, 1)?,
        })
    }

    /// Rewrites `jpeg` as a baseline JPEG with a restart marker every one or two MCUs, as vidrec's own encoder
    /// does.
    ///
    /// It decodes both and compares their samples, so that an unusual JPEG can never become another picture.
    ///
    /// # Errors
    ///
    /// `jpeg` cannot be decoded completely.
    pub fn retile(&mut self, jpeg: &[u8]) -> Result<Retiled<'_>> {
        // All steps use the same bytes.
        let private = self.copy.copy(jpeg)?;
        let jpeg = private.bytes();
        let header = self.decoder.header(jpeg)?;
        if self.tiler.size(jpeg).is_some() {
            return Ok(Retiled::Already);
        }
        if header.subsampling != Subsampling::S420 || self.decoder.decode_planes(jpeg, &mut self.before).is_err() {
            // A JPEG that cannot be decoded at all is an error. One without planes of this kind is only unfit.
            return self.decoder.decode_picture(jpeg).map(|_| Retiled::Unfit);
        }
        // A marker takes at most 3 bytes with its padding, and a tile has at least 256 pixels. The standard tables
        // need at most twice the bytes of the best ones.
        let room = 4096 + jpeg.len() * 3 + header.rgb_len() / 64;
        if self.out.len() < room {
            self.out.resize(room, 0);
        }
        let length = match self.transformer.restart(private, restart_interval(header.width), &mut self.out) {
            Ok(length) => length,
            Err(_) => {
                // The failed instance may be in the middle of a file, so a new one replaces it.
                self.transformer = Transformer::new()?;
                return Ok(Retiled::Unfit);
            }
        };
        let tiled = &self.out[..length];
        let same = self.tiler.size(tiled) == Some((header.width, header.height))
            && self.decoder.decode_planes(tiled, &mut self.after).is_ok()
            && self.before == self.after;
        Ok(if same { Retiled::Tiled(tiled) } else { Retiled::Unfit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoder;
    use crate::fuzzing::picture;
    use image::codecs::jpeg::JpegEncoder;

    fn plain(width: u32, height: u32) -> Vec<u8> {
        let mut jpeg = Vec::new();
        Encoder::new(80).unwrap().without_tiles().encode(&picture(width, height, 50), &mut jpeg).unwrap();
        jpeg
    }

    fn rgb(jpeg: &[u8]) -> Vec<u8> {
        Decoder::new().unwrap().decode_picture(jpeg).unwrap().pixels
    }

    #[test]
    fn a_plain_jpeg_becomes_tiled_and_its_pixels_stay() {
        let mut retiler = Retiler::new().unwrap();
        for (width, height) in [(16, 16), (64, 48), (340, 256), (101, 77), (1, 1)] {
            let jpeg = plain(width, height);
            let Retiled::Tiled(tiled) = retiler.retile(&jpeg).unwrap() else { panic!("{width}x{height}") };
            let tiled = tiled.to_vec();
            assert_ne!(tiled, jpeg);
            assert_eq!(rgb(&tiled), rgb(&jpeg), "{width}x{height}");
            assert_eq!(retiler.retile(&tiled).unwrap(), Retiled::Already);
        }
    }

    #[test]
    fn comments_are_kept() {
        let jpeg = plain(40, 40);
        let noted = [&jpeg[..2], &[0xFF, 0xFE, 0, 6], b"note", &jpeg[2..]].concat();
        let mut retiler = Retiler::new().unwrap();
        let Retiled::Tiled(tiled) = retiler.retile(&noted).unwrap() else { panic!() };
        assert!(tiled.windows(4).any(|w| w == b"note"));
    }

    #[test]
    fn other_chroma_is_unfit_and_damage_is_an_error() {
        let mut full = Vec::new();
        JpegEncoder::new(&mut full).encode(&picture(32, 96, 50).y, 32, 32, image::ExtendedColorType::Rgb8).unwrap();
        let mut retiler = Retiler::new().unwrap();
        assert_eq!(retiler.retile(&full).unwrap(), Retiled::Unfit);
        let jpeg = plain(64, 64);
        assert!(retiler.retile(&jpeg[..jpeg.len() / 2]).is_err());
        assert!(retiler.retile(b"no jpeg").is_err());
        // It works again after an error.
        assert!(matches!(retiler.retile(&jpeg).unwrap(), Retiled::Tiled(_)));
    }
}

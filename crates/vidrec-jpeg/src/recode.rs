//! Recodes the JPEGs of a clip in fewer bytes: the same coefficients in codes that they share, or fewer
//! coefficients.
//!
//! A JPEG without tiles gets tiles first. Codes alone change no pixel, and this is proven: libjpeg-turbo decodes
//! both JPEGs, and their samples are compared.

use super::codec::{Decoder, restart_interval};
use super::encode::{RateDistortionEncoder, SharedCodes, StoredPicture};
use super::markers::{DHT, DQT, DRI, SOF0, SOS, headers};
use super::retile::{Retiled, Retiler};
use super::tile_decoder::{Block, CoefficientReader, MCU};
use super::tiles::Tiler;
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};
use vidrec_format::planes::Planes;

/// The result of [`ClipRecoder`] for the JPEGs of a clip.
#[derive(Debug, Default)]
pub struct RecodedClip {
    /// The new JPEG for each old one; `None` where the old one remains.
    pub jpegs: Vec<Option<Vec<u8>>>,
    /// The number of JPEGs that had no tiles before and have tiles now.
    pub tiled: u64,
    /// The number of JPEGs that remain because they are not 4:2:0 JPEGs of 8 bits, or because no encoder writes
    /// such data.
    pub unfit: u64,
}

/// Recodes clips. It keeps its buffers.
pub struct ClipRecoder {
    retiler: Retiler,
    reader: Reader,
    codes: SharedCodes,
    /// The encoder that chooses coefficients again, if requested.
    rate_distortion: Option<Box<RateDistortionEncoder>>,
    decoder: Decoder,
    before: Planes,
    after: Planes,
}

impl ClipRecoder {
    /// Creates a recoder. With a `quality`, on libjpeg's scale from 1 to 100, it chooses coefficients again, and
    /// pixels change.
    pub fn new(quality: Option<u8>) -> Result<Self> {
        Ok(ClipRecoder {
            retiler: Retiler::new()?,
            reader: Reader { tiler: Tiler::default(), coefficients: CoefficientReader::new(), mcus: Vec::new() },
            codes: SharedCodes::new(),
            rate_distortion: quality.map(|quality| Box::new(RateDistortionEncoder::new(quality))),
            decoder: Decoder::new()?,
            before: Planes::new(1, 1)?,
            after: Planes::new(1, 1)?,
        })
    }

    /// Recodes the JPEGs of a clip. Together, they never grow, except by restart markers.
    ///
    /// # Errors
    ///
    /// A JPEG cannot be decoded. `place` adds to the error which JPEG it is, by its number.
    pub fn recode(&mut self, jpegs: &[&[u8]], place: impl Fn(usize, Error) -> Error) -> Result<RecodedClip> {
        let mut clip = RecodedClip { jpegs: vec![None; jpegs.len()], ..RecodedClip::default() };
        let mut fit = vec![true; jpegs.len()];
        for (t, jpeg) in jpegs.iter().enumerate() {
            match self.retiler.retile(jpeg).map_err(|e| place(t, e))? {
                Retiled::Tiled(tiled) => {
                    clip.jpegs[t] = Some(tiled.to_vec());
                    clip.tiled += 1;
                }
                Retiled::Already => {}
                Retiled::Unfit => fit[t] = false,
            }
        }
        let recoded = match self.rate_distortion.take() {
            Some(mut rate_distortion) => {
                let recoded = self.requantize(jpegs, &clip, &mut fit, &mut rate_distortion);
                self.rate_distortion = Some(rate_distortion);
                recoded?
            }
            None => self.share(jpegs, &clip, &mut fit)?,
        };
        clip.unfit = fit.iter().filter(|&&fit| !fit).count() as u64;
        let length = |new: &[Option<Vec<u8>>]| {
            new.iter().zip(jpegs).map(|(new, old)| new.as_ref().map_or(old.len(), Vec::len)).sum::<usize>()
        };
        if length(&recoded) < length(&clip.jpegs) {
            clip.jpegs = recoded;
        }
        Ok(clip)
    }

    /// Recodes the JPEGs that are `fit` in codes that they share. `fit` becomes false for a JPEG that turns out
    /// not to be.
    fn share(&mut self, jpegs: &[&[u8]], clip: &RecodedClip, fit: &mut [bool]) -> Result<Vec<Option<Vec<u8>>>> {
        self.codes.start_clip();
        let tiled = |t: usize| clip.jpegs[t].as_deref().unwrap_or(jpegs[t]);
        for (t, fit) in fit.iter_mut().enumerate().filter(|(_, fit)| **fit) {
            *fit = self.reader.read(tiled(t), &mut self.codes)?.is_some();
            if *fit {
                self.codes.count();
            }
        }
        let mut recoded = clip.jpegs.clone();
        for (t, fit) in fit.iter_mut().enumerate().filter(|(_, fit)| **fit) {
            let Some(restart) = self.reader.read(tiled(t), &mut self.codes)? else { continue };
            let mut jpeg = head(tiled(t), &[DHT, DRI])?;
            self.codes.write(restart, &mut jpeg)?;
            let same = self.decoder.decode_planes(tiled(t), &mut self.before).is_ok()
                && self.decoder.decode_planes(&jpeg, &mut self.after).is_ok()
                && self.before == self.after;
            *fit = same;
            if same {
                recoded[t] = Some(jpeg);
            }
        }
        Ok(recoded)
    }

    /// Recodes the JPEGs with coefficients that `rate_distortion` chooses.
    fn requantize(
        &mut self,
        jpegs: &[&[u8]],
        clip: &RecodedClip,
        fit: &mut [bool],
        rate_distortion: &mut RateDistortionEncoder,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        rate_distortion.start_clip();
        let mut recoded = clip.jpegs.clone();
        for (t, fit) in fit.iter_mut().enumerate().filter(|(_, fit)| **fit) {
            let tiled = clip.jpegs[t].as_deref().unwrap_or(jpegs[t]);
            let Some(stored) = self.reader.stored(tiled)? else {
                *fit = false;
                continue;
            };
            let mut jpeg = head(tiled, &[DQT, SOF0, DHT, DRI])?;
            rate_distortion.requantize(&stored, restart_interval(stored.size.0), &mut jpeg)?;
            recoded[t] = Some(jpeg);
        }
        Ok(recoded)
    }
}

/// Reads coefficients.
struct Reader {
    tiler: Tiler,
    coefficients: CoefficientReader,
    mcus: Vec<[Block; MCU]>,
}

impl Reader {
    /// Reads a tiled JPEG, and returns the number of MCUs of a tile. `None` if no encoder writes such a JPEG.
    fn read(&mut self, jpeg: &[u8], codes: &mut SharedCodes) -> Result<Option<u16>> {
        codes.start_picture();
        let restart = self.each(jpeg, |mcu, ends_tile| codes.add(mcu, ends_tile))?;
        Ok(restart.map(|restart| restart as u16))
    }

    /// Reads the coefficients of a tiled JPEG.
    fn stored(&mut self, jpeg: &[u8]) -> Result<Option<StoredPicture<'_>>> {
        self.mcus.clear();
        let Some(size) = self.tiler.size(jpeg) else { return Ok(None) };
        let mut mcus = std::mem::take(&mut self.mcus);
        let read = self.each(jpeg, |mcu, _| {
            allocation::reserve(&mut mcus, 1, "a picture's coefficients")?;
            mcus.push(*mcu);
            Ok(true)
        });
        self.mcus = mcus;
        let quantizers = self.tiler.selected().1.map(|coding| coding.quantizers());
        Ok(read?.and(quantizers).map(|quantizers| StoredPicture { size, quantizers, mcus: &self.mcus }))
    }

    /// Passes all MCUs to `take`, as [`CoefficientReader::read`] does. Returns the number of MCUs of a tile, or
    /// `None` if not all were read.
    fn each(&mut self, jpeg: &[u8], take: impl FnMut(&[Block; MCU], bool) -> Result<bool>) -> Result<Option<u32>> {
        let Some(selection) = self.tiler.select_all(jpeg) else { return Ok(None) };
        if self.tiler.is_new() {
            self.tiler.read_coding();
        }
        let (tiles, Some(coding)) = self.tiler.selected() else { return Ok(None) };
        let read = self.coefficients.read(jpeg, coding, tiles, selection.restart(), take)?;
        Ok(read.then_some(selection.restart()))
    }
}

/// The segments of a JPEG before its scan, except those with the markers in `less`.
fn head(jpeg: &[u8], less: &[u8]) -> Result<Vec<u8>> {
    let mut head = allocation::with_capacity(jpeg.len(), "a JPEG")?;
    for segment in headers(jpeg).filter(|segment| segment.marker != SOS && !less.contains(&segment.marker)) {
        head.extend_from_slice(&jpeg[segment.start..segment.end]);
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Encoder;
    use super::*;
    use vidrec_format::random::Random;

    /// A picture of waves with noise, which `t` shifts.
    fn picture(width: u32, height: u32, t: u32) -> Planes {
        let mut random = Random::new(9, &[width.into(), height.into(), t.into()]);
        let mut picture = Planes::new(width, height).unwrap();
        let chroma_width = picture.chroma_width();
        for (plane, width) in
            [(&mut picture.y, width), (&mut picture.cb, chroma_width), (&mut picture.cr, chroma_width)]
        {
            for (i, sample) in plane.iter_mut().enumerate() {
                let (x, y) = ((i % width as usize) as f64 + f64::from(t), (i / width as usize) as f64);
                let wave = 128.0 + 80.0 * (x / 9.0).sin() * (y / 7.0).cos();
                *sample = (wave + f64::from(random.next_u32() % 30)) as u8;
            }
        }
        picture
    }

    fn encoded(encoder: &mut Encoder, picture: &Planes) -> Vec<u8> {
        let mut jpeg = Vec::new();
        encoder.encode(picture, &mut jpeg).unwrap();
        jpeg
    }

    /// Encodes 4:2:0 without restart markers, with libjpeg-turbo.
    fn plain(width: u32, height: u32) -> Vec<u8> {
        let pixels: Vec<u8> = (0..width * height * 3).map(|i| (i / 7 % 251) as u8).collect();
        let image = turbojpeg::Image {
            pixels: &pixels[..],
            width: width as usize,
            pitch: width as usize * 3,
            height: height as usize,
            format: turbojpeg::PixelFormat::RGB,
        };
        turbojpeg::compress(image, 90, turbojpeg::Subsamp::Sub2x2).unwrap().to_vec()
    }

    fn recode(quality: Option<u8>, jpegs: &[Vec<u8>]) -> RecodedClip {
        let jpegs: Vec<_> = jpegs.iter().map(Vec::as_slice).collect();
        ClipRecoder::new(quality).unwrap().recode(&jpegs, |_, e| e).unwrap()
    }

    /// The JPEGs of a clip after recoding.
    fn now<'a>(clip: &'a RecodedClip, jpegs: &'a [Vec<u8>]) -> Vec<&'a [u8]> {
        clip.jpegs.iter().zip(jpegs).map(|(new, old)| new.as_deref().unwrap_or(old)).collect()
    }

    fn bytes(jpegs: &[impl AsRef<[u8]>]) -> usize {
        jpegs.iter().map(|jpeg| jpeg.as_ref().len()).sum()
    }

    fn rgb(jpeg: &[u8]) -> Vec<u8> {
        Decoder::new().unwrap().decode_picture(jpeg).unwrap().pixels
    }

    fn header(jpeg: &[u8]) -> Vec<u8> {
        headers(jpeg).filter(|s| s.marker == DHT).flat_map(|s| s.body.to_vec()).collect()
    }

    fn same_pixels(clip: &RecodedClip, jpegs: &[Vec<u8>]) {
        for (new, old) in now(clip, jpegs).into_iter().zip(jpegs) {
            assert!(rgb(new) == rgb(old));
        }
    }

    #[test]
    fn pixels_stay_in_fewer_bytes_and_frames_share_their_tables() {
        for (width, height) in [(160, 96), (97, 61), (16, 16), (340, 256)] {
            for quality in [40, 90, 100] {
                let mut encoder = Encoder::new(quality).unwrap();
                let jpegs: Vec<_> = (0..3).map(|t| encoded(&mut encoder, &picture(width, height, t))).collect();
                let clip = recode(None, &jpegs);
                assert_eq!((clip.tiled, clip.unfit), (0, 0));
                same_pixels(&clip, &jpegs);
                let new = now(&clip, &jpegs);
                assert!(bytes(&new) < bytes(&jpegs), "{width}x{height} at {quality}");
                assert!(new.iter().all(|jpeg| header(jpeg) == header(new[0])));
                // Nothing is left to gain.
                let again: Vec<_> = new.iter().map(|jpeg| jpeg.to_vec()).collect();
                assert!(recode(None, &again).jpegs.iter().all(Option::is_none));
            }
        }
    }

    #[test]
    fn a_clip_that_would_grow_stays_as_it_is() {
        // Each picture has the best tables for itself, and the two have little in common.
        let mut encoder = Encoder::new(90).unwrap();
        encoder.optimize_tables(true).unwrap();
        let flat = Planes::new(64, 64).unwrap();
        let jpegs = [encoded(&mut encoder, &flat), encoded(&mut encoder, &picture(64, 64, 0))];
        let clip = recode(None, &jpegs);
        assert!(clip.jpegs.iter().all(Option::is_none));
        assert_eq!((clip.tiled, clip.unfit), (0, 0));
    }

    #[test]
    fn frames_get_tiles_and_keep_their_other_segments_and_those_of_another_kind_stay() {
        let mut gray = Vec::new();
        image::codecs::jpeg::JpegEncoder::new(&mut gray)
            .encode(&[7; 64 * 48], 64, 48, image::ExtendedColorType::L8)
            .unwrap();
        let noted = plain(64, 48);
        let noted = [&noted[..2], &[0xFF, 0xFE, 0, 6], b"note", &noted[2..]].concat();
        let jpegs = [plain(64, 48), gray, noted];
        let clip = recode(None, &jpegs);
        assert_eq!((clip.tiled, clip.unfit), (2, 1));
        assert!(clip.jpegs[1].is_none());
        same_pixels(&clip, &jpegs);
        let new = now(&clip, &jpegs);
        assert!(new[2].windows(4).any(|w| w == b"note"));
        assert!([0, 2].iter().all(|&t| Tiler::default().select_all(new[t]).is_some()));
    }

    #[test]
    fn lower_quality_takes_fewer_bytes_and_no_quality_is_finer_than_what_is_there() {
        let pictures: Vec<_> = (0..2).map(|t| picture(160, 96, t)).collect();
        let mut encoder = Encoder::new(80).unwrap();
        let jpegs: Vec<_> = pictures.iter().map(|picture| encoded(&mut encoder, picture)).collect();
        let squares = |jpeg: &[u8]| {
            let pairs = rgb(jpeg).into_iter().zip(rgb(&jpegs[0])).map(|(a, b)| (f64::from(a) - f64::from(b)).powi(2));
            pairs.sum::<f64>() / f64::from(160 * 96 * 3)
        };
        let of = |quality| {
            let clip = recode(Some(quality), &jpegs);
            let new = now(&clip, &jpegs);
            (bytes(&new), squares(new[0]))
        };
        let (least, middle, most) = (of(30), of(70), of(100));
        assert!(least.0 < middle.0 && middle.0 < most.0 && most.0 <= bytes(&jpegs), "{least:?} {middle:?} {most:?}");
        assert!(least.1 > middle.1 && middle.1 < 40.0, "{least:?} {middle:?}");
        assert!(most.1 == 0.0, "{most:?}");
    }

    #[test]
    fn a_jpeg_that_cannot_be_decoded_is_an_error_that_is_placed() {
        let jpeg = plain(64, 64);
        let mut recoder = ClipRecoder::new(None).unwrap();
        let e = recoder.recode(&[&jpeg, &jpeg[..jpeg.len() / 2]], |t, e| e.in_frame(t as u32)).unwrap_err();
        assert!(e.to_string().contains("frame 1"), "{e}");
        assert_eq!(recoder.recode(&[&jpeg], |_, e| e).unwrap().tiled, 1, "it works again");
    }

    proptest! {
        #[test]
        fn damage_never_becomes_other_pixels(at in any::<prop::sample::Index>(), byte: u8, quality: bool) {
            let mut jpegs = vec![encoded(&mut Encoder::new(90).unwrap(), &picture(48, 48, 0)); 2];
            let at = at.index(jpegs[0].len());
            jpegs[0][at] = byte;
            let refs: Vec<_> = jpegs.iter().map(Vec::as_slice).collect();
            if let Ok(clip) = ClipRecoder::new(quality.then_some(50)).unwrap().recode(&refs, |_, e| e) && !quality {
                let mut decoder = Decoder::new().unwrap();
                if let (Some(new), Ok(old)) = (&clip.jpegs[0], decoder.decode_picture(&jpegs[0])) {
                    prop_assert!(decoder.decode_picture(new).unwrap().pixels == old.pixels);
                }
            }
        }
    }
}

//! The JPEGs of a clip in fewer bytes: the same coefficients in codes that they share, or fewer coefficients.
//!
//! A JPEG without tiles gets them first. Codes alone change no pixel, and that is proved: both JPEGs are decoded by
//! libjpeg-turbo, and their samples compared.

use super::codec::{Decoder, restart_interval};
use super::encode::{SharedCodes, StoredPicture, ThriftyEncoder};
use super::markers::{DHT, DQT, DRI, SOF0, SOS, headers};
use super::own::{Block, CoefficientReader, MCU};
use super::retile::{Retiled, Retiler};
use super::tiles::Tiler;
use crate::{Error, Planes, Result, allocation};

/// What [`ClipRecoder`] has made of the JPEGs of a clip.
#[derive(Debug, Default)]
pub(crate) struct RecodedClip {
    /// For each of them, the new one; `None` where the old one stays.
    pub jpegs: Vec<Option<Vec<u8>>>,
    /// How many have tiles now, and had none before.
    pub tiled: u64,
    /// How many stay as they are because they are no 4:2:0 JPEGs of 8 bits, or are such as no encoder writes.
    pub unfit: u64,
}

/// Recodes clips; keeps its buffers.
pub(crate) struct ClipRecoder {
    retiler: Retiler,
    reader: Reader,
    codes: SharedCodes,
    /// What chooses coefficients again, if that is wanted.
    thrifty: Option<Box<ThriftyEncoder>>,
    decoder: Decoder,
    before: Planes,
    after: Planes,
}

impl ClipRecoder {
    /// With a `quality`, on libjpeg's scale from 1 to 100, coefficients are chosen again, and pixels change.
    pub fn new(quality: Option<u8>) -> Result<Self> {
        Ok(ClipRecoder {
            retiler: Retiler::new()?,
            reader: Reader { tiler: Tiler::default(), coefficients: CoefficientReader::new(), mcus: Vec::new() },
            codes: SharedCodes::new(),
            thrifty: quality.map(|quality| Box::new(ThriftyEncoder::new(quality))),
            decoder: Decoder::new()?,
            before: Planes::new(1, 1)?,
            after: Planes::new(1, 1)?,
        })
    }

    /// Recodes the JPEGs of a clip. Together they never grow, except by restart markers.
    ///
    /// # Errors
    ///
    /// A JPEG that cannot be decoded; `place` adds to the error which it is, by its number.
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
        let recoded = match self.thrifty.take() {
            Some(mut thrifty) => {
                let recoded = self.requantize(jpegs, &clip, &mut fit, &mut thrifty);
                self.thrifty = Some(thrifty);
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

    /// The JPEGs in codes that they share, as far as they are `fit`, which becomes false for those that are not.
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

    /// The JPEGs with coefficients that `thrifty` chooses.
    fn requantize(
        &mut self,
        jpegs: &[&[u8]],
        clip: &RecodedClip,
        fit: &mut [bool],
        thrifty: &mut ThriftyEncoder,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        thrifty.start_clip();
        let mut recoded = clip.jpegs.clone();
        for (t, fit) in fit.iter_mut().enumerate().filter(|(_, fit)| **fit) {
            let tiled = clip.jpegs[t].as_deref().unwrap_or(jpegs[t]);
            let Some(stored) = self.reader.stored(tiled)? else {
                *fit = false;
                continue;
            };
            let mut jpeg = head(tiled, &[DQT, SOF0, DHT, DRI])?;
            thrifty.requantize(&stored, restart_interval(stored.size.0), &mut jpeg)?;
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
    /// Reads a tiled JPEG, and returns the number of MCUs of a tile; `None` where no encoder writes such a JPEG.
    fn read(&mut self, jpeg: &[u8], codes: &mut SharedCodes) -> Result<Option<u16>> {
        codes.start_picture();
        let restart = self.each(jpeg, |mcu, ends_tile| codes.add(mcu, ends_tile))?;
        Ok(restart.map(|restart| restart as u16))
    }

    /// The coefficients of a tiled JPEG.
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

    /// Hands out all MCUs, as [`CoefficientReader::read`] does. The number of MCUs of a tile, or `None` if not all were
    /// read.
    fn each(&mut self, jpeg: &[u8], take: impl FnMut(&[Block; MCU], bool) -> Result<bool>) -> Result<Option<u32>> {
        let Some(selection) = self.tiler.select_all(jpeg) else { return Ok(None) };
        if self.tiler.is_new() {
            self.tiler.read_coding();
        }
        let (tiles, Some(coding)) = self.tiler.selected() else { return Ok(None) };
        let read = self.coefficients.read(jpeg, coding, tiles, selection.restart, take)?;
        Ok(read.then_some(selection.restart))
    }
}

/// The segments of a JPEG before its scan, without those of the markers `less`.
fn head(jpeg: &[u8], less: &[u8]) -> Result<Vec<u8>> {
    let mut head = allocation::with_capacity(jpeg.len(), "a JPEG")?;
    for segment in headers(jpeg).filter(|segment| segment.marker != SOS && !less.contains(&segment.marker)) {
        head.extend_from_slice(&jpeg[segment.start..segment.end]);
    }
    Ok(head)
}

//! The decoder of one thread, which turns a stored frame into a picture. It is kept from frame to frame.

use super::cached_frames::{Look, frame_key, look_up};
use crate::dataset::Clip;
use crate::loader::decoded::{Cache, Found, FrameKey, Kept};
use crate::loader::kernel::{Decoded, Kernel, PictureSlot, SampleType, Scratch, Wanted};
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};
use vidrec_jpeg::between_reads;
use vidrec_jpeg::{
    Cut, DecodedRegion, FoundTiles, JpegDecoder, Parts, Pixels, Region, RegionDecoder, Scale, changed, make_room,
};

/// A decoder and its buffers.
pub(super) struct Worker {
    decoder: RegionDecoder,
    /// The planes of a part of the frame: luma and chroma, or red, green and blue.
    planes: [Vec<u8>; 3],
    /// The pixels of a part of the frame, 3 bytes each.
    rgb: Vec<u8>,
    scratch: Scratch,
    /// The frame's record, if files are not mapped.
    record: Vec<u8>,
    /// The tiles of the frame that the cache has.
    found: Found,
    /// A buffer for tiles on the way to the cache.
    tiles: Vec<u8>,
}

/// How the frames of a clip are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Making<'a> {
    /// Tables for frames of the size in the clip's entry; `None` if the entry has no size.
    pub kernel: Option<&'a Kernel>,
    /// The cache of decoded frames, if there is one.
    pub cache: Option<&'a Cache>,
}

/// The cost of decoding a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DecodeCost {
    /// The length of the JPEG in bytes.
    pub bytes: u64,
    /// Tiles of the JPEG that were decoded; 0 if the JPEG has no tiles and was decoded whole.
    pub tiles_decoded: u64,
    /// Tiles of the JPEG that were not decoded because they are not in the picture.
    pub tiles_skipped: u64,
    /// What came from the cache and what went there, if there is a cache.
    pub cached: Option<Cached>,
}

/// What the cache did for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cached {
    pub of_frame: OfFrame,
    /// Tiles that came from the cache.
    pub tiles: u64,
    /// Bytes that went to the cache.
    pub kept: u64,
    /// Whether the cache had no room for what was decoded.
    pub is_refused: bool,
}

/// How much of a frame came from the cache, of what the picture needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfFrame {
    All,
    Some,
    Nothing,
    /// The cache does not keep frames of this kind.
    Never,
}

/// Tables that the caller provided, or that were made for a frame of another size.
enum Tables<'a> {
    Given(&'a Kernel),
    Own(Box<Kernel>),
}

impl Tables<'_> {
    fn kernel(&self) -> &Kernel {
        match self {
            Tables::Given(kernel) => kernel,
            Tables::Own(kernel) => kernel,
        }
    }
}

/// The tables for a frame of this size.
fn tables<'a>(given: Option<&'a Kernel>, size: (u32, u32), other: impl Fn((u32, u32)) -> Kernel) -> Tables<'a> {
    let given = given.filter(|kernel| kernel.frame() == size);
    given.map_or_else(|| Tables::Own(Box::new(other(size))), Tables::Given)
}

/// Decoded planes, and how much of them came from the cache.
struct Planes {
    part: DecodedRegion,
    scale: Scale,
    region: Region,
    /// The number of tiles that came from the cache.
    from_cache: u32,
}

impl Worker {
    pub fn new(decoder: JpegDecoder) -> Result<Self> {
        let planes = [const { Vec::new() }; 3];
        let (decoder, scratch) = (RegionDecoder::new(decoder)?, Scratch::default());
        let (found, tiles) = (Found::default(), Vec::new());
        Ok(Worker { decoder, planes, rgb: Vec::new(), scratch, record: Vec::new(), found, tiles })
    }

    /// Writes the picture of frame `t` of `clip` to `slot`. Takes it from the cache if the cache has everything
    /// that it needs. Otherwise reads the frame, checks it and decodes it.
    ///
    /// `other` makes the tables for a frame whose size differs from the clip's entry.
    pub fn frame<S: SampleType>(
        &mut self,
        clip: &Clip<'_>,
        t: u32,
        making: Making<'_>,
        other: impl Fn((u32, u32)) -> Kernel,
        slot: PictureSlot<'_, S>,
    ) -> Result<DecodeCost> {
        let Making { kernel, cache } = making;
        let cache = cache.map(|cache| Ok((cache, frame_key(clip, t)?))).transpose()?;
        if let Some((cache, frame)) = cache
            && let Some((tables, cut, scale, tiles)) = self.kept(cache, frame, kernel, &other)?
        {
            self.run(tables.kernel(), Pixels::Ycc420, &cut, pitches(&cut, scale), slot);
            let cached = Cached { of_frame: OfFrame::All, tiles: tiles.into(), kept: 0, is_refused: false };
            return Ok(DecodeCost { cached: Some(cached), ..DecodeCost::default() });
        }
        let mut record = std::mem::take(&mut self.record);
        let work = clip.frame_with(t, &mut record).and_then(|frame| {
            // Fetched records have already been checked.
            if !clip.is_remote() {
                frame.check()?;
            }
            let made = self.picture(frame.jpeg(), kernel, &other, cache, slot);
            frame.prove_still_there()?;
            let (mut cost, planes) = made.map_err(|e| frame.place(e))?;
            if let Some((cache, _)) = cache {
                cost.cached = Some(self.keep(cache, planes.as_ref()));
            }
            Ok(cost)
        });
        self.record = record;
        work
    }

    /// Copies the JPEG of frame `t` of `clip` to `to`, which must have its length. Checks the copy,
    /// and returns the width and height in its header.
    pub fn jpeg(&mut self, clip: &Clip<'_>, t: u32, to: &mut [u8]) -> Result<(u32, u32)> {
        let mut record = std::mem::take(&mut self.record);
        let size = clip.frame_with(t, &mut record).and_then(|frame| {
            let jpeg = frame.jpeg();
            if jpeg.len() != to.len() {
                let e = Error::format("record-length", "the length of the frame's JPEG changed while it was read");
                return Err(frame.place(e.expected(to.len()).found(jpeg.len())));
            }
            to.copy_from_slice(jpeg);
            // Fetched records have already been checked.
            if !clip.is_remote() {
                frame.check_copy(to)?;
            }
            let format = self.decoder.format(to);
            frame.prove_still_there()?;
            format.map(|format| format.size).map_err(|e| frame.place(e))
        });
        self.record = record;
        size
    }

    /// Finds the tiles of a JPEG: see [`RegionDecoder::tiles`].
    pub fn tiles(&mut self, jpeg: &[u8]) -> Result<Option<FoundTiles>> {
        self.decoder.tiles(jpeg)
    }

    /// Copies what a frame needs from the cache to the planes, if the cache has all of it. Returns the tables for
    /// the frame, the part and the scale of the planes, and the number of tiles.
    fn kept<'a>(
        &mut self,
        cache: &Cache,
        frame: FrameKey,
        kernel: Option<&'a Kernel>,
        other: impl Fn((u32, u32)) -> Kernel,
    ) -> Result<Option<(Tables<'a>, Cut, Scale, u32)>> {
        let size = match kernel {
            Some(kernel) => Some(kernel.frame()),
            None => Scale::ALL.into_iter().find_map(|scale| {
                cache.find(frame, scale, &mut self.found);
                self.found.grid().map(|grid| grid.size)
            }),
        };
        let Some(size) = size else { return Ok(None) };
        let mut tables = tables(kernel, size, &other);
        // A second round follows if the size in the clip's entry differs from that of the frame.
        for _ in 0..2 {
            match look_up(cache, frame, tables.kernel(), &mut self.found) {
                Look::All(grid, parts, scale) => {
                    let cut = grid.cut(&parts);
                    let read = self.read_kept(cache, &parts, &cut, scale)?;
                    return Ok(read.map(|tiles| (tables, cut, scale, tiles)));
                }
                Look::OfSize(size) => tables = Tables::Own(Box::new(other(size))),
                Look::NotAll => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Copies the parts of a frame that were found to the planes, and returns the number of tiles.
    fn read_kept(&mut self, cache: &Cache, parts: &Parts, cut: &Cut, scale: Scale) -> Result<Option<u32>> {
        make_room(cut, scale, &mut self.planes)?;
        Ok(cache.read(&self.found, parts, &mut self.planes))
    }

    /// Stores decoded planes in the cache.
    fn keep(&mut self, cache: &Cache, planes: Option<&Planes>) -> Cached {
        let Some(Planes { part, scale, region, from_cache }) = planes else {
            return Cached { of_frame: OfFrame::Never, tiles: 0, kept: 0, is_refused: false };
        };
        let of_frame = if *from_cache > 0 { OfFrame::Some } else { OfFrame::Nothing };
        let (grid, parts) = (part.grid, part.grid.touched(*region));
        let kept = cache.keep(&self.found, (grid, *scale), &parts, &self.planes, &mut self.tiles);
        let bytes = if let Kept::Yes(bytes) = kept { bytes } else { 0 };
        Cached { of_frame, tiles: (*from_cache).into(), kept: bytes, is_refused: kept == Kept::NoRoom }
    }

    /// Decodes those parts of `jpeg` that its picture needs and the cache does not have. Writes the picture to
    /// `slot`.
    fn picture<S: SampleType>(
        &mut self,
        jpeg: &[u8],
        kernel: Option<&Kernel>,
        other: impl Fn((u32, u32)) -> Kernel,
        cache: Option<(&Cache, FrameKey)>,
        slot: PictureSlot<'_, S>,
    ) -> Result<(DecodeCost, Option<Planes>)> {
        let picture = self.decoder.format(jpeg)?;
        let tables = tables(kernel, picture.size, other);
        let kernel = tables.kernel();
        between_reads();
        let (cut, pitches, decoded, planes) = match kernel.wants(picture.pixels) {
            (Wanted::Planes(scale), region) => {
                let planes = self.decode_planes(jpeg, region, scale, cache)?;
                let DecodedRegion { cut, tiles, grid } = planes.part;
                if grid.size != picture.size {
                    return Err(changed());
                }
                (cut, pitches(&cut, scale), tiles, Some(planes))
            }
            (Wanted::Rgb, region) => {
                let (cut, pitches) = self.decode_rgb(jpeg, picture.size, region)?;
                (cut, pitches, cut.tiles, None)
            }
        };
        self.run(kernel, picture.pixels, &cut, pitches, slot);
        let (tiles_decoded, tiles_skipped) = (decoded.into(), cut.skipped.into());
        Ok((DecodeCost { bytes: jpeg.len() as u64, tiles_decoded, tiles_skipped, cached: None }, planes))
    }

    fn run<S: SampleType>(
        &mut self,
        kernel: &Kernel,
        pixels: Pixels,
        cut: &Cut,
        pitches: [usize; 3],
        slot: PictureSlot<'_, S>,
    ) {
        let planes = self.planes.each_ref().map(Vec::as_slice);
        let frame = Decoded { planes, pitches, origin: (cut.region.x, cut.region.y) };
        kernel.run(pixels, &frame, &mut self.scratch, slot);
    }

    fn decode_planes(
        &mut self,
        jpeg: &[u8],
        region: Region,
        scale: Scale,
        cache: Option<(&Cache, FrameKey)>,
    ) -> Result<Planes> {
        let mut from_cache = 0;
        if let Some((cache, frame)) = cache {
            cache.find(frame, scale, &mut self.found);
            let grid = self.found.grid();
            // Only a JPEG with tiles can be decoded in part.
            if let Some(grid) = self.decoder.grid(jpeg).filter(|own| grid == Some(*own)) {
                let parts = grid.touched(region);
                from_cache = self.read_kept(cache, &parts, &grid.cut(&parts), scale)?.unwrap_or(0);
            }
        }
        let found = &self.found;
        let is_here = |column, row| from_cache > 0 && found.has(column, row);
        let part = self.decoder.planes_without(jpeg, region, scale, &mut self.planes, is_here)?;
        // If libjpeg-turbo had to decode, it decoded all tiles, so none came from the cache.
        let from_cache = if part.tiles < part.cut.tiles { from_cache } else { 0 };
        if from_cache > 0 && self.found.grid() != Some(part.grid) {
            return Err(changed());
        }
        Ok(Planes { part, scale, region, from_cache })
    }

    fn decode_rgb(&mut self, jpeg: &[u8], size: (u32, u32), region: Region) -> Result<(Cut, [usize; 3])> {
        let cut = self.decoder.rgb(jpeg, size, region, &mut self.rgb)?;
        let pixels = cut.region.width as usize * cut.region.height as usize;
        let rgb = &self.rgb.as_chunks().0[..pixels];
        for (c, plane) in self.planes.iter_mut().enumerate() {
            allocation::resize(plane, pixels, 0, "a frame")?;
            plane.iter_mut().zip(rgb).for_each(|(sample, pixel): (_, &[u8; 3])| *sample = pixel[c]);
        }
        Ok((cut, [cut.region.width as usize; 3]))
    }
}

/// The number of samples from one row of each plane to the next.
fn pitches(cut: &Cut, scale: Scale) -> [usize; 3] {
    let pitch = cut.luma_pitch(scale);
    [pitch, pitch / 2, pitch / 2]
}

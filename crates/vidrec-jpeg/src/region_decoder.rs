//! Decodes a part of a picture: only its tiles if the JPEG has them, otherwise the whole picture.

use std::ops::Range;

use super::codec::{Decompressor, RgbPicture, Yuv420, check_limits};
use super::private_copy::{PrivateCopy, between_reads};
use super::region::{Cut, Region, Scale, TileGrid};
use super::tile_decoder::{TileDecoder, TilePlanes, Tiles};
use super::tiles::{FoundTiles, TileSelection, Tiler};
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};
use vidrec_format::words::unknown_variant;

/// The kind of pixels in a JPEG, as far as it matters for decoding a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pixels {
    /// YCbCr at 4:2:0, which decodes to planes.
    Ycc420,
    /// Anything else, which decodes to RGB.
    Other,
}

/// The size and the kind of a JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelFormat {
    /// Width and height in pixels, within [`limits`](vidrec_format::limits).
    pub size: (u32, u32),
    /// The kind of its pixels.
    pub pixels: Pixels,
}

/// The decoded part of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodedRegion {
    /// The part of the picture that was decoded.
    pub cut: Cut,
    /// All parts of the picture. `cut` has some of them.
    pub grid: TileGrid,
    /// The number of tiles that had to be decoded. The others were already in the planes.
    pub tiles: u32,
}

/// A decoder of parts of pictures. Create one for each thread, and reuse it for every frame.
pub struct RegionDecoder {
    decompressor: Decompressor,
    copy: PrivateCopy,
    tiler: Tiler,
    own: TileDecoder,
    /// The pixels of whole tiles, before [`crop`](Self::crop) takes some.
    rgb: Vec<u8>,
    choice: JpegDecoder,
}

impl RegionDecoder {
    /// Creates a decoder that reads tiles with the chosen decoder.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn new(choice: JpegDecoder) -> Result<Self> {
        Self::with_own(choice, TileDecoder::new())
    }

    /// Creates a decoder with this instance of our own decoder.
    pub(crate) fn with_own(choice: JpegDecoder, own: TileDecoder) -> Result<Self> {
        let (copy, tiler) = (PrivateCopy::default(), Tiler::default());
        Ok(RegionDecoder { decompressor: Decompressor::new()?, copy, tiler, own, rgb: Vec::new(), choice })
    }

    /// Reads what kind of picture `jpeg` is. This is almost free for a tiled JPEG with the same header as the last
    /// one.
    ///
    /// # Errors
    ///
    /// The bytes are not a JPEG, or the picture is beyond [`limits`](vidrec_format::limits).
    pub fn format(&mut self, jpeg: &[u8]) -> Result<PixelFormat> {
        if let Some(size) = self.tiler.size(jpeg) {
            check_limits(size.0, size.1)?;
            return Ok(PixelFormat { size, pixels: Pixels::Ycc420 });
        }
        let open = self.decompressor.open(self.copy.of_header(jpeg)?)?;
        let header = open.header();
        let pixels = if header.has_planes() { Pixels::Ycc420 } else { Pixels::Other };
        Ok(PixelFormat { size: (header.width, header.height), pixels })
    }

    /// The tiles of `jpeg`, if its header is that of a tiled one.
    pub fn grid(&mut self, jpeg: &[u8]) -> Option<TileGrid> {
        self.tiler.grid(jpeg)
    }

    /// Finds the tiles of a JPEG, for a decoder on another device. `None` if only a processor can decode this JPEG.
    ///
    /// # Errors
    ///
    /// libjpeg-turbo does not accept the header.
    pub fn tiles(&mut self, jpeg: &[u8]) -> Result<Option<FoundTiles>> {
        let Some(selection) = self.tiler.select_all(jpeg) else { return Ok(None) };
        self.read_coding()?;
        let (tiles, coding) = self.tiler.selected();
        Ok(coding.and_then(|coding| FoundTiles::new(selection.grid, tiles, coding)))
    }

    /// Reads the coding of the blocks of the last selection, once for all frames with the same header. If
    /// libjpeg-turbo does not accept the header, the error comes here.
    fn read_coding(&mut self) -> Result<()> {
        if self.tiler.is_new() {
            if let Some(header) = self.tiler.header() {
                self.decompressor.open(header)?;
            }
            self.tiler.read_coding();
        }
        Ok(())
    }

    /// Decodes at least `region` of a 4:2:0 picture to scaled planes, and returns which part of the picture they
    /// are.
    ///
    /// The samples are those of a decode of the whole picture at this scale, bit for bit. A row of luma has
    /// [`Cut::luma_pitch`] bytes, and a row of chroma half as many. The planes may have more rows than the part
    /// needs.
    ///
    /// # Errors
    ///
    /// The data is damaged, or is not a 4:2:0 YCbCr JPEG.
    pub fn planes(&mut self, jpeg: &[u8], region: Region, scale: Scale, planes: &mut [Vec<u8>; 3]) -> Result<Cut> {
        self.decode_region(jpeg, region, scale, planes).map(|part| part.cut)
    }

    /// Decodes as [`planes`](Self::planes) does, and also returns the grid and the number of tiles.
    pub fn decode_region(
        &mut self,
        jpeg: &[u8],
        region: Region,
        scale: Scale,
        planes: &mut [Vec<u8>; 3],
    ) -> Result<DecodedRegion> {
        if let Some(selection) = self.tiler.select(jpeg, region, true) {
            let TileSelection { cut, grid, .. } = selection;
            if self.choice != JpegDecoder::Turbo
                && let Some(tiles) = self.decode_tiles(jpeg, &selection, scale, planes)?
            {
                return Ok(DecodedRegion { cut, grid, tiles });
            }
            if let Some(small) = self.tiler.assemble(jpeg, &selection) {
                self.decompressor.open(small)?.yuv420(scale, target(&cut, scale, planes)?)?;
                return Ok(DecodedRegion { cut, grid, tiles: cut.tiles });
            }
        }
        let open = self.decompressor.open(self.copy.of(jpeg)?)?;
        let size = (open.header().width, open.header().height);
        if !region.within(size) {
            return Err(changed());
        }
        let cut = Cut::whole(size);
        open.yuv420(scale, target(&cut, scale, planes)?)?;
        Ok(DecodedRegion { cut, grid: TileGrid { size, tile_width: 0 }, tiles: 0 })
    }

    /// Decodes the selected tiles with our own decoder, and returns their number.
    /// `None` if libjpeg-turbo must decode them.
    fn decode_tiles(
        &mut self,
        jpeg: &[u8],
        selection: &TileSelection,
        scale: Scale,
        planes: &mut [Vec<u8>; 3],
    ) -> Result<Option<u32>> {
        self.read_coding()?;
        between_reads();
        let (segments, coding) = self.tiler.selected();
        let TileSelection { grid, parts, cut } = selection;
        let pitch = cut.luma_pitch(scale);
        let mut planes = target(cut, scale, planes)?.planes;
        let (across, restart) = (grid.parts().0 as usize, selection.restart() as usize);
        let range = |range: &Range<u32>| range.start as usize..range.end as usize;
        let mut decode = || {
            let [luma, blue, red] = &mut planes;
            let planes = [luma.get_mut(..)?, blue.get_mut(..)?, red.get_mut(..)?];
            let target = TilePlanes { planes, pitches: [pitch, pitch / 2, pitch / 2] };
            let (columns, rows) = (range(&parts.columns), range(&parts.rows));
            self.own.decode(&Tiles { jpeg, coding: coding?, segments, across, columns, rows, restart }, scale, target)
        };
        let decoded = decode();
        if decoded.is_none() && self.choice == JpegDecoder::Own {
            let message = "vidrec's own JPEG decoder: damaged data, or data that no encoder writes";
            return Err(Error::decode(message).help("set the loader option decoder to auto"));
        }
        Ok(decoded.map(|()| (parts.columns.len() * parts.rows.len()) as u32))
    }

    /// Decodes `region` of a picture to RGB, which is as large as the region, and returns which part of the picture
    /// was decoded for it.
    ///
    /// The pixels are those of a decode of the whole picture, bit for bit.
    ///
    /// # Errors
    ///
    /// The region has no pixels or is not inside the picture; not a JPEG, damaged data, or a picture beyond
    /// [`limits`](vidrec_format::limits).
    pub fn crop(&mut self, jpeg: &[u8], region: Region, picture: &mut RgbPicture) -> Result<Cut> {
        let size = self.format(jpeg)?.size;
        if !region.within(size) {
            let e = Error::usage("the region is not inside the picture").found(format!("{region:?}"));
            return Err(e.expected(format!("pixels of {}x{}", size.0, size.1)));
        }
        let mut rgb = std::mem::take(&mut self.rgb);
        let decoded = self.rgb(jpeg, size, region, &mut rgb);
        self.rgb = rgb;
        let cut = decoded?;
        (picture.width, picture.height) = (region.width, region.height);
        let [from, to] = [cut.region.width, region.width].map(|width| 3 * width as usize);
        allocation::resize(&mut picture.pixels, to * region.height as usize, 0, "a decoded picture")?;
        let start = (region.y - cut.region.y) as usize * from + 3 * (region.x - cut.region.x) as usize;
        let rows = self.rgb[start..].chunks(from).zip(picture.pixels.chunks_exact_mut(to));
        rows.for_each(|(from, to)| to.copy_from_slice(&from[..to.len()]));
        Ok(cut)
    }

    /// Decodes at least `region`, which is inside the picture, to RGB, 3 bytes per pixel without padding, and returns which part it
    /// is. `size` is the result of [`format`](Self::format) for this JPEG.
    ///
    /// The pixels inside `region` are those of a decode of the whole picture, bit for bit.
    ///
    /// # Errors
    ///
    /// Not a JPEG, damaged data, another size, or a picture beyond [`limits`](vidrec_format::limits).
    pub fn rgb(&mut self, jpeg: &[u8], size: (u32, u32), region: Region, rgb: &mut Vec<u8>) -> Result<Cut> {
        if !region.within(size) {
            return Err(changed());
        }
        if let Some(selection) = self.tiler.select(jpeg, region.with_chroma_neighbors(size), false)
            && selection.grid.size == size
            && let Some(small) = self.tiler.assemble(jpeg, &selection)
        {
            let Region { width, height, .. } = selection.cut.region;
            let pitch = width as usize * 3;
            self.decompressor.open(small)?.rgb(room(rgb, pitch * height as usize)?, pitch)?;
            return Ok(selection.cut);
        }
        let open = self.decompressor.open(self.copy.of(jpeg)?)?;
        if (open.header().width, open.header().height) != size {
            return Err(changed());
        }
        let pitch = size.0 as usize * 3;
        open.rgb(room(rgb, pitch * size.1 as usize)?, pitch)?;
        Ok(Cut::whole(size))
    }
}

/// The error for a JPEG that changed since its size was read. Only another process can have changed it.
pub fn changed() -> Error {
    Error::lost("the frame changed while it was decoded: another program writes to the file")
        .help("replace files of a data set by renaming new ones, as vidrec does")
}

/// Makes room for the planes of `cut`. This is for tiles that are put there before the others are decoded.
pub fn make_room(cut: &Cut, scale: Scale, planes: &mut [Vec<u8>; 3]) -> Result<()> {
    target(cut, scale, planes).map(drop)
}

/// The planes of `cut`, resized to have room for it.
fn target<'a>(cut: &Cut, scale: Scale, planes: &'a mut [Vec<u8>; 3]) -> Result<Yuv420<&'a mut [u8]>> {
    let (width, height) = (scale.side(cut.region.width), scale.side(cut.region.height));
    let chroma = width.div_ceil(2) as usize * height.div_ceil(2) as usize;
    let [y, cb, cr] = planes;
    Ok(Yuv420 { width, height, planes: [room(y, 4 * chroma)?, room(cb, chroma)?, room(cr, chroma)?] })
}

/// The first `length` bytes of a vector that only grows, so that no byte is cleared that will be overwritten.
fn room(bytes: &mut Vec<u8>, length: usize) -> Result<&mut [u8]> {
    if bytes.len() < length {
        allocation::resize(bytes, length, 0, "a decoded picture")?;
    }
    Ok(&mut bytes[..length])
}

/// The decoder that reads the tiles of a tiled JPEG. libjpeg-turbo decodes all other JPEGs.
///
/// Both decoders return the same bytes, so this choice only serves to compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, strum::Display, strum::EnumString, strum::VariantNames)]
#[non_exhaustive]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum JpegDecoder {
    /// vidrec's own decoder, or libjpeg-turbo if that one declines because no encoder writes such data. The
    /// default.
    #[default]
    Auto,
    /// vidrec's own decoder. It is an error if it declines.
    Own,
    /// libjpeg-turbo.
    Turbo,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Planes;
    use crate::{Decoder, Encoder};
    use proptest::prelude::*;
    use vidrec_format::random::Random;

    /// Smooth colors with edges and noise. They have all frequencies, so tiles and chroma differ everywhere.
    fn tiled(width: u32, height: u32) -> Vec<u8> {
        let mut random = Random::new(1, &[u64::from(width), u64::from(height)]);
        let mut picture = Planes::new(width, height).unwrap();
        for (k, plane) in [&mut picture.y, &mut picture.cb, &mut picture.cr].into_iter().enumerate() {
            let wave = |i: usize| 110.0 + 90.0 * (i as f64 / (7.0 + k as f64)).sin();
            plane.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i) as u8 + (random.next_u32() % 50) as u8);
        }
        let mut jpeg = Vec::new();
        Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
        jpeg
    }

    /// The whole picture's planes at `scale`, with their pitch, from a decoder that knows no tiles.
    fn whole(jpeg: &[u8], size: (u32, u32), scale: Scale) -> ([Vec<u8>; 3], usize) {
        let mut planes = [const { Vec::new() }; 3];
        let cut = Cut::whole(size);
        let jpeg = jpeg.to_vec();
        let mut decompressor = Decompressor::new().unwrap();
        let open = decompressor.open((&jpeg).into()).unwrap();
        open.yuv420(scale, target(&cut, scale, &mut planes).unwrap()).unwrap();
        (planes, cut.luma_pitch(scale))
    }

    /// Checks every sample that is at least partly in `region` against the decode of the whole picture.
    fn check_planes(decoder: &mut RegionDecoder, jpeg: &[u8], size: (u32, u32), region: Region) {
        for scale in Scale::ALL {
            let mut planes = [const { Vec::new() }; 3];
            let cut = decoder.planes(jpeg, region, scale, &mut planes).unwrap();
            let (expected, pitch) = whole(jpeg, size, scale);
            for (k, (plane, expected)) in planes.iter().zip(&expected).enumerate() {
                let half = if k == 0 { 1 } else { 2 };
                let (step, pitch, cut_pitch) =
                    (scale.step() * half, pitch / half as usize, cut.luma_pitch(scale) / half as usize);
                let columns = region.x / step..(region.x + region.width).div_ceil(step);
                for y in region.y / step..(region.y + region.height).div_ceil(step) {
                    let row = |plane: &[u8], pitch: usize, x0: u32, y0: u32| {
                        let at = (y - y0 / step) as usize * pitch + (columns.start - x0 / step) as usize;
                        plane[at..at + columns.len()].to_vec()
                    };
                    let ours = row(plane, cut_pitch, cut.region.x, cut.region.y);
                    assert_eq!(ours, row(expected, pitch, 0, 0), "{size:?} {region:?} {scale:?} plane {k} row {y}");
                }
            }
        }
    }

    fn check_rgb(decoder: &mut RegionDecoder, jpeg: &[u8], (width, height): (u32, u32), region: Region) {
        let mut picture = RgbPicture::default();
        decoder.crop(jpeg, region, &mut picture).unwrap();
        let mut whole = vec![0; (width * height * 3) as usize];
        Decoder::new().unwrap().decode_rgb(jpeg, &mut whole, width as usize * 3).unwrap();
        let mut rgb = Vec::new();
        let cut = decoder.rgb(jpeg, (width, height), region, &mut rgb).unwrap();
        for y in region.y..region.y + region.height {
            let ours = ((y - cut.region.y) * cut.region.width + region.x - cut.region.x) as usize * 3;
            let theirs = (y * width + region.x) as usize * 3;
            let length = region.width as usize * 3;
            assert!(rgb[ours..][..length] == whole[theirs..][..length], "{width}x{height} {region:?} row {y}");
            let row = (y - region.y) as usize * length;
            assert!(picture.pixels[row..][..length] == whole[theirs..][..length], "crop {region:?} row {y}");
        }
    }

    const SIZES: [(u32, u32); 9] =
        [(1, 1), (15, 17), (16, 16), (33, 47), (64, 48), (95, 31), (97, 61), (170, 128), (129, 65)];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn any_window_has_the_samples_and_pixels_of_a_whole_decode(
            size in prop::sample::select(&SIZES[..]), at: (u32, u32), length: (u32, u32),
        ) {
            let jpeg = tiled(size.0, size.1);
            let (x, y) = (at.0 % size.0, at.1 % size.1);
            let region = Region { x, y, width: 1 + length.0 % (size.0 - x), height: 1 + length.1 % (size.1 - y) };
            let mut decoder = RegionDecoder::new(JpegDecoder::Auto).unwrap();
            check_planes(&mut decoder, &jpeg, size, region);
            check_rgb(&mut decoder, &jpeg, size, region);
        }
    }

    #[test]
    fn corners_and_tile_edges_have_the_pixels_of_a_whole_decode() {
        let mut decoder = RegionDecoder::new(JpegDecoder::Auto).unwrap();
        for size in SIZES {
            let jpeg = tiled(size.0, size.1);
            let starts = |side: u32| [0, 1, 15, 16, 17, 31, 32, 33, side - 1].into_iter().filter(move |&at| at < side);
            for (x, y) in starts(size.0).flat_map(|x| starts(size.1).map(move |y| (x, y))) {
                check_rgb(&mut decoder, &jpeg, size, Region { x, y, width: 1, height: 1 });
                check_rgb(&mut decoder, &jpeg, size, Region { x, y, width: size.0 - x, height: size.1 - y });
                check_rgb(&mut decoder, &jpeg, size, Region { x: 0, y: 0, width: x + 1, height: y + 1 });
            }
        }
    }

    #[test]
    fn regions_outside_the_picture_are_refused() {
        let (jpeg, mut decoder) = (tiled(64, 48), RegionDecoder::new(JpegDecoder::Auto).unwrap());
        let whole = Region::whole((64, 48));
        for region in [
            Region { width: 0, ..whole },
            Region { x: 1, ..whole },
            Region { y: u32::MAX, ..whole },
            Region { height: u32::MAX, ..whole },
        ] {
            let e = decoder.crop(&jpeg, region, &mut RgbPicture::default()).unwrap_err();
            assert_eq!(e.kind(), vidrec_format::error::ErrorKind::Usage, "{region:?}");
            assert!(decoder.rgb(&jpeg, (64, 48), region, &mut Vec::new()).is_err());
            assert!(decoder.planes(&jpeg, region, Scale::Full, &mut [const { Vec::new() }; 3]).is_err());
        }
    }

    #[test]
    fn only_the_tiles_that_a_window_touches_are_decoded() {
        let jpeg = tiled(128, 64);
        let mut planes = [const { Vec::new() }; 3];
        let mut cut = |region| {
            RegionDecoder::new(JpegDecoder::Auto).unwrap().planes(&jpeg, region, Scale::Full, &mut planes).unwrap()
        };
        let one = cut(Region { x: 32, y: 16, width: 32, height: 16 });
        assert_eq!((one.tiles, one.skipped), (1, 15));
        assert_eq!(one.region, Region { x: 32, y: 16, width: 32, height: 16 });
        let four = cut(Region { x: 31, y: 15, width: 2, height: 2 });
        assert_eq!((four.tiles, four.skipped), (4, 12));
        let all = cut(Region::whole((128, 64)));
        assert_eq!((all.tiles, all.skipped), (16, 0));
    }
}

//! Decodes a part of a picture: only its tiles if the JPEG has them, otherwise the whole picture.

use std::ops::Range;

use super::codec::{Decompressor, RgbPicture, Yuv420, check_limits};
use super::private_copy::{PrivateCopy, between_reads};
use super::region::{Cut, Region, Scale, TileGrid};
use super::tile_decoder::{TileDecoder, TilePlanes, Tiles};
use super::tiles::{TileHeader, TileSelection, Tiler};
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

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
    /// Creates a decoder.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn new() -> Result<Self> {
        Self::with(JpegDecoder::Auto, TileDecoder::new())
    }

    /// Creates a decoder that reads tiles with the chosen decoder, and with this instance of our own.
    pub(crate) fn with(choice: JpegDecoder, own: TileDecoder) -> Result<Self> {
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
        let open = self.decompressor.open(self.copy.copy_header(jpeg)?)?;
        let header = open.header();
        let pixels = if header.has_planes() { Pixels::Ycc420 } else { Pixels::Other };
        Ok(PixelFormat { size: (header.width, header.height), pixels })
    }

    /// The tiles of `jpeg`, if its header is that of a tiled one.
    pub fn grid(&mut self, jpeg: &[u8]) -> Option<TileGrid> {
        self.tiler.grid(jpeg)
    }

    /// Reads the header of a JPEG, for a decoder on another device. `None` if only a processor can decode this JPEG.
    ///
    /// # Errors
    ///
    /// libjpeg-turbo does not accept the header.
    pub fn tile_header(&mut self, jpeg: &[u8]) -> Result<Option<TileHeader>> {
        let found = self.tiler.tile_header(jpeg);
        if let (Some(_), Some(header)) = (found, self.tiler.header()) {
            self.decompressor.open(header)?;
        }
        Ok(found)
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
        self.planes_and_grid(jpeg, region, scale, planes).map(|(cut, _)| cut)
    }

    /// Decodes as [`planes`](Self::planes) does, and also returns all parts of the picture.
    pub fn planes_and_grid(
        &mut self,
        jpeg: &[u8],
        region: Region,
        scale: Scale,
        planes: &mut [Vec<u8>; 3],
    ) -> Result<(Cut, TileGrid)> {
        if let Some(selection) = self.tiler.select(jpeg, region, true) {
            let TileSelection { cut, grid, .. } = selection;
            if self.choice != JpegDecoder::Turbo && self.decode_tiles(jpeg, &selection, scale, planes)? {
                return Ok((cut, grid));
            }
            if let Some(small) = self.tiler.assemble(jpeg, &selection) {
                self.decompressor.open(small)?.yuv420(scale, target(&cut, scale, planes)?)?;
                return Ok((cut, grid));
            }
        }
        let open = self.decompressor.open(self.copy.copy(jpeg)?)?;
        let size = (open.header().width, open.header().height);
        if !region.within(size) {
            return Err(changed());
        }
        let cut = Cut::whole(size);
        open.yuv420(scale, target(&cut, scale, planes)?)?;
        Ok((cut, TileGrid { size, tile_width: 0 }))
    }

    /// Decodes the selected tiles with our own decoder. Returns false if libjpeg-turbo must decode them.
    fn decode_tiles(
        &mut self,
        jpeg: &[u8],
        selection: &TileSelection,
        scale: Scale,
        planes: &mut [Vec<u8>; 3],
    ) -> Result<bool> {
        self.read_coding()?;
        between_reads();
        let (segments, coding) = self.tiler.selected();
        let TileSelection { grid, parts, cut } = selection;
        let pitch = cut.luma_pitch(scale);
        let mut planes = target(cut, scale, planes)?.planes;
        let (across, restart) = (grid.parts().0 as usize, grid.restart() as usize);
        let range = |range: &Range<u32>| range.start as usize..range.end as usize;
        let mut decode = || {
            let [luma, blue, red] = &mut planes;
            let planes = [luma.get_mut(..)?, blue.get_mut(..)?, red.get_mut(..)?];
            let target = TilePlanes { planes, pitches: [pitch, pitch / 2, pitch / 2] };
            let (columns, rows) = (range(&parts.columns), range(&parts.rows));
            self.own.decode(&Tiles { jpeg, coding: coding?, segments, across, columns, rows, restart }, scale, target)
        };
        let decoded = decode().is_some();
        if !decoded && self.choice == JpegDecoder::Own {
            return Err(Error::decode("vidrec's own JPEG decoder: damaged data, or data that no encoder writes"));
        }
        Ok(decoded)
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
        let open = self.decompressor.open(self.copy.copy(jpeg)?)?;
        if (open.header().width, open.header().height) != size {
            return Err(changed());
        }
        let pitch = size.0 as usize * 3;
        open.rgb(room(rgb, pitch * size.1 as usize)?, pitch)?;
        Ok(Cut::whole(size))
    }

    /// Decodes as [`rgb`](Self::rgb) does, to a plane for each of red, green and blue.
    ///
    /// # Errors
    ///
    /// The errors of [`rgb`](Self::rgb).
    pub fn rgb_planes(
        &mut self,
        jpeg: &[u8],
        size: (u32, u32),
        region: Region,
        planes: &mut [Vec<u8>; 3],
    ) -> Result<Cut> {
        let mut rgb = std::mem::take(&mut self.rgb);
        let decoded = self.rgb(jpeg, size, region, &mut rgb);
        self.rgb = rgb;
        let cut = decoded?;
        let pixels = cut.region.width as usize * cut.region.height as usize;
        let rgb = &self.rgb.as_chunks().0[..pixels];
        for (c, plane) in planes.iter_mut().enumerate() {
            allocation::resize(plane, pixels, 0, "a frame")?;
            plane.iter_mut().zip(rgb).for_each(|(sample, pixel): (_, &[u8; 3])| *sample = pixel[c]);
        }
        Ok(cut)
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

/// The decoder that reads the tiles of a tiled JPEG. Both return the same bytes; tests and benchmarks compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(any(test, vidrec_internals)), allow(dead_code))]
pub enum JpegDecoder {
    /// vidrec's own decoder, or libjpeg-turbo if that one declines because no encoder writes such data.
    Auto,
    /// vidrec's own decoder. It is an error if it declines.
    Own,
    /// libjpeg-turbo.
    Turbo,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;
    use crate::fuzzing::{encoded, picture};
    use proptest::prelude::*;

    fn tiled(width: u32, height: u32) -> Vec<u8> {
        encoded(&picture(width, height, 50), 90)
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
            let mut decoder = RegionDecoder::new().unwrap();
            check_planes(&mut decoder, &jpeg, size, region);
            check_rgb(&mut decoder, &jpeg, size, region);
        }
    }

    #[test]
    fn corners_and_tile_edges_have_the_pixels_of_a_whole_decode() {
        let mut decoder = RegionDecoder::new().unwrap();
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
        let (jpeg, mut decoder) = (tiled(64, 48), RegionDecoder::new().unwrap());
        let whole = Region::whole((64, 48));
        for region in [
            Region { width: 0, ..whole },
            Region { height: 0, ..whole },
            Region { x: 1, ..whole },
            Region { x: 64, width: 1, ..whole },
            Region { y: u32::MAX, ..whole },
            Region { height: u32::MAX, ..whole },
        ] {
            let e = decoder.crop(&jpeg, region, &mut RgbPicture::default()).unwrap_err();
            assert_eq!(e.kind(), vidrec_format::error::ErrorKind::Usage, "{region:?}");
            assert!(decoder.rgb(&jpeg, (64, 48), region, &mut Vec::new()).is_err());
            assert!(decoder.planes(&jpeg, region, Scale::Full, &mut [const { Vec::new() }; 3]).is_err());
        }
    }
}

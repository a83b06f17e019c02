//! Crops a tiled JPEG without decoding it. The result has the entropy-coded segments of the wanted tiles after a
//! patched header.
//!
//! A tile is one restart interval. At a restart marker, the entropy decoder starts over, on a byte boundary and
//! with DC predictions of 0 (T.81, F.2.1.3.1). The bytes of a tile therefore mean the same at any place. Every
//! block is transformed by itself. A tile's planes thus have the samples of a decode of the whole picture, bit for
//! bit, and the planes need no margin around the wanted window. Smooth upsampling of chroma does need one: see
//! [`Region::with_chroma_neighbors`].
//!
//! This code trusts nothing but the bytes of the JPEG. A JPEG is tiled if its bytes say so: baseline, 8 bits,
//! three components of 2x2, 1x1 and 1x1 samples, one scan, a restart interval that divides the MCUs of a row, and
//! markers RST0, RST1, .. RST7, RST0 in order and in the right number, up to the end of the image. Any other JPEG
//! is "not tiled", and the caller decodes it whole.

use super::markers::{APP0, APP14, APP15, COM, DHT, DQT, DRI, EOI, MarkerSegment, RST0, SOF0, SOI, SOS, headers};
use super::private_copy::{PrivateJpeg, between_reads};
use super::region::{Cut, MCU_SIDE, Parts, Region, TileGrid};
use super::tile_decoder::{Coding, TablePlaces, TileData};
use vidrec_format::limits;

/// The number of MCUs between two restart markers for a picture of `width` pixels: 2 if that divides a row of
/// MCUs, otherwise 1.
pub(crate) fn restart_interval(width: u32) -> u16 {
    if width.div_ceil(MCU_SIDE).is_multiple_of(2) { 2 } else { 1 }
}

/// The facts in the header of a tiled JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TileLayout {
    width: u32,
    height: u32,
    /// The number of MCUs in a tile.
    restart: u32,
    /// The offset of the height in the frame header. The width follows it.
    sides_at: usize,
}

impl TileLayout {
    fn grid(&self) -> TileGrid {
        TileGrid { size: (self.width, self.height), tile_width: self.restart * MCU_SIDE }
    }
}

/// The tiles that a region touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TileSelection {
    pub grid: TileGrid,
    pub parts: Parts,
    pub cut: Cut,
}

/// A header that has occurred.
struct KnownHeader {
    /// The bytes from SOI to the entropy-coded data.
    header: Vec<u8>,
    layout: TileLayout,
    /// The coding of the blocks, once a caller has asked for it. `Some(None)` if our own decoder cannot read such
    /// headers.
    coding: Option<Option<Coding>>,
}

/// The facts in the header of a tiled JPEG that a decoder on another device needs: see
/// [`RegionDecoder::tile_header`](super::RegionDecoder::tile_header).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileHeader {
    /// The division of the picture into tiles.
    pub grid: TileGrid,
    /// The bytes from SOI to the entropy-coded data.
    pub length: u32,
    /// The location of the tables in the header.
    pub tables: TablePlaces,
}

/// The maximum number of headers to keep. Frames of a clip have the same header, and those of a data set usually
/// differ only in size.
const MOST_KNOWN: usize = 16;

/// Cuts JPEGs. It keeps its buffers, and what it knows about the most recent headers.
#[derive(Default)]
pub(crate) struct Tiler {
    /// The known headers, the last one first.
    known: Vec<KnownHeader>,
    /// The location of each tile's bytes.
    tiles: Vec<TileData>,
    /// A buffer for the small JPEG.
    out: Vec<u8>,
}

impl Tiler {
    /// The width and height of `jpeg`, if its header is that of a tiled one.
    pub fn size(&mut self, jpeg: &[u8]) -> Option<(u32, u32)> {
        self.known(jpeg).map(|known| (known.layout.width, known.layout.height))
    }

    /// The grid of `jpeg`, if its header is that of a tiled one.
    pub fn grid(&mut self, jpeg: &[u8]) -> Option<TileGrid> {
        self.known(jpeg).map(|known| known.layout.grid())
    }

    /// Makes a JPEG of the tiles that `region` touches, if `jpeg` is tiled and has such a region.
    ///
    /// With `padded`, its sides are whole tiles. Otherwise, they end with the picture.
    #[cfg(any(test, vidrec_internals))]
    pub fn cut(&mut self, jpeg: &[u8], region: Region, padded: bool) -> Option<(PrivateJpeg<'_>, Cut)> {
        let selection = self.select(jpeg, region, padded)?;
        Some((self.assemble(jpeg, &selection)?, selection.cut))
    }

    /// Finds the tiles that `region` touches, as [`cut`](Self::cut) does.
    pub fn select(&mut self, jpeg: &[u8], region: Region, padded: bool) -> Option<TileSelection> {
        let KnownHeader { header, layout, .. } = self.known(jpeg)?;
        let (length, layout) = (header.len(), *layout);
        between_reads();
        if !region.within((layout.width, layout.height)) {
            return None;
        }
        let grid = layout.grid();
        find_tiles(jpeg, length, grid.count(), &mut self.tiles)?;
        let parts = grid.touched(region);
        let mut cut = grid.cut(&parts);
        let Region { x, y, width, height } = &mut cut.region;
        if !padded {
            (*width, *height) = ((*width).min(layout.width - *x), (*height).min(layout.height - *y));
        }
        if *width > limits::MAX_SIDE || *height > limits::MAX_SIDE {
            return None;
        }
        Some(TileSelection { grid, parts, cut })
    }

    /// The facts in the header of `jpeg`, if it is tiled and a device can read its tables.
    pub fn tile_header(&mut self, jpeg: &[u8]) -> Option<TileHeader> {
        let KnownHeader { header, layout, .. } = self.known(jpeg)?;
        let (length, tables) = (u32::try_from(header.len()).ok()?, TablePlaces::read(header)?);
        Some(TileHeader { grid: layout.grid(), length, tables })
    }

    /// Makes the JPEG of the tiles that were last selected in `jpeg`.
    pub fn assemble(&mut self, jpeg: &[u8], selection: &TileSelection) -> Option<PrivateJpeg<'_>> {
        between_reads();
        let TileSelection { grid, parts: Parts { columns, rows }, cut } = selection;
        let (across, _) = grid.parts();
        let KnownHeader { header, layout, .. } = self.known.first()?;
        self.out.clear();
        self.out.extend_from_slice(header);
        let [height, width] = [cut.region.height, cut.region.width].map(u16::try_from);
        let sides = [height.ok()?.to_be_bytes(), width.ok()?.to_be_bytes()];
        self.out[layout.sides_at..][..4].copy_from_slice(sides.as_flattened());
        let mut count = 0u8;
        for row in rows.clone() {
            for tile in &self.tiles[(row * across + columns.start) as usize..][..columns.len()] {
                if !(row == rows.start && count == 0) {
                    self.out.extend([0xFF, RST0 + count.wrapping_sub(1) % 8]);
                }
                self.out.extend_from_slice(&jpeg[tile.range.clone()]);
                count = count.wrapping_add(1);
            }
        }
        self.out.extend([0xFF, EOI]);
        Some(PrivateJpeg::from(&self.out))
    }

    /// All tiles of the picture of the last selection, and the coding of their blocks, if it is known.
    pub fn selected(&self) -> (&[TileData], Option<&Coding>) {
        (&self.tiles, self.known.first().and_then(|known| known.coding.as_ref()?.as_ref()))
    }

    /// The header of the last selection, up to the entropy-coded data.
    pub fn header(&self) -> Option<PrivateJpeg<'_>> {
        self.known.first().map(|known| PrivateJpeg::from(&known.header))
    }

    /// Whether [`read_coding`](Self::read_coding) has not yet been called for the header of the last selection.
    pub fn is_new(&self) -> bool {
        self.known.first().is_some_and(|known| known.coding.is_none())
    }

    /// Reads the coding of blocks from the header of the last selection.
    pub fn read_coding(&mut self) {
        if let Some(known) = self.known.first_mut() {
            let tables = TablePlaces::read(&known.header);
            known.coding = Some(tables.and_then(|tables| Coding::new(&known.header, &tables)));
        }
    }

    /// Finds the header of `jpeg`. A known header with the same bytes has the same contents. Otherwise, the header
    /// is read now.
    fn known(&mut self, jpeg: &[u8]) -> Option<&KnownHeader> {
        match self.known.iter().position(|known| jpeg.starts_with(&known.header)) {
            Some(0) => {}
            Some(i) => self.known[..=i].rotate_right(1),
            None => {
                let (_, length) = read_header(jpeg)?;
                between_reads();
                let header = jpeg.get(..length)?.to_vec();
                // The facts come from the copy, even if a mapped file has just changed.
                let (layout, _) = read_header(&header).filter(|&(_, end)| end == length)?;
                self.known.truncate(MOST_KNOWN - 1);
                self.known.insert(0, KnownHeader { header, layout, coding: None });
            }
        }
        self.known.first()
    }
}

/// Reads the header and its length up to the entropy-coded data. `None` unless the JPEG is tiled.
fn read_header(jpeg: &[u8]) -> Option<(TileLayout, usize)> {
    let (mut frame, mut restart) = (None, 0);
    for segment in headers(jpeg) {
        match segment.marker {
            APP14 => return None,
            SOI | DQT | DHT | COM | APP0..=APP15 => {}
            DRI => restart = u32::from(u16::from_be_bytes(*segment.body.first_chunk()?)),
            SOF0 if frame.is_none() => frame = Some(read_frame(&segment)?),
            SOS => {
                let ((width, height), sides_at) = frame?;
                let one_scan = matches!(segment.body, [3, 1, _, 2, _, 3, _, 0, 63, 0]);
                let divides = restart > 0 && width.div_ceil(MCU_SIDE).is_multiple_of(restart);
                let layout = TileLayout { width, height, restart, sides_at };
                return (one_scan && divides).then_some((layout, segment.end));
            }
            _ => return None,
        }
    }
    None
}

/// Reads width and height, and the offset of the height. `None` unless the JPEG is 4:2:0 as in JFIF, which libjpeg
/// also assumes if the ids are 1, 2 and 3 and there is no Adobe marker (jdapimin.c, `default_decompress_parms`).
fn read_frame(header: &MarkerSegment<'_>) -> Option<((u32, u32), usize)> {
    let [8, h1, h0, w1, w0, 3, 1, 0x22, _, 2, 0x11, _, 3, 0x11, _] = *header.body else { return None };
    let [width, height] = [[w1, w0], [h1, h0]].map(|side| u32::from(u16::from_be_bytes(side)));
    (width > 0 && height > 0).then_some(((width, height), header.end - header.body.len() + 1))
}

/// Finds the entropy-coded data of the tiles after `from`. `None` unless there are `count` tiles, numbered in
/// order and followed by the end of the image.
///
/// In entropy-coded data, a byte 0xFF is either followed by 0, which is stuffing, or it begins a marker. More
/// bytes 0xFF may precede the rest of the marker. They are fill and belong to no tile.
fn find_tiles(jpeg: &[u8], from: usize, count: usize, tiles: &mut Vec<TileData>) -> Option<()> {
    tiles.clear();
    let (mut start, mut at, mut stuffed) = (from, from, 0);
    loop {
        let end = at + memchr::memchr(0xFF, jpeg.get(at..)?)?;
        let fill = jpeg[end..].iter().take_while(|&&b| b == 0xFF).count();
        let marker = *jpeg.get(end + fill)?;
        at = end + fill + 1;
        if marker == 0 {
            stuffed += fill;
            continue;
        }
        tiles.push(TileData { range: start..end, stuffed: std::mem::take(&mut stuffed) });
        start = at;
        match marker {
            EOI if tiles.len() == count => return Some(()),
            _ if tiles.len() < count && marker == RST0 + (tiles.len() - 1) as u8 % 8 => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RegionDecoder;
    use crate::fuzzing;
    use proptest::prelude::*;

    fn encoded(width: u32, height: u32) -> Vec<u8> {
        fuzzing::encoded(&fuzzing::picture(width, height, 30), 90)
    }

    fn cut(jpeg: &[u8], region: Region) -> Option<(Vec<u8>, Cut)> {
        Tiler::default().cut(jpeg, region, true).map(|(small, cut)| (small.bytes().to_vec(), cut))
    }

    const CORNER: Region = Region { x: 0, y: 0, width: 1, height: 1 };

    fn find(jpeg: &[u8], marker: u8) -> usize {
        jpeg.windows(2).position(|pair| pair == [0xFF, marker]).unwrap()
    }

    #[test]
    fn tiles_are_renumbered_and_a_crop_can_be_cut_again() {
        let jpeg = encoded(320, 320);
        let (once, first) = cut(&jpeg, Region { x: 100, y: 100, width: 150, height: 150 }).unwrap();
        assert_eq!(first.region, Region { x: 96, y: 96, width: 160, height: 160 });
        let (twice, _) = cut(&once, Region { x: 40, y: 40, width: 60, height: 60 }).unwrap();
        let (direct, _) = cut(&jpeg, Region { x: 136, y: 136, width: 60, height: 60 }).unwrap();
        assert!(twice == direct);
    }

    #[test]
    fn fill_bytes_change_nothing_but_are_left_out_between_tiles() {
        let jpeg = encoded(64, 48);
        let region = Region { x: 30, y: 20, width: 4, height: 4 };
        let plain = cut(&jpeg, region).unwrap();
        for marker in [RST0, RST0 + 3, EOI] {
            let at = find(&jpeg, marker);
            assert_eq!(
                cut(&[&jpeg[..at], &[0xFF; 3], &jpeg[at..]].concat(), region),
                Some(plain.clone()),
                "{marker:x}"
            );
        }
        for marker in [DQT, SOF0, DHT, DRI, SOS] {
            let at = find(&jpeg, marker);
            let filled = [&jpeg[..at], &[0xFF; 3], &jpeg[at..]].concat();
            assert_eq!(cut(&filled, region).unwrap().1, plain.1, "{marker:x}");
            assert_eq!(Tiler::default().size(&filled), Some((64, 48)));
        }
    }

    #[test]
    fn any_other_jpeg_is_not_tiled() {
        for name in ["s420", "s422", "s444", "gray", "progressive"] {
            let path = format!("{}/../../tests/data/jpeg/{name}.jpg", env!("CARGO_MANIFEST_DIR"));
            assert_eq!(cut(&std::fs::read(path).unwrap(), CORNER), None, "{name}");
        }
    }

    #[test]
    fn a_segment_too_few_or_too_many_or_misnumbered_is_not_tiled() {
        let jpeg = encoded(64, 48);
        let (second, third) = (find(&jpeg, RST0 + 1), find(&jpeg, RST0 + 2));
        assert!(cut(&jpeg, CORNER).is_some());
        let mut misnumbered = jpeg.clone();
        misnumbered[third + 1] += 1;
        for bad in [
            [&jpeg[..second], &jpeg[third..]].concat(),
            [&jpeg[..third], &jpeg[second..]].concat(),
            misnumbered,
            jpeg[..jpeg.len() - 2].to_vec(),
            jpeg[..jpeg.len() - 1].to_vec(),
        ] {
            assert_eq!(cut(&bad, CORNER), None);
        }
    }

    #[test]
    fn a_restart_interval_that_crosses_rows_is_not_tiled() {
        let mut jpeg = encoded(96, 48);
        let dri = find(&jpeg, DRI);
        for (interval, tiled) in [(0, false), (1, true), (4, false), (6, true), (7, false)] {
            jpeg[dri + 4..dri + 6].copy_from_slice(&u16::to_be_bytes(interval));
            assert_eq!(Tiler::default().size(&jpeg).is_some(), tiled, "{interval}");
        }
    }

    #[test]
    fn a_header_says_where_its_tables_are() {
        let jpeg = encoded(160, 48);
        let TileHeader { grid, length, tables } = RegionDecoder::new().unwrap().tile_header(&jpeg).unwrap().unwrap();
        assert_eq!((grid.size, length as usize), ((160, 48), find(&jpeg, SOS) + 14));
        let before = |at: u32| jpeg[at as usize - 1];
        // The numbers of tables: one of quantizers and two of codes for luma, and others that blue and red share.
        assert_eq!(tables.quantizers.map(before), [0, 1, 1]);
        assert_eq!(tables.codes.map(|codes| codes.map(before)), [[0x00, 0x10], [0x01, 0x11], [0x01, 0x11]]);
        let mut cut_short = jpeg.clone();
        cut_short[tables.codes[1][1] as usize] = 255;
        assert!(!matches!(RegionDecoder::new().unwrap().tile_header(&cut_short), Ok(Some(_))));
    }

    proptest! {
        #[test]
        fn any_bytes_behind_a_good_header_are_a_cut_or_a_refusal(mut tail in prop::collection::vec(
            prop_oneof![Just(0xFFu8), 0xD0..=0xDAu8, Just(0u8), any::<u8>()], 0..40,
        )) {
            let mut jpeg = encoded(32, 16);
            let scan = find(&jpeg, SOS) + 14;
            jpeg.truncate(scan);
            jpeg.append(&mut tail);
            if let Some((small, _)) = cut(&jpeg, CORNER) {
                prop_assert!(small.ends_with(&[0xFF, EOI]) && small.len() <= jpeg.len());
            }
        }
    }
}

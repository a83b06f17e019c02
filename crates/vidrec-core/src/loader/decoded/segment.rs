//! Segments: tiles of one frame, one after another, each with its samples of luma, blue and red.
//!
//! | bytes | contents |
//! | --- | --- |
//! | 0..4 | CRC-32 of the rest of the head |
//! | 4..8 | number of the scale |
//! | 8..16 | number of the frame |
//! | 16..24 | offset of the segment before it, or 0 |
//! | 24..32 | width and height of the frame in pixels |
//! | 32..36 | width of a tile in pixels; 0 if the whole frame is one tile |
//! | 36..40 | number of tiles in the segment |
//! | 40..56 | the offset of the record, and the length and CRC-32 of its JPEG |
//! | 64.. | a bit for each tile of the frame: whether the segment has it; padded to a multiple of 64 bytes |
//! | then | the tiles, in the order of the frame |
//!
//! The reader trusts nothing in a head, because other processes can write to this memory.

use vidrec_format::limits;
use vidrec_jpeg::{Scale, TileGrid};

/// The length of a head without its bits, in bytes.
pub(super) const FIXED: usize = 64;

/// Identifies a frame and its JPEG by the frame's entry in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct FrameKey {
    /// The number of the frame, counted over all shards.
    pub number: u64,
    pub record_offset: u64,
    pub jpeg_length: u32,
    pub jpeg_crc32: u32,
}

/// The contents of the head of a segment, without its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub frame: FrameKey,
    pub scale: Scale,
    pub before: u64,
    pub grid: TileGrid,
    /// The number of tiles in the segment.
    pub tiles: u32,
}

/// The length of a tile in bytes. Sizes also come from heads, so nothing may overflow.
pub(super) fn tile_bytes(grid: &TileGrid, scale: Scale) -> usize {
    let (width, height) = grid.chroma_sides(scale);
    6 * width * height
}

/// The length of the head of a segment of such a frame, in bytes.
pub(super) fn head_bytes(grid: &TileGrid) -> usize {
    FIXED + grid.count().div_ceil(8).next_multiple_of(64)
}

/// Whether a frame can have this size and these tiles.
pub(super) fn is_possible(grid: &TileGrid) -> bool {
    let TileGrid { size: (width, height), tile_width } = *grid;
    let is_side = |side: u32| (1..=limits::MAX_SIDE).contains(&side);
    is_side(width)
        && is_side(height)
        && u64::from(width) * u64::from(height) <= limits::MAX_PIXELS
        && tile_width.is_multiple_of(16)
        // A whole number of tiles makes a row of MCUs.
        && (tile_width == 0 || width.next_multiple_of(16).is_multiple_of(tile_width))
}

impl Head {
    /// Writes the head, with the bits of these tiles, to `out`.
    pub fn bytes(&self, places: impl Iterator<Item = usize>, out: &mut Vec<u8>) {
        out.clear();
        out.resize(head_bytes(&self.grid), 0);
        let Head { frame, scale, before, grid: TileGrid { size, tile_width }, tiles } = *self;
        let numbers = [scale as u32, size.0, size.1, tile_width, tiles, frame.jpeg_length, frame.jpeg_crc32];
        for (at, number) in [4, 24, 28, 32, 36, 48, 52].into_iter().zip(numbers) {
            out[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        }
        for (at, number) in [(8, frame.number), (16, before), (40, frame.record_offset)] {
            out[at..at + 8].copy_from_slice(&number.to_ne_bytes());
        }
        places.for_each(|place| out[FIXED + place / 8] |= 1 << (place % 8));
        let sum = crc32fast::hash(&out[4..]);
        out[..4].copy_from_slice(&sum.to_ne_bytes());
    }

    /// Reads the first bytes of a head; `None` if there can be no such segment. [`is_whole`] checks the rest.
    pub fn read(bytes: &[u8; FIXED]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        let scale = *Scale::ALL.get(number(4)? as usize)?;
        let grid = TileGrid { size: (number(24)?, number(28)?), tile_width: number(32)? };
        let (jpeg_length, jpeg_crc32) = (number(48)?, number(52)?);
        let frame = FrameKey { number: long(8)?, record_offset: long(40)?, jpeg_length, jpeg_crc32 };
        let head = Head { frame, scale, before: long(16)?, grid, tiles: number(36)? };
        is_possible(&grid).then_some(head)
    }
}

/// Whether the checksum of a whole head is correct.
pub(super) fn is_whole(head: &[u8]) -> bool {
    let Some((sum, rest)) = head.split_first_chunk() else { return false };
    crc32fast::hash(rest) == u32::from_ne_bytes(*sum)
}

/// The tiles that a whole head lists, by their number in the frame.
pub(super) fn places(head: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let words = head.get(FIXED..).unwrap_or_default().as_chunks::<8>().0.iter();
    words.enumerate().flat_map(|(at, word)| {
        let mut bits = u64::from_le_bytes(*word);
        std::iter::from_fn(move || {
            let next = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            (next < 64).then_some(64 * at + next)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_written_and_no_other_way() {
        let grid = TileGrid { size: (340, 256), tile_width: 32 };
        let frame = FrameKey { number: 7, record_offset: 1 << 40, jpeg_length: 9, jpeg_crc32: u32::MAX };
        let head = Head { frame, scale: Scale::Half, before: 4096, grid, tiles: 3 };
        let mut bytes = Vec::new();
        head.bytes([0, 65, 175].into_iter(), &mut bytes);
        assert_eq!((bytes.len(), head_bytes(&grid), tile_bytes(&grid, Scale::Half)), (128, 128, 192));
        assert_eq!(Head::read(bytes.first_chunk().unwrap()), Some(head));
        assert!(is_whole(&bytes) && places(&bytes).eq([0, 65, 175]));
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert!(!is_whole(&bad), "{at}");
        }
        assert!(!is_whole(&[]) && !is_whole(&bytes[..3]));
    }

    #[test]
    fn frames_that_cannot_be_are_refused() {
        let is = |size, tile_width| is_possible(&TileGrid { size, tile_width });
        assert!(is((340, 256), 32) && is((340, 256), 0) && is((340, 256), 352) && is((1, 1), 16));
        for (size, tile_width) in
            [((0, 1), 0), ((1, 0), 16), ((65_501, 1), 0), ((60_000, 60_000), 0), ((340, 256), 8), ((340, 256), 48)]
        {
            assert!(!is(size, tile_width), "{size:?} {tile_width}");
        }
    }
}

//! The layout of the file, and of the planes of a frame in it.
//!
//! The head of a frame:
//!
//! | bytes | contents |
//! | --- | --- |
//! | 0..4 | CRC-32 of the rest of the head |
//! | 4..8 | number of the scale |
//! | 8..16 | number of the frame |
//! | 16..24 | width and height of the frame in pixels |
//! | 24..28 | width of a tile in pixels; 0 if the whole frame is one tile |
//! | 28..36 | the length and the CRC-32 of the JPEG |
//! | 36..44 | the offset of the record |
//!
//! The planes follow the head without padding: luma, blue and red, row by row. The reader trusts nothing in a head,
//! because other processes can write to this memory.

use vidrec_format::error::{Error, Hint, Result};
use vidrec_jpeg::{Cut, Region, Scale, TileGrid};

/// The version of the file format, and of the planes that decoders produce.
const FORMAT: u32 = 2;
const MAGIC: &[u8; 8] = b"vidrecDP";
/// The length of the header, which says what the file is for. It ends before the number of taken bytes.
pub(super) const HEADER: usize = 64;
/// The offset of the number of taken bytes, which is also the number of the first free byte.
pub(super) const TAKEN: usize = 128;
const INDEX: u64 = 4096;
/// Frames begin at multiples of this.
pub(super) const ALIGNED: u64 = 64;

/// The layout of a file of `length` bytes for `frames` frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub frames: u64,
    pub length: u64,
}

impl Layout {
    /// # Errors
    ///
    /// The file does not even have room for a small frame.
    pub fn new(frames: u64, length: u64) -> Result<Self> {
        let layout = Layout { frames, length: length / ALIGNED * ALIGNED };
        let least = layout.begin().saturating_add(1 << 16);
        if layout.length >= least && usize::try_from(length).is_ok() {
            return Ok(layout);
        }
        let e = Error::usage("loader option decoded_cache: too small for the table of frames");
        let e = e.expected(format!("at least {least} bytes for {frames} frames")).found(format!("{length} bytes"));
        Err(e.hint(Hint::Set("decoded_cache")))
    }

    /// The offset of the first frame.
    pub fn begin(&self) -> u64 {
        let index = self.frames.saturating_mul(8 * Scale::ALL.len() as u64);
        index.saturating_add(INDEX).div_ceil(4096).saturating_mul(4096)
    }

    /// The offset of a frame's number. `None` if there is no such frame.
    pub fn index(&self, frame: u64, scale: Scale) -> Option<usize> {
        let number = (frame < self.frames).then(|| frame + self.frames * scale as u64)?;
        usize::try_from(INDEX + 8 * number).ok()
    }

    /// Returns the header of the file, which distinguishes it from all other files.
    pub fn header(&self, contents: &[u8; 32]) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&FORMAT.to_ne_bytes());
        header[16..24].copy_from_slice(&self.length.to_ne_bytes());
        header[24..32].copy_from_slice(&self.frames.to_ne_bytes());
        header[32..].copy_from_slice(contents);
        header
    }
}

/// The length of a head in bytes.
pub(super) const HEAD: usize = 64;

/// Identifies a frame and its JPEG by the frame's entry in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct FrameKey {
    /// The number of the frame, counted over all shards.
    pub number: u64,
    pub record_offset: u64,
    pub jpeg_length: u32,
    pub jpeg_crc32: u32,
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub frame: FrameKey,
    pub scale: Scale,
    pub grid: TileGrid,
}

impl Head {
    pub fn bytes(&self) -> [u8; HEAD] {
        let Head { frame, scale, grid: TileGrid { size, tile_width } } = *self;
        let mut bytes = [0; HEAD];
        let numbers = [scale as u32, size.0, size.1, tile_width, frame.jpeg_length, frame.jpeg_crc32];
        for (at, number) in [4, 16, 20, 24, 28, 32].into_iter().zip(numbers) {
            bytes[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        }
        bytes[8..16].copy_from_slice(&frame.number.to_ne_bytes());
        bytes[36..44].copy_from_slice(&frame.record_offset.to_ne_bytes());
        let sum = crc32fast::hash(&bytes[4..]);
        bytes[..4].copy_from_slice(&sum.to_ne_bytes());
        bytes
    }

    /// Reads a head; `None` if its checksum is wrong, or if there can be no such frame.
    pub fn read(bytes: &[u8; HEAD]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        let scale = *Scale::ALL.get(number(4)? as usize)?;
        let grid = TileGrid { size: (number(16)?, number(20)?), tile_width: number(24)? };
        let (jpeg_length, jpeg_crc32) = (number(28)?, number(32)?);
        let frame = FrameKey { number: long(8)?, record_offset: long(36)?, jpeg_length, jpeg_crc32 };
        let is_whole = number(0)? == crc32fast::hash(&bytes[4..]);
        (is_whole && grid.is_possible()).then_some(Head { frame, scale, grid })
    }

    /// The part of a frame that is stored: all of its tiles.
    pub fn whole(&self) -> Cut {
        self.grid.cut(&self.grid.touched(Region::whole(self.grid.size)))
    }

    /// The length of the head and the planes in bytes.
    pub fn length(&self) -> u64 {
        let (width, height) = self.whole().chroma_sides(self.scale);
        HEAD as u64 + 6 * width as u64 * height as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_written_and_no_other_way() {
        let frame = FrameKey { number: 7, record_offset: 1 << 40, jpeg_length: 9, jpeg_crc32: u32::MAX };
        let head = Head { frame, scale: Scale::Half, grid: TileGrid { size: (340, 256), tile_width: 32 } };
        let bytes = head.bytes();
        assert_eq!((Head::read(&bytes), head.length()), (Some(head), 64 + 176 * 128 * 3 / 2));
        for at in 0..bytes.len() {
            let mut bad = bytes;
            bad[at] ^= 1;
            assert_eq!(Head::read(&bad), None, "{at}");
        }
        let is = |size, tile_width| TileGrid { size, tile_width }.is_possible();
        assert!(is((340, 256), 32) && is((340, 256), 0) && is((340, 256), 352) && is((1, 1), 16));
        for (size, tile_width) in
            [((0, 1), 0), ((1, 0), 16), ((65_501, 1), 0), ((60_000, 60_000), 0), ((340, 256), 8), ((340, 256), 48)]
        {
            assert!(!is(size, tile_width), "{size:?} {tile_width}");
        }
    }
}

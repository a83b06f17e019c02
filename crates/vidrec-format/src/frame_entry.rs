//! One entry of the frame table: `format-spec/vidrec-v1.md#frame-table-frms`.

use byteorder::{ByteOrder, LittleEndian as LE};

use super::entry_crc32;

/// Size of an entry in bytes.
pub const BYTES: usize = 32;

/// The `source_index` of a frame whose place in its source is unknown.
pub const UNKNOWN_SOURCE_INDEX: u32 = u32::MAX;

/// The location of a frame in the record file, and its presentation time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameEntry {
    /// Byte offset of the record's first magic word.
    pub record_offset: u64,
    /// Presentation time in units of the clip's time base.
    pub pts: i64,
    /// Length of the JPEG in bytes, without the record header.
    pub jpeg_length: u32,
    /// CRC-32 of the JPEG.
    pub jpeg_crc32: u32,
    /// Ordinal among the frames decoded from the source, or [`UNKNOWN_SOURCE_INDEX`].
    pub source_index: u32,
}

impl FrameEntry {
    /// The bytes on disk of the entry of frame `ordinal` of the shard, with the entry's own CRC-32.
    pub fn to_bytes(self, ordinal: u64) -> [u8; BYTES] {
        let mut b = [0; BYTES];
        LE::write_u64(&mut b[0..8], self.record_offset);
        LE::write_i64(&mut b[8..16], self.pts);
        LE::write_u32(&mut b[16..20], self.jpeg_length);
        LE::write_u32(&mut b[20..24], self.jpeg_crc32);
        LE::write_u32(&mut b[24..28], self.source_index);
        let crc = entry_crc32(&b[..28], ordinal);
        LE::write_u32(&mut b[28..32], crc);
        b
    }

    /// Reads the entry of frame `ordinal`; `None` if its CRC-32 does not match.
    pub fn from_bytes(b: &[u8; BYTES], ordinal: u64) -> Option<Self> {
        (LE::read_u32(&b[28..32]) == entry_crc32(&b[..28], ordinal)).then(|| FrameEntry {
            record_offset: LE::read_u64(&b[0..8]),
            pts: LE::read_i64(&b[8..16]),
            jpeg_length: LE::read_u32(&b[16..20]),
            jpeg_crc32: LE::read_u32(&b[20..24]),
            source_index: LE::read_u32(&b[24..28]),
        })
    }
}

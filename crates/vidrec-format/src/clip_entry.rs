//! One entry of the clip table: `format-spec/vidrec-v1.md#clip-table-clps`.

use byteorder::{ByteOrder, LittleEndian as LE};

use super::entry_crc32;

/// Size of an entry in bytes.
pub const BYTES: usize = 80;

/// The stored label of a clip without a label.
pub const NO_LABEL: i32 = -1;

/// Flag: the source had fewer frames than requested, so some frames are repeated.
pub const FLAG_SHORT: u32 = 1;

/// A range of the string pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StringRef {
    /// Byte offset from the start of the string pool.
    pub offset: u64,
    /// Length in bytes; 0 means that there is no such string.
    pub length: u32,
}

/// The stored facts of a clip: its frames, size, label, times and names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClipEntry {
    /// Ordinal of the clip's first frame in the shard.
    pub first_frame: u64,
    /// Number of frames.
    pub frame_count: u32,
    /// Label, 0 to 2^24, or [`NO_LABEL`].
    pub label: i32,
    /// Width in pixels of every frame; 0 if the frames differ or the width is unknown.
    pub width: u16,
    /// Height in pixels of every frame; 0 if the frames differ or the height is unknown.
    pub height: u16,
    /// Bit 0: [`FLAG_SHORT`]. Readers ignore the other bits.
    pub flags: u32,
    /// Unit of the frames' presentation times in seconds, as numerator and denominator.
    pub time_base: (u32, u32),
    /// Source path, relative to the input root, with `/` between folders.
    pub source: StringRef,
    /// Class name.
    pub class: StringRef,
    /// Attributes: a JSON object.
    pub attributes: StringRef,
    /// CRC-32 of the bytes of the three strings, concatenated.
    pub strings_crc32: u32,
}

impl ClipEntry {
    /// The ordinals of its frames in the shard.
    pub fn frames(&self) -> std::ops::Range<u64> {
        self.first_frame..self.first_frame.saturating_add(self.frame_count.into())
    }

    /// The bytes on disk of the entry of clip `ordinal` of the shard, with the entry's own CRC-32.
    pub fn to_bytes(&self, ordinal: u64) -> [u8; BYTES] {
        let mut b = [0; BYTES];
        LE::write_u64(&mut b[0..8], self.first_frame);
        LE::write_u32(&mut b[8..12], self.frame_count);
        LE::write_i32(&mut b[12..16], self.label);
        LE::write_u16(&mut b[16..18], self.width);
        LE::write_u16(&mut b[18..20], self.height);
        LE::write_u32(&mut b[20..24], self.flags);
        LE::write_u32(&mut b[24..28], self.time_base.0);
        LE::write_u32(&mut b[28..32], self.time_base.1);
        for (i, text) in [self.source, self.class, self.attributes].iter().enumerate() {
            LE::write_u64(&mut b[32 + 8 * i..][..8], text.offset);
            LE::write_u32(&mut b[56 + 4 * i..][..4], text.length);
        }
        LE::write_u32(&mut b[68..72], self.strings_crc32);
        let crc = entry_crc32(&b[..76], ordinal);
        LE::write_u32(&mut b[76..80], crc);
        b
    }

    /// Reads the entry of clip `ordinal`; `None` if its CRC-32 does not match.
    pub fn from_bytes(b: &[u8; BYTES], ordinal: u64) -> Option<Self> {
        let text = |i: usize| StringRef {
            offset: LE::read_u64(&b[32 + 8 * i..][..8]),
            length: LE::read_u32(&b[56 + 4 * i..][..4]),
        };
        (LE::read_u32(&b[76..80]) == entry_crc32(&b[..76], ordinal)).then(|| ClipEntry {
            first_frame: LE::read_u64(&b[0..8]),
            frame_count: LE::read_u32(&b[8..12]),
            label: LE::read_i32(&b[12..16]),
            width: LE::read_u16(&b[16..18]),
            height: LE::read_u16(&b[18..20]),
            flags: LE::read_u32(&b[20..24]),
            time_base: (LE::read_u32(&b[24..28]), LE::read_u32(&b[28..32])),
            source: text(0),
            class: text(1),
            attributes: text(2),
            strings_crc32: LE::read_u32(&b[68..72]),
        })
    }
}

//! One entry of the section table: `format-spec/vidrec-v1.md#section-table`.

use byteorder::{ByteOrder, LittleEndian as LE};

/// Size of an entry in bytes.
pub const BYTES: usize = 32;

/// Sections begin at multiples of this.
pub const ALIGNMENT: u64 = 8;

/// Flag: a reader that does not know this section cannot read the file.
pub const FLAG_REQUIRED: u32 = 1;

/// Four letters that identify a section's contents.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SectionId(pub [u8; 4]);

impl SectionId {
    /// The frame table.
    pub const FRAMES: SectionId = SectionId(*b"FRMS");
    /// The clip table.
    pub const CLIPS: SectionId = SectionId(*b"CLPS");
    /// The string pool.
    pub const STRINGS: SectionId = SectionId(*b"STRS");
    /// The identity of the record file.
    pub const DATA: SectionId = SectionId(*b"DATA");
    /// Class names, settings and provenance as JSON.
    pub const META: SectionId = SectionId(*b"META");

    /// The identity of the track file, in a file that has one.
    pub const TRACKS: SectionId = SectionId(*b"TRKS");

    /// The sections that this crate knows, in the order in which it writes them. All but the last are in every file.
    pub const ALL: [SectionId; 6] = [Self::FRAMES, Self::CLIPS, Self::STRINGS, Self::DATA, Self::META, Self::TRACKS];

    /// The id as text, for messages.
    pub fn name(self) -> &'static str {
        match &self.0 {
            b"FRMS" => "section FRMS",
            b"CLPS" => "section CLPS",
            b"STRS" => "section STRS",
            b"DATA" => "section DATA",
            b"META" => "section META",
            b"TRKS" => "section TRKS",
            _ => "section",
        }
    }
}

impl std::fmt::Debug for SectionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

/// The location of a section in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionEntry {
    /// Its contents.
    pub id: SectionId,
    /// Bit 0: [`FLAG_REQUIRED`]. Readers ignore the other bits.
    pub flags: u32,
    /// Byte offset from the start of the file.
    pub offset: u64,
    /// Length in bytes, without the padding after it.
    pub length: u64,
    /// CRC-32 of the section.
    pub crc32: u32,
}

impl SectionEntry {
    /// The bytes on disk; the last four are zero.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let mut b = [0; BYTES];
        b[0..4].copy_from_slice(&self.id.0);
        LE::write_u32(&mut b[4..8], self.flags);
        LE::write_u64(&mut b[8..16], self.offset);
        LE::write_u64(&mut b[16..24], self.length);
        LE::write_u32(&mut b[24..28], self.crc32);
        b
    }

    /// Reads an entry.
    pub fn from_bytes(b: &[u8; BYTES]) -> Self {
        SectionEntry {
            id: SectionId([b[0], b[1], b[2], b[3]]),
            flags: LE::read_u32(&b[4..8]),
            offset: LE::read_u64(&b[8..16]),
            length: LE::read_u64(&b[16..24]),
            crc32: LE::read_u32(&b[24..28]),
        }
    }

    /// The range of a part of the section in the file; `None` if it is not within the section.
    pub fn part(&self, range: std::ops::Range<u64>) -> Option<std::ops::Range<u64>> {
        let is_within = range.start <= range.end && range.end <= self.length;
        let begin = self.offset.checked_add(range.start).filter(|_| is_within)?;
        Some(begin..self.offset.checked_add(range.end)?)
    }

    /// The offset of the byte after the section; `None` if it does not fit in 64 bits.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.length)
    }
}

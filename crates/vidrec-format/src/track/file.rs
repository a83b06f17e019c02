//! Header, footer and table of a track file, and the sizes of its parts.

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian as LE};

use crate::error::{Error, Result};
use crate::{crc32, entry_crc32, limits};

/// Blocks and the bytes of tracks begin at multiples of this.
pub const ALIGNMENT: u64 = 64;

/// Size of the header in bytes. The footer has the same size.
pub const END_BYTES: usize = 64;

/// Size of an entry of the table in bytes.
pub const TABLE_ENTRY_BYTES: usize = 24;

/// Size of a directory without entries.
pub const DIRECTORY_HEAD_BYTES: usize = 8;

/// Size of an entry of a directory.
pub const DIRECTORY_ENTRY_BYTES: usize = 48;

/// The first and the last eight bytes of every track file.
pub const MAGIC: [u8; 8] = *b"\x89VTRK\r\n\x1a";

/// The version that this crate writes.
pub const VERSION: (u16, u16) = (1, 1);

/// The header that this crate writes.
pub fn header() -> [u8; END_BYTES] {
    let mut b = [0; END_BYTES];
    b[0..8].copy_from_slice(&MAGIC);
    LE::write_u16(&mut b[8..10], VERSION.0);
    LE::write_u16(&mut b[10..12], VERSION.1);
    let crc = crc32(&b[..60]);
    LE::write_u32(&mut b[60..64], crc);
    b
}

/// Checks a header. Returns its CRC-32.
///
/// # Errors
///
/// Rules `track-magic`, `track-version`, `track-header-crc` and `track-flags`, in this order.
pub fn check_header(b: &[u8; END_BYTES]) -> Result<u32> {
    let fault = |rule, at, what: &str| Error::format(rule, what.to_owned()).section("header").at(at);
    if b[0..8] != MAGIC {
        return Err(fault("track-magic", 0, "this is not a track file")
            .expected(format!("{MAGIC:02x?}"))
            .found(format!("{:02x?}", &b[0..8])));
    }
    let major = LE::read_u16(&b[8..10]);
    if major != VERSION.0 {
        return Err(fault("track-version", 8, "unknown major version of a track file")
            .expected(VERSION.0)
            .found(major)
            .help("a newer version of vidrec may read it"));
    }
    let (crc, stored) = (crc32(&b[..60]), LE::read_u32(&b[60..64]));
    if crc != stored {
        return Err(fault("track-header-crc", 60, "the header's CRC-32 does not match")
            .expected(format!("{crc:#010x}"))
            .found(format!("{stored:#010x}")));
    }
    let flags = LE::read_u32(&b[12..16]);
    if flags != 0 {
        return Err(fault("track-flags", 12, "the tracks need a feature that this reader does not support")
            .expected("no flags")
            .found(format!("{flags:#010x}"))
            .help("a newer version of vidrec may read them"));
    }
    Ok(stored)
}

/// The contents of the footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footer {
    /// Length of the file in bytes.
    pub file_length: u64,
    /// Number of clips, and of entries in the table.
    pub clip_count: u64,
    /// Byte offset of the table.
    pub table_offset: u64,
    /// Byte offset of the schema.
    pub schema_offset: u64,
    /// Length of the schema in bytes.
    pub schema_length: u32,
    /// CRC-32 of the schema.
    pub schema_crc32: u32,
    /// CRC-32 from the header.
    pub header_crc32: u32,
}

impl Footer {
    /// The bytes on disk, with the footer's own CRC-32.
    pub fn to_bytes(&self) -> [u8; END_BYTES] {
        let mut b = [0; END_BYTES];
        LE::write_u64(&mut b[0..8], self.file_length);
        LE::write_u64(&mut b[8..16], self.clip_count);
        LE::write_u64(&mut b[16..24], self.table_offset);
        LE::write_u64(&mut b[24..32], self.schema_offset);
        LE::write_u32(&mut b[32..36], self.schema_length);
        LE::write_u32(&mut b[36..40], self.schema_crc32);
        LE::write_u32(&mut b[40..44], self.header_crc32);
        let crc = crc32(&b[..52]);
        LE::write_u32(&mut b[52..56], crc);
        b[56..64].copy_from_slice(&MAGIC);
        b
    }

    /// Reads the footer of a file whose header has this CRC-32.
    ///
    /// # Errors
    ///
    /// Rule `track-footer`.
    pub fn from_bytes(b: &[u8; END_BYTES], header_crc32: u32) -> Result<Self> {
        let footer = Footer {
            file_length: LE::read_u64(&b[0..8]),
            clip_count: LE::read_u64(&b[8..16]),
            table_offset: LE::read_u64(&b[16..24]),
            schema_offset: LE::read_u64(&b[24..32]),
            schema_length: LE::read_u32(&b[32..36]),
            schema_crc32: LE::read_u32(&b[36..40]),
            header_crc32: LE::read_u32(&b[40..44]),
        };
        let is_whole = b[56..64] == MAGIC && LE::read_u32(&b[52..56]) == crc32(&b[..52]);
        if is_whole && footer.header_crc32 == header_crc32 {
            return Ok(footer);
        }
        Err(Error::format(
            "track-footer",
            "the footer does not match the header: the file was truncated or overwritten",
        )
        .section("footer"))
    }

    /// Checks that table, schema and footer end a file of `length` bytes with the tracks of `clips` clips.
    ///
    /// # Errors
    ///
    /// Rule `track-layout`.
    pub fn check_layout(&self, length: u64, clips: u64) -> Result<()> {
        let table = clips.checked_mul(TABLE_ENTRY_BYTES as u64).and_then(|n| self.table_offset.checked_add(n));
        let schema = self.schema_offset.checked_add(self.schema_length.into());
        let end = schema.and_then(|end| end.checked_add(END_BYTES as u64));
        let is_right = self.clip_count == clips
            && self.file_length == length
            && self.table_offset >= END_BYTES as u64
            && self.table_offset.is_multiple_of(ALIGNMENT)
            && table == Some(self.schema_offset)
            && end == Some(length);
        if is_right {
            return Ok(());
        }
        Err(Error::format("track-layout", "table, schema and footer do not end the file in this order")
            .section("footer")
            .expected(format!("the tracks of {clips} clips in {length} bytes"))
            .found(format!(
                "those of {} clips in {} bytes, a table at {}, a schema of {} bytes at {}",
                self.clip_count, self.file_length, self.table_offset, self.schema_length, self.schema_offset
            )))
    }
}

/// Size of the smallest block: a directory of one track.
const LEAST_BLOCK_BYTES: usize = DIRECTORY_HEAD_BYTES + DIRECTORY_ENTRY_BYTES;

/// The location of a clip's block; all zeros if the clip has no tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableEntry {
    /// Byte offset of the block in the file.
    pub offset: u64,
    /// Length of the block in bytes.
    pub length: u64,
    /// CRC-32 of the block's directory.
    pub directory_crc32: u32,
}

impl TableEntry {
    /// The bytes on disk of the entry of clip `ordinal` of the shard, with the entry's own CRC-32.
    pub fn to_bytes(&self, ordinal: u64) -> [u8; TABLE_ENTRY_BYTES] {
        let mut b = [0; TABLE_ENTRY_BYTES];
        LE::write_u64(&mut b[0..8], self.offset);
        LE::write_u64(&mut b[8..16], self.length);
        LE::write_u32(&mut b[16..20], self.directory_crc32);
        let crc = entry_crc32(&b[..20], ordinal);
        LE::write_u32(&mut b[20..24], crc);
        b
    }

    /// Reads the entry of clip `ordinal`; `None` if its CRC-32 does not match.
    pub fn from_bytes(b: &[u8; TABLE_ENTRY_BYTES], ordinal: u64) -> Option<Self> {
        (LE::read_u32(&b[20..24]) == entry_crc32(&b[..20], ordinal)).then(|| TableEntry {
            offset: LE::read_u64(&b[0..8]),
            length: LE::read_u64(&b[8..16]),
            directory_crc32: LE::read_u32(&b[16..20]),
        })
    }

    /// The range of the block in a file whose table begins at `table_offset`; `None` if the clip has no tracks.
    ///
    /// # Errors
    ///
    /// Rule `track-block`; [`Limit`](crate::error::ErrorKind::Limit) if it is too long.
    pub fn range(&self, table_offset: u64) -> Result<Option<Range<u64>>> {
        if *self == TableEntry::default() {
            return Ok(None);
        }
        let end = self.offset.checked_add(self.length).filter(|&end| end <= table_offset);
        let is_possible = self.offset >= END_BYTES as u64
            && self.offset.is_multiple_of(ALIGNMENT)
            && self.length >= LEAST_BLOCK_BYTES as u64;
        let Some(end) = end.filter(|_| is_possible) else {
            return Err(Error::format("track-block", "the clip's tracks are not between header and table")
                .section("table")
                .expected(format!("within bytes {} to {table_offset}, at a multiple of {ALIGNMENT}", END_BYTES))
                .found(format!("{} bytes at {}", self.length, self.offset)));
        };
        if self.length > limits::MAX_TRACK_BLOCK_BYTES {
            return Err(Error::limit("the clip's tracks are too long")
                .expected(format!("at most {} bytes", limits::MAX_TRACK_BLOCK_BYTES))
                .found(self.length));
        }
        Ok(Some(self.offset..end))
    }
}

//! The location of a clip's tracks in a track file.

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian as LE};

use super::sizes::{ALIGNMENT, DIRECTORY_ENTRY_BYTES, DIRECTORY_HEAD_BYTES, END_BYTES, TABLE_ENTRY_BYTES};
use crate::entry_crc32;
use crate::error::{Error, Result};
use crate::limits;

/// Size of an entry in bytes.
pub const BYTES: usize = TABLE_ENTRY_BYTES;

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
    pub fn to_bytes(&self, ordinal: u64) -> [u8; BYTES] {
        let mut b = [0; BYTES];
        LE::write_u64(&mut b[0..8], self.offset);
        LE::write_u64(&mut b[8..16], self.length);
        LE::write_u32(&mut b[16..20], self.directory_crc32);
        let crc = entry_crc32(&b[..20], ordinal);
        LE::write_u32(&mut b[20..24], crc);
        b
    }

    /// Reads the entry of clip `ordinal`; `None` if its CRC-32 does not match.
    pub fn from_bytes(b: &[u8; BYTES], ordinal: u64) -> Option<Self> {
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

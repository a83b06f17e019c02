//! Produces the bytes of a track file in the order in which they are written. No byte changes afterwards.

use super::directory::{self, NewTrack};
use super::file::{self, ALIGNMENT, END_BYTES, Footer, TableEntry};
use super::schema::Schema;
use crate::crc32;
use crate::error::{Error, Result};
use crate::limits;

/// A track file while its blocks are written.
#[derive(Debug, Clone)]
pub struct Assembly {
    table: Vec<u8>,
    clips: u64,
    length: u64,
}

impl Assembly {
    /// Begins a file. Returns its first bytes.
    pub fn begin() -> (Self, [u8; END_BYTES]) {
        (Assembly { table: Vec::new(), clips: 0, length: END_BYTES as u64 }, file::header())
    }

    fn push_entry(&mut self, entry: TableEntry) {
        self.table.extend(entry.to_bytes(self.clips));
        self.clips += 1;
    }

    /// Number of clips so far.
    pub fn clips(&self) -> u64 {
        self.clips
    }

    /// Adds the next clip, with its tracks in order of their numbers. Returns the next bytes of the file.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::error::ErrorKind::Limit): its tracks are too long.
    pub fn push(&mut self, tracks: &[NewTrack<'_>]) -> Result<Vec<u8>> {
        let (mut bytes, mut entry) = (Vec::new(), TableEntry::default());
        if !tracks.is_empty() {
            bytes = self.padding();
            let (block, at) = directory::block(self.clips, self.length + bytes.len() as u64, tracks)?;
            entry = at;
            if bytes.is_empty() { bytes = block } else { bytes.extend(block) }
        }
        self.length += bytes.len() as u64;
        self.push_entry(entry);
        Ok(bytes)
    }

    /// Returns the last bytes of the file.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::error::ErrorKind::Limit): the schema is too long.
    pub fn finish(self, schema: &Schema) -> Result<Vec<u8>> {
        let (mut bytes, schema) = (self.padding(), schema.to_bytes());
        if schema.len() as u64 > limits::MAX_TRACK_SCHEMA_BYTES {
            let e = Error::limit("the names of tracks are too long").expected(limits::MAX_TRACK_SCHEMA_BYTES);
            return Err(e.found(schema.len()));
        }
        let table_offset = self.length + bytes.len() as u64;
        let schema_offset = table_offset + self.table.len() as u64;
        bytes.extend(self.table);
        bytes.extend_from_slice(&schema);
        let footer = Footer {
            file_length: schema_offset + (schema.len() + END_BYTES) as u64,
            clip_count: self.clips,
            table_offset,
            schema_offset,
            schema_length: schema.len() as u32,
            schema_crc32: crc32(&schema),
            header_crc32: file::check_header(&file::header())?,
        };
        bytes.extend(footer.to_bytes());
        Ok(bytes)
    }

    fn padding(&self) -> Vec<u8> {
        vec![0; (self.length.next_multiple_of(ALIGNMENT) - self.length) as usize]
    }
}

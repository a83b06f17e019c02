//! One frame: its JPEG, which borrows from a map or a buffer, and its entry.

use crate::dataset::Clip;
use crate::dataset::records::prove_jpeg;
use crate::dataset::shard::StoredFrame;
use crate::store::disk::map;
use vidrec_format::frame_entry::UNKNOWN_SOURCE_INDEX;
use vidrec_format::{Error, Result};

/// One frame of a clip. The JPEG borrows from the map or the buffer, except for the rare record that is stored in
/// parts.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    pub(super) clip: Clip<'a>,
    pub(super) t: u32,
    pub(super) stored: StoredFrame<'a>,
}

impl Frame<'_> {
    /// The stored JPEG. Its CRC-32 has not been compared: see [`check`](Self::check).
    ///
    /// In a mapped file, these are the file's own bytes, which another program can change. Some code reads a byte
    /// twice and relies on reading the same, such as a decoder in C. Give such code a copy.
    /// [`Decoder`](vidrec_jpeg::Decoder) makes its own.
    pub fn jpeg(&self) -> &[u8] {
        &self.stored.jpeg
    }

    /// Compares the JPEG's CRC-32 with the one in the index.
    ///
    /// If a mapped file is truncated while its bytes are in use, they become zeros ([`Io::Map`](crate::dataset::Io::Map)). To
    /// notice that, check after the use, or call [`lost_pages`](crate::store::disk::sigbus::lost_pages).
    ///
    /// # Errors
    ///
    /// [`Format`](vidrec_format::error::ErrorKind::Format), rule `jpeg-crc`, with file, clip, frame and offset;
    /// [`Io`](vidrec_format::error::ErrorKind::Io) if the file was truncated while it was open, or its disk is
    /// failing.
    pub fn check(&self) -> Result<()> {
        self.check_copy(self.jpeg())
    }

    /// Like [`check`](Self::check), for a copy of the JPEG.
    ///
    /// # Errors
    ///
    /// See [`check`](Self::check).
    pub fn check_copy(&self, jpeg: &[u8]) -> Result<()> {
        let shard = self.clip.shard;
        let lost = |e| if shard.records.lost() > 0 { map::lost(&shard.record_path) } else { e };
        prove_jpeg(&self.stored.entry, jpeg).map_err(|e| self.place(lost(e)))
    }

    /// Checks that all bytes of the JPEG that were read so far were in the file. This costs nothing unless part of
    /// the file is lost.
    pub(crate) fn prove_still_there(&self) -> Result<()> {
        if self.clip.shard.records.lost() > 0 { self.check() } else { Ok(()) }
    }

    /// Adds the frame's location to `e`, an error in its image.
    pub fn place(&self, e: Error) -> Error {
        e.file(&self.clip.shard.record_path).at(self.offset()).in_clip(self.clip.ordinal).in_frame(self.t)
    }

    /// Presentation time in units of the clip's time base.
    pub fn pts(&self) -> i64 {
        self.stored.entry.pts
    }

    /// Presentation time in seconds.
    pub fn pts_seconds(&self) -> f64 {
        self.clip.seconds_of(&self.stored.entry)
    }

    /// Ordinal among the frames decoded from the source, if known.
    pub fn source_index(&self) -> Option<u32> {
        Some(self.stored.entry.source_index).filter(|&i| i != UNKNOWN_SOURCE_INDEX)
    }

    /// Byte offset of the frame's record in the record file.
    pub fn offset(&self) -> u64 {
        self.stored.entry.record_offset
    }

    /// CRC-32 of the JPEG, according to the index.
    pub fn crc32(&self) -> u32 {
        self.stored.entry.jpeg_crc32
    }
}

//! One frame: its JPEG, which borrows from a map or a buffer, and its entry.

use std::borrow::Cow;

use crate::dataset::Shard;
use crate::dataset::records::prove_jpeg;
use crate::store::disk::map;
use vidrec_format::frame_entry::UNKNOWN_SOURCE_INDEX;
use vidrec_format::{Error, FrameEntry, Result};

/// One frame of a clip. The JPEG borrows from the map or the buffer, except for the rare record that is stored in
/// parts.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    pub(super) shard: &'a Shard,
    pub(super) clip: u64,
    pub(super) t: u32,
    pub(super) time_base: (u32, u32),
    pub(super) entry: FrameEntry,
    pub(super) jpeg: Cow<'a, [u8]>,
}

impl Frame<'_> {
    /// The stored JPEG. Its CRC-32 has not been compared: see [`check`](Self::check).
    ///
    /// In a mapped file, these are the file's own bytes, which another program can change. Some code reads a byte
    /// twice and relies on reading the same, such as a decoder in C. Give such code a copy.
    /// [`Decoder`](vidrec_jpeg::Decoder) makes its own.
    pub fn jpeg(&self) -> &[u8] {
        &self.jpeg
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
        self.check_copy(&self.jpeg)
    }

    /// Like [`check`](Self::check), for a copy of the JPEG.
    ///
    /// # Errors
    ///
    /// See [`check`](Self::check).
    pub fn check_copy(&self, jpeg: &[u8]) -> Result<()> {
        let is_lossy = self.shard.records.lost() > 0;
        let lost = |e| if is_lossy { map::lost(&self.shard.record_path) } else { e };
        prove_jpeg(&self.entry, jpeg).map_err(|e| self.place(lost(e)))
    }

    /// Checks that all bytes of the JPEG that were read so far were in the file. This costs nothing unless part of
    /// the file is lost.
    pub(crate) fn prove_still_there(&self) -> Result<()> {
        if self.shard.records.lost() > 0 { self.check() } else { Ok(()) }
    }

    /// Adds the frame's location to `e`, an error in its image.
    pub fn place(&self, e: Error) -> Error {
        e.file(&self.shard.record_path).at(self.entry.record_offset).in_clip(self.clip).in_frame(self.t)
    }

    /// Presentation time in units of the clip's time base.
    pub fn pts(&self) -> i64 {
        self.entry.pts
    }

    /// Presentation time in seconds.
    pub fn pts_seconds(&self) -> f64 {
        self.entry.pts as f64 * f64::from(self.time_base.0) / f64::from(self.time_base.1)
    }

    /// Ordinal among the frames decoded from the source, if known.
    pub fn source_index(&self) -> Option<u32> {
        Some(self.entry.source_index).filter(|&i| i != UNKNOWN_SOURCE_INDEX)
    }

    /// Byte offset of the frame's record in the record file.
    pub fn offset(&self) -> u64 {
        self.entry.record_offset
    }

    /// CRC-32 of the JPEG, according to the index.
    pub fn crc32(&self) -> u32 {
        self.entry.jpeg_crc32
    }
}

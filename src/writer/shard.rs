//! Writing one record file and its index.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::clip_info::{ClipInfo, FrameData};
use super::index::IndexWriter;
use crate::disk::{AtomicFile, Temporary};
use crate::format::data_binding::{DataBinding, EDGE_BYTES};
use crate::format::dataset_json::ShardJson;
use crate::format::frame_entry::{FrameEntry, UNKNOWN_SOURCE_INDEX};
use crate::format::meta::Meta;
use crate::format::record_header::{self, RecordHeader};
use crate::format::{crc32, names, recordio};
use crate::{Error, Result, jpeg, limits};

/// The description of a complete shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardDone {
    pub json: ShardJson,
    pub index_length: u64,
}

/// The state of a shard when its files were synced to the disk.
#[cfg(feature = "pack")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Length of the record file in bytes.
    pub bytes: u64,
    /// CRC-32 of the record file up to this length.
    pub crc32: u32,
    /// Number of frames, and of entries in the index file.
    pub frames: u64,
    /// CRC-32 of those entries.
    pub frames_crc32: u32,
}

/// A complete shard, under its temporary names.
#[derive(Debug)]
pub(super) struct FinishedShard {
    pub files: [Temporary; 2],
    pub done: ShardDone,
}

/// Writes a shard. Records stream to the record file, and frame entries to the index.
#[derive(Debug)]
pub(super) struct ShardWriter {
    stem: String,
    record_path: PathBuf,
    record: AtomicFile,
    pub index: IndexWriter,
    pub records: Written,
    buffer: Vec<u8>,
    failed: bool,
}

/// The contents of the record file so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Written {
    pub length: u64,
    pub digest: Sha256,
    pub crc: crc32fast::Hasher,
    pub edges: Edges,
}

impl Written {
    pub fn push(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.crc.update(bytes);
        self.edges.push(bytes);
        self.length += bytes.len() as u64;
    }
}

/// The first and the last bytes of everything pushed.
#[derive(Debug, Clone, Default)]
pub(super) struct Edges {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Edges {
    fn push(&mut self, bytes: &[u8]) {
        let wanted = EDGE_BYTES.saturating_sub(self.first.len()).min(bytes.len());
        self.first.extend_from_slice(&bytes[..wanted]);
        self.last.extend_from_slice(&bytes[bytes.len().saturating_sub(EDGE_BYTES)..]);
        let surplus = self.last.len().saturating_sub(EDGE_BYTES);
        self.last.drain(..surplus);
    }

    fn crc32(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.first);
        hasher.update(&self.last);
        hasher.finalize()
    }
}

/// The paths of the record file and the index file of a shard while it is written, without the ending of temporary
/// files.
pub(super) fn paths(dir: &Path, ordinal: usize) -> [PathBuf; 2] {
    ["rec", "vidx"].map(|ending| dir.join(format!("{}.{ending}", names::shard(ordinal))))
}

impl ShardWriter {
    pub fn create(dir: &Path, ordinal: usize) -> Result<Self> {
        let [record_path, index_path] = paths(dir, ordinal);
        let (record, index) = (AtomicFile::create(&record_path)?, IndexWriter::create(&index_path)?);
        Ok(Self::with_files(ordinal, record_path, record, index, Written::default()))
    }

    pub(super) fn with_files(
        ordinal: usize,
        record_path: PathBuf,
        record: AtomicFile,
        index: IndexWriter,
        records: Written,
    ) -> Self {
        let stem = names::shard(ordinal);
        ShardWriter { stem, record_path, record, index, records, buffer: Vec::new(), failed: false }
    }

    fn check_usable(&self) -> Result<()> {
        if self.failed {
            return Err(Error::usage("an earlier call of this writer failed").file(&self.record_path));
        }
        Ok(())
    }

    /// Removes the files.
    pub fn discard(self) {
        self.record.discard();
        self.index.discard();
    }

    /// Keeps the temporary files when this is dropped.
    pub fn keep(&mut self) {
        self.record.keep();
        self.index.keep();
    }

    pub fn append(&mut self, clip: &ClipInfo, frames: &[FrameData<'_>]) -> Result<()> {
        self.check_usable()?;
        let is_jpeg = |f: &FrameData<'_>| f.jpeg.starts_with(&[0xff, 0xd8]);
        if !frames.iter().all(|f| is_jpeg(f) && f.jpeg.len() as u64 <= limits::MAX_RECORD_BYTES) {
            return Err(Error::usage(format!("{}: a frame is not a JPEG", clip.source)));
        }
        let label = self.index.check(clip, frames.len() as u64).map_err(|e| e.file(&self.record_path))?;
        let entries = self.encode_records(label, frames)?;
        // From here on, a failure leaves an incomplete clip, so nothing more may be written.
        self.failed = true;
        self.index.push(clip, &entries)?;
        self.record.write_all(&self.buffer)?;
        self.records.push(&self.buffer);
        self.failed = false;
        Ok(())
    }

    /// Puts the clip's records into `buffer`, and returns their index entries.
    fn encode_records(&mut self, label: i32, frames: &[FrameData<'_>]) -> Result<Vec<FrameEntry>> {
        self.buffer.clear();
        let mut entries = Vec::with_capacity(frames.len());
        let mut shifted = Vec::new();
        for (t, frame) in frames.iter().enumerate() {
            let mut jpeg = frame.jpeg;
            if recordio::needs_parts(record_header::BYTES, jpeg) {
                shifted.clear();
                shifted.extend_from_slice(jpeg);
                if jpeg::avoid_magic(&mut shifted) {
                    jpeg = &shifted;
                }
            }
            let header =
                RecordHeader::new(label, self.index.frame_count() + t as u64, self.index.clip_count(), t as u32);
            let record_offset = self.records.length + self.buffer.len() as u64;
            recordio::append(&header.to_bytes(), jpeg, &mut self.buffer)?;
            entries.push(FrameEntry {
                record_offset,
                pts: frame.pts,
                jpeg_length: jpeg.len() as u32,
                jpeg_crc32: crc32(jpeg),
                source_index: frame.source_index.unwrap_or(UNKNOWN_SOURCE_INDEX),
            });
        }
        Ok(entries)
    }

    /// Syncs everything appended to the disk.
    #[cfg(feature = "pack")]
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.check_usable()?;
        self.record.sync()?;
        let (frames, frames_crc32) = self.index.checkpoint()?;
        let records = &self.records;
        let crc32 = records.crc.clone().finalize();
        Ok(Checkpoint { bytes: records.length, crc32, frames, frames_crc32 })
    }

    /// Completes the index and syncs both files to the disk, under their temporary names.
    pub fn finish(mut self, meta: &Meta) -> Result<FinishedShard> {
        self.check_usable()?;
        self.record.sync()?;
        let sha256: [u8; 32] = self.records.digest.finalize().into();
        let binding = DataBinding { length: self.records.length, sha256, edge_crc32: self.records.edges.crc32() };
        let index = self.index.finish(&binding, meta)?;
        let json = index.listed(names::with_digest(&self.stem, &sha256, "rec"), &binding);
        let done = ShardDone { json, index_length: index.length };
        Ok(FinishedShard { files: [self.record.seal(), index.file.seal()], done })
    }
}

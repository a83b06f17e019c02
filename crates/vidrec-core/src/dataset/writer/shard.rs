//! Writes one record file with its index and, if clips have tracks, its track file.

use std::path::{Path, PathBuf};

use super::files::{DigestedFile, TrackFileWriter};
use super::index::{ClipInfo, FrameData, IndexWriter};
use crate::store::disk::{AtomicFile, Temporary};
use vidrec_format::frame_entry::UNKNOWN_SOURCE_INDEX;
use vidrec_format::track::directory::NewTrack;
use vidrec_format::track::schema::Schema;
use vidrec_format::{
    Error, FileName, FrameEntry, Meta, RecordHeader, Result, ShardJson, crc32, file_name, limits, recordio,
};

/// A complete shard that is synced to the disk, under its temporary names.
#[derive(Debug)]
pub struct FinishedShard {
    /// The description of the shard in `dataset.json`.
    pub json: ShardJson,
    /// In the order of [`ShardJson::file_names`].
    pub files: Vec<Temporary>,
    /// The length of the index in bytes.
    pub index_length: u64,
}

impl FinishedShard {
    /// The total size of its files.
    pub fn bytes(&self) -> u64 {
        self.json.bytes + self.index_length + self.json.track_bytes()
    }

    /// Its files with their final names.
    pub fn named(self) -> impl Iterator<Item = (Temporary, FileName)> {
        let names: Vec<FileName> = self.json.file_names().cloned().collect();
        self.files.into_iter().zip(names)
    }
}

/// Writes a shard. Records and tracks stream to their files; the index follows at the end.
#[derive(Debug)]
pub(super) struct ShardWriter {
    /// The record file. The other files have the same name with other endings.
    path: PathBuf,
    pub records: DigestedFile,
    pub index: IndexWriter,
    /// The track file, which exists as soon as a clip has tracks.
    tracks: Option<TrackFileWriter>,
    buffer: Vec<u8>,
    failed: bool,
}

impl ShardWriter {
    pub fn create(dir: &Path, ordinal: usize) -> Result<Self> {
        let path = dir.join(format!("{}.rec", file_name::shard(ordinal)));
        let records = DigestedFile::create(&path)?;
        let (index, tracks, buffer) = (IndexWriter::default(), None, Vec::new());
        Ok(ShardWriter { path, records, index, tracks, buffer, failed: false })
    }

    fn check_usable(&self) -> Result<()> {
        let e = || Error::usage("an earlier call of this writer failed").file(&self.path);
        if self.failed { Err(e()) } else { Ok(()) }
    }

    /// Appends a clip with its tracks, in order of their numbers.
    pub fn append(&mut self, clip: &ClipInfo, frames: &[FrameData<'_>], tracks: &[NewTrack<'_>]) -> Result<()> {
        self.check_usable()?;
        let is_jpeg = |f: &FrameData<'_>| f.jpeg.starts_with(&[0xff, 0xd8]);
        if !frames.iter().all(|f| is_jpeg(f) && f.jpeg.len() as u64 <= limits::MAX_RECORD_BYTES) {
            return Err(Error::usage(format!("{}: a frame is not a JPEG", clip.source)));
        }
        let label = self.index.check(clip, frames.len() as u64).map_err(|e| e.file(&self.path))?;
        let entries = self.encode_records(label, frames)?;
        // From here on, a failure leaves an incomplete clip, so nothing more may be written.
        self.failed = true;
        if self.tracks.is_none() && !tracks.is_empty() {
            self.tracks = Some(TrackFileWriter::create(&self.path.with_extension("vtrk"), self.index.clip_count)?);
        }
        if let Some(file) = &mut self.tracks {
            file.push(tracks)?;
        }
        self.index.push(clip, label, &entries)?;
        self.records.write(&self.buffer)?;
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
            if recordio::needs_parts(recordio::HEADER_BYTES, jpeg) {
                shifted.clear();
                shifted.extend_from_slice(jpeg);
                if vidrec_jpeg::avoid_magic(&mut shifted) {
                    jpeg = &shifted;
                }
            }
            let header = RecordHeader::new(label, self.index.frame_count + t as u64, self.index.clip_count, t as u32);
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

    /// Completes the index and syncs all files to the disk, under their temporary names. `schema` contains the
    /// numbers of the tracks.
    pub fn finish(self, meta: &Meta, schema: &Schema) -> Result<FinishedShard> {
        self.check_usable()?;
        let (record, binding) = self.records.finish()?;
        let (track_file, tracks) = self.tracks.map(|file| file.finish(schema)).transpose()?.unzip();
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let (bytes, json) = self.index.finish(&stem, &binding, tracks.as_ref(), meta)?;
        let mut index = AtomicFile::create(&self.path.with_extension("vidx"))?;
        index.write_all(&bytes)?;
        index.sync()?;
        let files = [record, index.seal()].into_iter().chain(track_file).collect();
        Ok(FinishedShard { json, files, index_length: bytes.len() as u64 })
    }
}

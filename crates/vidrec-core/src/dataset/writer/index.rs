//! The writer of index files. Frame entries stream to the disk; clips and strings follow at the end.

use std::collections::HashMap;
use std::path::Path;

use byteorder::{ByteOrder, LittleEndian as LE};

use super::clip_info::ClipInfo;
use crate::store::disk::AtomicFile;
use vidrec_format::clip_entry::StringRef;
use vidrec_format::data_binding::hex;
use vidrec_format::header::Header;
use vidrec_format::{
    ClipEntry, DataBinding, Error, FileKind, FileName, FrameEntry, Meta, Result, SectionEntry, SectionId, ShardJson,
    TrackFileJson, align_up, clip_entry, crc32, file_name, frame_entry, header, limits, section,
};

/// Writes an index, clip by clip, each with the entries of its frames.
#[derive(Debug)]
pub struct IndexWriter {
    file: AtomicFile,
    frames: Frames,
    clips: Vec<u8>,
    clip_count: u64,
    strings: StringPool,
}

/// The written part of the frame table.
#[derive(Debug, Default)]
struct Frames {
    count: u64,
    crc: crc32fast::Hasher,
}

/// An index that is synced to the disk under its temporary name.
#[derive(Debug)]
pub struct FinishedIndex {
    /// The file, which is not published yet.
    pub file: AtomicFile,
    /// The number of clips.
    pub clips: u64,
    /// The number of frames.
    pub frames: u64,
    /// The length of the file in bytes.
    pub length: u64,
    /// The header's CRC-32, which covers all sections through the section table.
    pub crc32: u32,
    /// The digest of the file, which is part of its name.
    pub sha256: [u8; 32],
    /// The track file, if the shard has one.
    pub tracks: Option<DataBinding>,
}

impl FinishedIndex {
    /// The description in `dataset.json` of the shard of this index and its record file.
    pub fn listed(&self, record_file: FileName, binding: &DataBinding) -> ShardJson {
        let stem = file_name::stem(&record_file);
        ShardJson {
            index_file: FileName::with_digest(stem, &self.sha256, FileKind::Index),
            track_file: self.tracks.as_ref().map(|tracks| TrackFileJson {
                file: FileName::with_digest(stem, &tracks.sha256, FileKind::Tracks),
                bytes: tracks.length,
                sha256: hex(&tracks.sha256),
            }),
            record_file,
            clips: self.clips,
            frames: self.frames,
            bytes: binding.length,
            sha256: hex(&binding.sha256),
            index_crc32: Some(self.crc32),
        }
    }
}

impl IndexWriter {
    /// Begins the index of a shard under a temporary name.
    pub fn create(path: &Path) -> Result<Self> {
        let mut file = AtomicFile::create(path)?;
        file.write_all(&[0; header::BYTES])?;
        Ok(IndexWriter {
            file,
            frames: Frames::default(),
            clips: Vec::new(),
            clip_count: 0,
            strings: StringPool::default(),
        })
    }

    /// The number of clips so far.
    pub fn clip_count(&self) -> u64 {
        self.clip_count
    }

    /// The number of frames so far.
    pub fn frame_count(&self) -> u64 {
        self.frames.count
    }

    /// Adds a clip and its frames. Their records are in the record file in this order.
    pub fn push(&mut self, clip: &ClipInfo, frames: &[FrameEntry]) -> Result<()> {
        let entry = self.clip_entry(clip, self.frames.count, frames.len() as u64)?;
        for (ordinal, frame) in (self.frames.count..).zip(frames) {
            let bytes = frame.to_bytes(ordinal);
            self.file.write_all(&bytes)?;
            self.frames.crc.update(&bytes);
        }
        self.frames.count += frames.len() as u64;
        self.push_entry(&entry);
        Ok(())
    }

    /// Checks whether a clip of `frames` frames can be added, and returns its label as stored.
    pub fn check(&self, clip: &ClipInfo, frames: u64) -> Result<i32> {
        let label = check_clip(clip, frames)?;
        if self.clip_count >= limits::MAX_ORDINALS || self.frames.count + frames > limits::MAX_ORDINALS {
            return Err(Error::limit("the shard is full").help("start another shard"));
        }
        Ok(label)
    }

    fn clip_entry(&mut self, clip: &ClipInfo, first_frame: u64, frames: u64) -> Result<ClipEntry> {
        let label = self.check(clip, frames)?;
        let attributes = if clip.attributes.is_empty() {
            String::new()
        } else {
            let written = serde_json::to_string(&clip.attributes);
            written.map_err(|e| Error::usage(format!("{}: the attributes are not valid: {e}", clip.source)))?
        };
        let text = clip.source.len() + clip.class.len() + attributes.len();
        if text as u64 > limits::MAX_CLIP_TEXT_BYTES {
            let e = Error::limit("the source, class and attributes of a clip are too long together")
                .in_clip(self.clip_count);
            return Err(e.expected(format!("at most {} bytes", limits::MAX_CLIP_TEXT_BYTES)).found(text));
        }
        Ok(ClipEntry {
            first_frame,
            frame_count: frames as u32,
            label,
            width: clip.width as u16,
            height: clip.height as u16,
            flags: if clip.short { clip_entry::FLAG_SHORT } else { 0 },
            time_base: clip.time_base,
            source: self.strings.push(&clip.source)?,
            class: self.strings.push_shared(&clip.class)?,
            attributes: self.strings.push(&attributes)?,
            strings_crc32: crc32(format!("{}{}{attributes}", clip.source, clip.class).as_bytes()),
        })
    }

    fn push_entry(&mut self, entry: &ClipEntry) {
        self.clips.extend_from_slice(&entry.to_bytes(self.clip_count));
        self.clip_count += 1;
    }

    /// Completes the index of a record file and of its track file, if there is one. Syncs it to the disk under its
    /// temporary name.
    pub fn finish(mut self, binding: &DataBinding, tracks: Option<&DataBinding>, meta: &Meta) -> Result<FinishedIndex> {
        let meta = serde_json::to_vec(meta).map_err(|e| Error::usage(format!("the settings are not valid: {e}")))?;
        if meta.len() as u64 > limits::MAX_META_BYTES {
            let e = Error::limit("class names and settings are too long").expected(limits::MAX_META_BYTES);
            return Err(e.found(meta.len()));
        }
        let frames_length = self.frames.count * frame_entry::BYTES as u64;
        let mut sections = SectionWriter::after_frames(frames_length, self.frames.crc.finalize());
        sections.write(&mut self.file, SectionId::CLIPS, &self.clips)?;
        sections.write(&mut self.file, SectionId::STRINGS, &self.strings.bytes)?;
        sections.write(&mut self.file, SectionId::DATA, &binding.to_bytes())?;
        sections.write(&mut self.file, SectionId::META, &meta)?;
        if let Some(tracks) = tracks {
            sections.write_as(&mut self.file, SectionId::TRACKS, 0, &tracks.to_bytes())?;
        }
        let (length, crc32) = sections.finish(&mut self.file, self.clip_count, self.frames.count)?;
        self.file.sync()?;
        let sha256 = self.file.sha256()?;
        let (clips, frames, tracks) = (self.clip_count, self.frames.count, tracks.copied());
        Ok(FinishedIndex { file: self.file, clips, frames, length, crc32, sha256, tracks })
    }
}

/// Checks the description of a clip, and returns its label as stored.
fn check_clip(clip: &ClipInfo, frames: u64) -> Result<i32> {
    let fault = |what: &str| Err(Error::usage(format!("{}: {what}", clip.source)));
    if frames > u64::from(limits::MAX_FRAMES_PER_CLIP) {
        return fault("a clip has at most 2^20 frames");
    }
    if clip.width > limits::MAX_SIDE || clip.height > limits::MAX_SIDE {
        return fault("the frames are too large");
    }
    if clip.time_base.0 == 0 || clip.time_base.1 == 0 {
        return fault("the time base must be a positive fraction");
    }
    match clip.label.map_or(Ok(clip_entry::NO_LABEL), i32::try_from) {
        Ok(label) if label <= limits::MAX_LABEL => Ok(label),
        _ => fault("the label is larger than 2^24: store such numbers in the attributes"),
    }
}

/// Concatenated strings. Class names, which repeat, are stored once.
#[derive(Debug, Default)]
struct StringPool {
    bytes: Vec<u8>,
    shared: HashMap<String, StringRef>,
}

impl StringPool {
    fn push(&mut self, text: &str) -> Result<StringRef> {
        if text.is_empty() {
            return Ok(StringRef::default());
        }
        let length = u32::try_from(text.len()).map_err(|_| Error::limit("a string is longer than 4 GiB"))?;
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(StringRef { offset, length })
    }

    fn push_shared(&mut self, text: &str) -> Result<StringRef> {
        if let Some(known) = self.shared.get(text) {
            return Ok(*known);
        }
        let new = self.push(text)?;
        self.shared.insert(text.to_owned(), new);
        Ok(new)
    }
}

/// Writes sections one after another and records their places.
struct SectionWriter {
    entries: Vec<SectionEntry>,
    end: u64,
}

impl SectionWriter {
    /// The frame table comes first because it streams to the file while clips are appended.
    fn after_frames(length: u64, crc32: u32) -> Self {
        let offset = header::BYTES as u64;
        let entry = SectionEntry { id: SectionId::FRAMES, flags: section::FLAG_REQUIRED, offset, length, crc32 };
        SectionWriter { entries: vec![entry], end: offset + length }
    }

    fn write(&mut self, file: &mut AtomicFile, id: SectionId, bytes: &[u8]) -> Result<()> {
        self.write_as(file, id, section::FLAG_REQUIRED, bytes)
    }

    fn write_as(&mut self, file: &mut AtomicFile, id: SectionId, flags: u32, bytes: &[u8]) -> Result<()> {
        self.pad(file)?;
        let length = bytes.len() as u64;
        let entry = SectionEntry { id, flags, offset: self.end, length, crc32: crc32(bytes) };
        self.entries.push(entry);
        file.write_all(bytes)?;
        self.end += length;
        Ok(())
    }

    fn pad(&mut self, file: &mut AtomicFile) -> Result<()> {
        let end = align_up(self.end, section::ALIGNMENT).unwrap_or(self.end);
        file.write_all(&[0; section::ALIGNMENT as usize][..(end - self.end) as usize])?;
        self.end = end;
        Ok(())
    }

    /// Writes the section table and the footer, and then the header in the place that is reserved for it. Returns the
    /// file's length and the header's CRC-32.
    fn finish(mut self, file: &mut AtomicFile, clip_count: u64, frame_count: u64) -> Result<(u64, u32)> {
        self.pad(file)?;
        let table: Vec<u8> = self.entries.iter().flat_map(SectionEntry::to_bytes).collect();
        let file_length = self.end + table.len() as u64 + header::FOOTER_BYTES as u64;
        let has_tracks = self.entries.iter().any(|entry| entry.id == SectionId::TRACKS);
        let header = Header {
            version_minor: if has_tracks { header::VERSION.1 } else { header::VERSION_WITHOUT_TRACKS.1 },
            required_flags: 0,
            optional_flags: 0,
            section_count: self.entries.len() as u32,
            section_table_offset: self.end,
            file_length,
            clip_count,
            frame_count,
            section_table_crc32: crc32(&table),
        }
        .to_bytes();
        file.write_all(&table)?;
        file.write_all(&header::footer(file_length, &header))?;
        file.patch_start(&header)?;
        Ok((file_length, LE::read_u32(&header[header::BYTES - 4..])))
    }
}

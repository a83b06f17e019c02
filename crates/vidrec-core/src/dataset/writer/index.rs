//! The writer of index files, and the descriptions of clips and frames that it takes.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::dataset::Index;
use crate::dataset::shard::describe;
use vidrec_format::clip_entry::StringRef;
use vidrec_format::header::Header;
use vidrec_format::{
    ClipEntry, DataBinding, Error, FileKind, FileName, FrameEntry, JsonObject, Meta, Result, SectionEntry, SectionId,
    ShardJson, align_up, clip_entry, crc32, header, limits, section,
};

/// A clip to write, except for its frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClipInfo {
    /// Label, at most [`limits::MAX_LABEL`](vidrec_format::limits::MAX_LABEL); `None` for a clip without one.
    pub label: Option<u32>,
    /// Source path relative to the input root, with `/` between folders.
    pub source: String,
    /// Class name; empty if there is none.
    pub class: String,
    /// Other facts about the clip.
    pub attributes: JsonObject,
    /// Width of every frame in pixels; 0 if they differ.
    pub width: u32,
    /// Height of every frame in pixels; 0 if they differ.
    pub height: u32,
    /// Unit of the frames' `pts` in seconds, as a fraction.
    pub time_base: (u32, u32),
    /// Whether the source had fewer frames than requested, so that some frames are repeated.
    pub short: bool,
}

impl Default for ClipInfo {
    fn default() -> Self {
        ClipInfo {
            label: None,
            source: String::new(),
            class: String::new(),
            attributes: JsonObject::default(),
            width: 0,
            height: 0,
            time_base: (1, 1_000_000),
            short: false,
        }
    }
}

/// A frame to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameData<'a> {
    /// The image, a complete JPEG.
    pub jpeg: &'a [u8],
    /// Presentation time in units of the clip's time base.
    pub pts: i64,
    /// Ordinal among the frames decoded from the source, if known.
    pub source_index: Option<u32>,
}

/// An index in memory, which grows clip by clip, each with the entries of its frames.
#[derive(Debug, Default)]
pub(super) struct IndexWriter {
    frames: Vec<u8>,
    pub frame_count: u64,
    clips: Vec<u8>,
    pub clip_count: u64,
    /// Concatenated strings.
    strings: Vec<u8>,
    /// Class names, which repeat, are stored once.
    classes: HashMap<String, StringRef>,
}

impl IndexWriter {
    /// Adds a clip that [`check`](Self::check) gave this label, and its frames. Their records are in the record file in this
    /// order.
    pub fn push(&mut self, clip: &ClipInfo, label: i32, frames: &[FrameEntry]) -> Result<()> {
        let entry = self.clip_entry(clip, label, frames.len() as u64)?;
        self.clips.extend_from_slice(&entry.to_bytes(self.clip_count));
        self.clip_count += 1;
        for frame in frames {
            self.frames.extend_from_slice(&frame.to_bytes(self.frame_count));
            self.frame_count += 1;
        }
        Ok(())
    }

    /// Checks whether a clip of `frames` frames can be added, and returns its label as stored.
    pub fn check(&self, clip: &ClipInfo, frames: u64) -> Result<i32> {
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
        if self.clip_count >= limits::MAX_ORDINALS || self.frame_count + frames > limits::MAX_ORDINALS {
            return Err(Error::limit("the shard is full").help("start another shard"));
        }
        match clip.label.map_or(Ok(clip_entry::NO_LABEL), i32::try_from) {
            Ok(label) if label <= limits::MAX_LABEL => Ok(label),
            _ => fault("the label is larger than 2^24: store such numbers in the attributes"),
        }
    }

    fn clip_entry(&mut self, clip: &ClipInfo, label: i32, frames: u64) -> Result<ClipEntry> {
        let attributes = match &clip.attributes {
            none if none.is_empty() => String::new(),
            some => serde_json::to_string(some).map_err(|e| Error::usage("the attributes are not valid").found(e))?,
        };
        let text = clip.source.len() + clip.class.len() + attributes.len();
        if text as u64 > limits::MAX_CLIP_TEXT_BYTES {
            let e = Error::limit("the source, class and attributes of a clip are too long together")
                .in_clip(self.clip_count);
            return Err(e.expected(format!("at most {} bytes", limits::MAX_CLIP_TEXT_BYTES)).found(text));
        }
        Ok(ClipEntry {
            first_frame: self.frame_count,
            frame_count: frames as u32,
            label,
            width: clip.width as u16,
            height: clip.height as u16,
            flags: if clip.short { clip_entry::FLAG_SHORT } else { 0 },
            time_base: clip.time_base,
            source: self.push_string(&clip.source),
            class: self.push_class(&clip.class),
            attributes: self.push_string(&attributes),
            strings_crc32: crc32(format!("{}{}{attributes}", clip.source, clip.class).as_bytes()),
        })
    }

    /// Stores a string, which is not longer than all strings of a clip may be.
    fn push_string(&mut self, text: &str) -> StringRef {
        if text.is_empty() {
            return StringRef::default();
        }
        let offset = self.strings.len() as u64;
        self.strings.extend_from_slice(text.as_bytes());
        StringRef { offset, length: text.len() as u32 }
    }

    fn push_class(&mut self, name: &str) -> StringRef {
        if let Some(known) = self.classes.get(name) {
            return *known;
        }
        let new = self.push_string(name);
        self.classes.insert(name.to_owned(), new);
        new
    }

    /// The bytes of the index of the record file `stem` and of its track file, if there is one, and the description of the
    /// shard in `dataset.json`.
    pub fn finish(
        self,
        stem: &str,
        binding: &DataBinding,
        tracks: Option<&DataBinding>,
        meta: &Meta,
    ) -> Result<(Vec<u8>, ShardJson)> {
        let meta = serde_json::to_vec(meta).map_err(|e| Error::usage(format!("the settings are not valid: {e}")))?;
        if meta.len() as u64 > limits::MAX_META_BYTES {
            let e = Error::limit("class names and settings are too long").expected(limits::MAX_META_BYTES);
            return Err(e.found(meta.len()));
        }
        let (data, track_data) = (binding.to_bytes(), tracks.map(DataBinding::to_bytes));
        let flags = section::FLAG_REQUIRED;
        let parts = [
            (SectionId::FRAMES, flags, Some(&self.frames[..])),
            (SectionId::CLIPS, flags, Some(&self.clips)),
            (SectionId::STRINGS, flags, Some(&self.strings)),
            (SectionId::DATA, flags, Some(&data)),
            (SectionId::META, flags, Some(&meta)),
            (SectionId::TRACKS, 0, track_data.as_ref().map(|data| &data[..])),
        ];
        let (mut bytes, mut sections) = (vec![0; header::BYTES], Vec::new());
        for (id, flags, section) in parts {
            let Some(section) = section else { continue };
            pad(&mut bytes);
            let (offset, length) = (bytes.len() as u64, section.len() as u64);
            sections.push(SectionEntry { id, flags, offset, length, crc32: crc32(section) });
            bytes.extend_from_slice(section);
        }
        pad(&mut bytes);
        let table: Vec<u8> = sections.iter().flat_map(SectionEntry::to_bytes).collect();
        let section_table_offset = bytes.len() as u64;
        bytes.extend_from_slice(&table);
        let length = (bytes.len() + header::FOOTER_BYTES) as u64;
        let header = Header {
            version_minor: if tracks.is_some() { header::VERSION.1 } else { header::VERSION_WITHOUT_TRACKS.1 },
            required_flags: 0,
            optional_flags: 0,
            section_count: sections.len() as u32,
            section_table_offset,
            file_length: length,
            clip_count: self.clip_count,
            frame_count: self.frame_count,
            section_table_crc32: crc32(&table),
        }
        .to_bytes();
        bytes[..header::BYTES].copy_from_slice(&header);
        bytes.extend_from_slice(&header::footer(length, &header));
        let index_name = FileName::with_digest(stem, &Sha256::digest(&bytes).into(), FileKind::Index);
        let record_name = FileName::with_digest(stem, &binding.sha256, FileKind::Records);
        let track_name = tracks.map(|tracks| FileName::with_digest(stem, &tracks.sha256, FileKind::Tracks));
        let json = describe(&Index::prove(&bytes)?, record_name, index_name, track_name);
        Ok((bytes, json))
    }
}

/// Appends zeros up to the place where the next section can begin.
fn pad(bytes: &mut Vec<u8>) {
    let end = align_up(bytes.len() as u64, section::ALIGNMENT).unwrap_or_default() as usize;
    bytes.resize(end, 0);
}

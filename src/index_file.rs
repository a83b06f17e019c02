//! An index for a record file that is there already.

use std::path::Path;

use crate::atomic_file::AtomicFile;
use crate::format::clip_entry::{self, ClipEntry};
use crate::format::data_binding::DataBinding;
use crate::format::frame_entry::{self, FrameEntry};
use crate::format::meta::Meta;
use crate::format::section::SectionId;
use crate::format::{crc32, header};
use crate::writer::{SectionWriter, StringPool};
use crate::{ClipInfo, Error, Result, limits};

/// Writes an index file: clips in order, with the entries of their frames.
///
/// It gets its name when [`AtomicFile::publish`] is called on what [`finish`](Self::finish) gives.
pub(crate) struct IndexFile {
    file: AtomicFile,
    frames_crc: crc32fast::Hasher,
    frame_count: u64,
    clips: Vec<u8>,
    clip_count: u64,
    strings: StringPool,
}

impl IndexFile {
    pub fn create(path: &Path) -> Result<Self> {
        let mut file = AtomicFile::create(path)?;
        file.write_all(&[0; header::BYTES])?;
        Ok(IndexFile {
            file,
            frames_crc: crc32fast::Hasher::new(),
            frame_count: 0,
            clips: Vec::new(),
            clip_count: 0,
            strings: StringPool::default(),
        })
    }

    /// Adds a clip with its frames, whose records are in the record file in this order.
    pub fn push(&mut self, clip: &ClipInfo, frames: &[FrameEntry]) -> Result<()> {
        for (t, entry) in (0..).zip(frames) {
            let bytes = entry.to_bytes(self.frame_count + t);
            self.frames_crc.update(&bytes);
            self.file.write_all(&bytes)?;
        }
        let entry = self.clip_entry(clip, frames.len())?;
        self.clips.extend_from_slice(&entry.to_bytes(self.clip_count));
        self.clip_count += 1;
        self.frame_count += frames.len() as u64;
        Ok(())
    }

    fn clip_entry(&mut self, clip: &ClipInfo, frames: usize) -> Result<ClipEntry> {
        let fault = |what: &str| Error::usage(format!("{}: {what}", clip.source));
        let attributes = if clip.attributes.is_empty() {
            String::new()
        } else {
            serde_json::to_string(&clip.attributes).map_err(|e| fault(&format!("attributes: {e}")))?
        };
        let label = clip.label.map_or(Ok(clip_entry::NO_LABEL), i32::try_from);
        let label = label.ok().filter(|&label| label <= limits::MAX_LABEL);
        let side = |n: u32| u16::try_from(n).map_err(|_| fault("the frames are too large"));
        Ok(ClipEntry {
            first_frame: self.frame_count,
            frame_count: u32::try_from(frames).map_err(|_| fault("too many frames"))?,
            label: label.ok_or_else(|| fault("the label is over 2^24"))?,
            width: side(clip.width)?,
            height: side(clip.height)?,
            flags: if clip.short { clip_entry::FLAG_SHORT } else { 0 },
            time_base: clip.time_base,
            source: self.strings.push(&clip.source)?,
            class: self.strings.push_shared(&clip.class)?,
            attributes: self.strings.push(&attributes)?,
            strings_crc32: crc32(format!("{}{}{attributes}", clip.source, clip.class).as_bytes()),
        })
    }

    /// Completes the index and brings it to the disk, under its temporary name.
    pub fn finish(mut self, binding: &DataBinding, meta: &Meta) -> Result<(AtomicFile, u64)> {
        let meta = serde_json::to_vec(meta).map_err(|e| Error::usage(format!("settings: {e}")))?;
        if meta.len() as u64 > limits::MAX_META_BYTES {
            return Err(Error::limit("class names and settings are too long").expected(limits::MAX_META_BYTES));
        }
        let frames_length = self.frame_count * frame_entry::BYTES as u64;
        let mut sections = SectionWriter::after_frames(frames_length, self.frames_crc.finalize());
        sections.write(&mut self.file, SectionId::CLIPS, &self.clips)?;
        sections.write(&mut self.file, SectionId::STRINGS, &self.strings.bytes)?;
        sections.write(&mut self.file, SectionId::DATA, &binding.to_bytes())?;
        sections.write(&mut self.file, SectionId::META, &meta)?;
        let length = sections.finish(&mut self.file, self.clip_count, self.frame_count)?;
        self.file.sync()?;
        Ok((self.file, length))
    }
}

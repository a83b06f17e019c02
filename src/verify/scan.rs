//! Checking one shard from its first byte to its last.

use super::report::Problem;
use crate::dataset::{Bytes, Shard, proven_bytes};
use crate::format::clip_entry::ClipEntry;
use crate::format::crc32;
use crate::format::data_binding::hex;
use crate::location::is_remote;
use crate::progress::Counter;
use crate::{Error, ErrorKind, Result};

/// The problems of a shard, except for those of its images.
pub(super) fn shard(shard: &Shard, counter: &mut Counter<'_, '_>) -> Result<Vec<Problem>> {
    let mut scan = ShardScan { shard, problems: Vec::new(), record_end: 0, frames_seen: 0, stopped: None };
    scan.index();
    scan.go_on()?;
    scan.binding(counter)?;
    scan.draws();
    scan.records(counter)?;
    Ok(scan.problems)
}

struct ShardScan<'a> {
    shard: &'a Shard,
    problems: Vec<Problem>,
    /// Where the next record must begin.
    record_end: u64,
    frames_seen: u64,
    /// Why nothing more can be checked.
    stopped: Option<Error>,
}

/// Whether an error says nothing about the data: a server could not be reached, or the machine ran out of something.
pub(super) fn stops(e: &Error) -> bool {
    let is_of_network = e.kind() == ErrorKind::Io && e.path().is_some_and(is_remote) && !e.is_missing();
    is_of_network || e.kind() == ErrorKind::Resources
}

impl ShardScan<'_> {
    fn note(&mut self, e: Error) {
        if stops(&e) {
            self.stopped.get_or_insert(e);
        } else {
            self.problems.push(e.into());
        }
    }

    fn go_on(&mut self) -> Result<()> {
        self.stopped.take().map_or(Ok(()), Err)
    }

    /// Checks the CRC-32 of every section, and that the padding between them is zero.
    fn index(&mut self) {
        let (index, bytes) = (&self.shard.index, &self.shard.index_bytes);
        for (i, s) in index.sections.iter().enumerate() {
            if let Err(e) = proven_bytes(bytes, s) {
                self.note(if e.path().is_none() { e.file(&self.shard.index_path) } else { e });
            }
            let next = index.sections.get(i + 1).map_or(index.header.section_table_offset, |n| n.offset);
            let end = s.end().unwrap_or(next);
            match bytes.part(end..next) {
                Ok(padding) if padding.unwrap_or_default().iter().any(|&b| b != 0) => {
                    let e = Error::format("section-padding", "the padding after the section is not zero").at(end);
                    self.problems.push(e.file(&self.shard.index_path).into());
                }
                Ok(_) => {}
                Err(e) => self.note(e),
            }
        }
    }

    /// Checks the length, ends and SHA-256 of the record file.
    fn binding(&mut self, counter: &mut Counter<'_, '_>) -> Result<()> {
        if let Err(e) = self.shard.prove_binding() {
            self.note(e);
            return self.go_on();
        }
        let expected = self.shard.index.binding.sha256;
        let found = match self.shard.records.sha256(&mut || counter.tell()) {
            Ok(found) => found,
            Err(e) if e.kind() == ErrorKind::Interrupted => return Err(e),
            Err(e) => {
                self.note(if e.path().is_none() { e.file(&self.shard.record_path) } else { e });
                return self.go_on();
            }
        };
        if found != expected {
            let e = Error::format("data-digest", "the record file's SHA-256 does not match the index")
                .expected(hex(&expected))
                .found(hex(&found));
            self.problems.push(e.file(&self.shard.record_path).into());
        }
        Ok(())
    }

    /// Checks that no video has draws in two shards.
    fn draws(&mut self) {
        let (draws, clips) = (self.shard.index.meta.draws, self.shard.clip_count());
        if draws.is_some_and(|draws| draws == 0 || !clips.is_multiple_of(draws.into())) {
            let e = Error::format("clip-draws", "the number of clips is not a multiple of the draws per video")
                .expected(format!("a multiple of {}", draws.unwrap_or(1)))
                .found(clips);
            self.problems.push(e.file(&self.shard.index_path).into());
        }
    }

    /// Walks through clips, frames and records in parallel.
    fn records(&mut self, counter: &mut Counter<'_, '_>) -> Result<()> {
        for c in 0..self.shard.clip_count() {
            match self.shard.clip(c) {
                Ok(clip) => {
                    self.clip(c, &clip);
                    counter.frames(clip.frame_count.into())?;
                }
                Err(e) => self.note(e.in_clip(c)),
            }
            self.go_on()?;
        }
        let total = self.shard.index.header.frame_count;
        if self.frames_seen != total && self.problems.is_empty() {
            let e = Error::format("clip-order", "frames at the end of the frame table belong to no clip")
                .expected(total)
                .found(self.frames_seen);
            self.problems.push(e.file(&self.shard.index_path).into());
        }
        let length = self.shard.records.len();
        if self.record_end != length && self.problems.is_empty() {
            let e = Error::format("record-trailing", "there are bytes after the last record").at(self.record_end);
            self.problems.push(e.file(&self.shard.record_path).into());
        }
        Ok(())
    }

    fn clip(&mut self, c: u64, clip: &ClipEntry) {
        if clip.first_frame != self.frames_seen || clip.frame_count == 0 {
            let e = Error::format("clip-order", "the clip's frames do not follow those of the previous clip")
                .expected(format!("frames from {}", self.frames_seen))
                .found(format!("{} frames from {}", clip.frame_count, clip.first_frame));
            self.problems.push(e.in_clip(c).file(&self.shard.index_path).into());
        }
        if let Err(e) = self.clip_strings(clip) {
            self.note(if e.path().is_none() { e.file(&self.shard.index_path) } else { e }.in_clip(c));
        }
        for t in 0..clip.frame_count {
            if let Err(e) = self.frame(c, clip, t) {
                let e = if e.path().is_none() { e.file(&self.shard.record_path) } else { e };
                self.note(e.in_clip(c).in_frame(t));
            }
        }
        self.frames_seen = clip.first_frame + u64::from(clip.frame_count);
    }

    fn clip_strings(&self, clip: &ClipEntry) -> Result<()> {
        let [_, class, attributes] = self.shard.index.strings(&self.shard.index_bytes, clip)?;
        if !attributes.is_empty() && serde_json::from_str::<serde_json::Map<_, _>>(attributes).is_err() {
            return Err(Error::format("clip-attributes", "the attributes are not a JSON object"));
        }
        let classes = &self.shard.index.meta.classes;
        let Some(label) = u32::try_from(clip.label).ok().filter(|_| !classes.is_empty()) else {
            return Ok(());
        };
        match classes.get(label as usize) {
            Some(name) if class.is_empty() || name == class => Ok(()),
            other => Err(Error::format("clip-class", "the clip's class is not that of its label")
                .expected(other.map_or("a label that has a class", |s| s))
                .found(format!("{label}, \"{class}\""))),
        }
    }

    fn frame(&mut self, c: u64, clip: &ClipEntry, t: u32) -> Result<()> {
        let ordinal = clip.first_frame + u64::from(t);
        let entry = self.shard.index.frame(&self.shard.index_bytes, ordinal);
        let entry = entry.map_err(|e| e.file(&self.shard.index_path))?;
        let at = entry.record_offset;
        let expected_at = std::mem::replace(&mut self.record_end, at);
        let end = self.shard.records.record(&entry, &mut Vec::new()).map(|r| r.end);
        // If this record cannot be read, the next one is assumed to be where the index says.
        self.record_end = match &end {
            Ok(end) => *end,
            Err(_) => self.next_offset(ordinal).unwrap_or(at),
        };
        end?;
        let (_, header, jpeg) = self.shard.frame(ordinal, clip.frames())?;
        let fault = |rule, what: &str| Error::format(rule, what.to_owned()).section("record").at(at);
        if at != expected_at {
            return Err(fault("record-order", "the record does not begin where the previous record ends")
                .expected(format!("byte {expected_at}"))
                .found(format!("byte {at}")));
        }
        let foreign = self.shard.index.meta.has_foreign_records();
        if !foreign && (header.id, header.id2) != (ordinal, c << 32 | u64::from(t)) {
            return Err(fault("record-id", "the record's ids do not match its position")
                .expected(format!("id {ordinal}, clip {c}, frame {t}"))
                .found(format!("id {}, clip {}, frame {}", header.id, header.clip(), header.frame())));
        }
        let other_label = header.flag != 0 || header.label.to_bits() != (clip.label as f32).to_bits();
        if !foreign && other_label {
            return Err(fault("record-label", "the record's label is not the clip's")
                .expected(format!("flag 0, label {}", clip.label))
                .found(format!("flag {}, label {}", header.flag, header.label)));
        }
        let found = crc32(&jpeg);
        if found != entry.jpeg_crc32 {
            return Err(fault("jpeg-crc", "the JPEG's CRC-32 does not match the index")
                .expected(format!("{:#010x}", entry.jpeg_crc32))
                .found(format!("{found:#010x}")));
        }
        Ok(())
    }

    fn next_offset(&self, ordinal: u64) -> Option<u64> {
        self.shard.index.frame(&self.shard.index_bytes, ordinal + 1).ok().map(|e| e.record_offset)
    }
}

//! Checks one shard from its first byte to its last.

use std::ops::Range;

use super::pictures::{Picture, Pictures};
use crate::dataset::{RecordsDigest, Shard, proven_bytes};
use crate::progress::Counter;
use crate::store::location::is_of_network;
use crate::store::read_at::ReadAt;
use vidrec_format::clip_entry::ClipEntry;
use vidrec_format::crc32;
use vidrec_format::data_binding::hex;
use vidrec_format::error::{Error, ErrorKind, Result};

/// Returns the problems of a shard; those of its images come last. Images are checked if there is a place to collect
/// them. The record file is read once from start to end: the digest, the records and the images share this pass.
pub(super) fn shard<'a>(
    shard: &'a Shard,
    pictures: Option<&mut Pictures<'a>>,
    counter: &mut Counter<'_, '_>,
) -> Result<Vec<Error>> {
    let mut scan = ShardScan {
        shard,
        problems: Vec::new(),
        digest: None,
        lost_digest: None,
        pictures,
        record_end: 0,
        frames_seen: 0,
        stopped: None,
    };
    scan.index();
    scan.go_on()?;
    scan.binding()?;
    let of_digest = scan.problems.len();
    scan.draws();
    scan.records(counter)?;
    if let Some(e) = scan.wrong_digest(counter)? {
        scan.problems.insert(of_digest, e);
    }
    if let Some(pictures) = scan.pictures {
        scan.problems.append(&mut pictures.finish(counter)?);
    }
    Ok(scan.problems)
}

struct ShardScan<'a, 'p> {
    shard: &'a Shard,
    problems: Vec<Error>,
    /// The digest, as long as it is useful.
    digest: Option<RecordsDigest>,
    /// Why the digest is not useful.
    lost_digest: Option<Error>,
    pictures: Option<&'p mut Pictures<'a>>,
    /// The offset at which the next record must begin.
    record_end: u64,
    frames_seen: u64,
    /// Why the check stopped early.
    stopped: Option<Error>,
}

/// Whether an error says nothing about the data: a server could not be reached, the machine ran out of something, or
/// the call was stopped.
pub(super) fn stops(e: &Error) -> bool {
    is_of_network(e) || matches!(e.kind(), ErrorKind::Resources | ErrorKind::Interrupted)
}

impl ShardScan<'_, '_> {
    fn note(&mut self, e: Error) {
        if stops(&e) {
            self.stopped.get_or_insert(e);
        } else {
            self.problems.push(e);
        }
    }

    fn go_on(&mut self) -> Result<()> {
        self.stopped.take().map_or(Ok(()), Err)
    }

    /// Checks the CRC-32 of every section, and that the padding between them is zero.
    fn index(&mut self) {
        let index = &self.shard.index;
        for (i, s) in index.sections.iter().enumerate() {
            let next = index.sections.get(i + 1).map_or(index.header.section_table_offset, |n| n.offset);
            let section = self.shard.of_index(|_, bytes| proven_bytes(bytes, s).map(drop));
            let padding = self.shard.of_index(|_, bytes| prove_padding(bytes, s.end().unwrap_or(next)..next));
            [section, padding].into_iter().filter_map(Result::err).for_each(|e| self.note(e));
        }
    }

    /// Checks the length and ends of the record file. If they are right, starts its SHA-256.
    fn binding(&mut self) -> Result<()> {
        match self.shard.prove_binding() {
            Ok(()) => self.digest = Some(RecordsDigest::default()),
            Err(e) => self.note(e),
        }
        self.go_on()
    }

    /// Adds the record file to the digest, at least up to `end`. If it cannot be read, this is a problem, and there
    /// is no digest.
    fn digest_to(&mut self, end: u64, counter: &mut Counter<'_, '_>) -> Result<()> {
        let Some(mut digest) = self.digest.take() else { return Ok(()) };
        match digest.advance(&self.shard.records, end, &mut || counter.tell()) {
            Ok(()) => self.digest = Some(digest),
            Err(e) => return self.unreadable(e),
        }
        Ok(())
    }

    /// Compares the SHA-256 of the record file after all of its records were read.
    fn wrong_digest(&mut self, counter: &mut Counter<'_, '_>) -> Result<Option<Error>> {
        let Some(digest) = self.digest.take() else { return Ok(self.lost_digest.take()) };
        let (records, expected) = (&self.shard.records, self.shard.index.binding.sha256);
        let go_on = &mut || counter.tell();
        let mut found = digest.finish(records, go_on);
        if found.as_ref().is_ok_and(|found| *found != expected) && records.forget(&(0..records.len())) {
            // A second try, because the bytes may have been damaged on the way.
            found = RecordsDigest::default().finish(records, go_on);
        }
        match found {
            Ok(found) if found == expected => Ok(None),
            Ok(found) => {
                let e = Error::format("data-digest", "the record file's SHA-256 does not match the index");
                Ok(Some(e.expected(hex(&expected)).found(hex(&found)).file(&self.shard.record_path)))
            }
            Err(e) => {
                self.unreadable(e)?;
                Ok(self.lost_digest.take())
            }
        }
    }

    /// Records that the record file cannot be read, so that there is no digest.
    fn unreadable(&mut self, e: Error) -> Result<()> {
        if e.kind() == ErrorKind::Interrupted || stops(&e) {
            return Err(e);
        }
        self.lost_digest = Some(if e.path().is_none() { e.file(&self.shard.record_path) } else { e });
        Ok(())
    }

    /// Checks that no video has draws in two shards.
    fn draws(&mut self) {
        let (draws, clips) = (self.shard.index.meta.draws, self.shard.clip_count());
        if draws.is_some_and(|draws| draws == 0 || !clips.is_multiple_of(draws.into())) {
            let e = Error::format("clip-draws", "the number of clips is not a multiple of the draws per video")
                .expected(format!("a multiple of {}", draws.unwrap_or(1)))
                .found(clips);
            self.problems.push(e.file(&self.shard.index_path));
        }
    }

    /// Walks through clips, frames and records in parallel.
    fn records(&mut self, counter: &mut Counter<'_, '_>) -> Result<()> {
        for c in 0..self.shard.clip_count() {
            match self.shard.clip(c) {
                Ok(clip) => {
                    self.clip(c, &clip, counter)?;
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
            self.problems.push(e.file(&self.shard.index_path));
        }
        let length = self.shard.records.len();
        if self.record_end != length && self.problems.is_empty() {
            let e = Error::format("record-trailing", "there are bytes after the last record").at(self.record_end);
            self.problems.push(e.file(&self.shard.record_path));
        }
        Ok(())
    }

    fn clip(&mut self, c: u64, clip: &ClipEntry, counter: &mut Counter<'_, '_>) -> Result<()> {
        if clip.first_frame != self.frames_seen {
            let e = Error::format("clip-order", "the clip's frames do not follow those of the previous clip")
                .expected(format!("frames from {}", self.frames_seen))
                .found(format!("{} frames from {}", clip.frame_count, clip.first_frame));
            self.problems.push(e.in_clip(c).file(&self.shard.index_path));
        }
        if let Err(e) = self.clip_strings(clip) {
            self.note(if e.path().is_none() { e.file(&self.shard.index_path) } else { e }.in_clip(c));
        }
        for t in 0..clip.frame_count {
            if let Ok(place) =
                self.shard.records_of(clip.first_frame + u64::from(t)..clip.first_frame + u64::from(t) + 1)
            {
                self.digest_to(place.end, counter)?;
            }
            if let Err(e) = self.frame(c, clip, t, counter) {
                let e = if e.path().is_none() { e.file(&self.shard.record_path) } else { e };
                if e.kind() == ErrorKind::Interrupted {
                    return Err(e);
                }
                self.note(e.in_clip(c).in_frame(t));
            }
        }
        self.frames_seen = clip.first_frame + u64::from(clip.frame_count);
        Ok(())
    }

    fn clip_strings(&self, clip: &ClipEntry) -> Result<()> {
        let [_, class, attributes] = self.shard.strings(clip)?;
        if !attributes.is_empty() && serde_json::from_str::<serde_json::Map<_, _>>(&attributes).is_err() {
            return Err(Error::format("clip-attributes", "the attributes are not a JSON object"));
        }
        let classes = &self.shard.index.meta.classes;
        let Some(label) = u32::try_from(clip.label).ok().filter(|_| !classes.is_empty()) else {
            return Ok(());
        };
        match classes.get(label as usize) {
            Some(name) if class.is_empty() || *name == class => Ok(()),
            other => Err(Error::format("clip-class", "the clip's class is not that of its label")
                .expected(other.map_or("a label that has a class", |s| s))
                .found(format!("{label}, \"{class}\""))),
        }
    }

    fn frame(&mut self, c: u64, clip: &ClipEntry, t: u32, counter: &mut Counter<'_, '_>) -> Result<()> {
        let ordinal = clip.first_frame + u64::from(t);
        let entry = self.shard.frame_entry(ordinal)?;
        let at = entry.record_offset;
        // The frame is read first, because this fetches bytes again that were damaged on the way.
        let found = self.shard.frame(ordinal, clip.frames());
        let expected_at = std::mem::replace(&mut self.record_end, at);
        let end = self.shard.records.record(&entry, &mut Vec::new()).map(|r| r.end);
        // If this record cannot be read, the next one is assumed to be where the index says.
        self.record_end = match &end {
            Ok(end) => *end,
            Err(_) => self.next_offset(ordinal).unwrap_or(at),
        };
        end?;
        let (_, header, jpeg) = found?;
        let found = crc32(&jpeg);
        if let Some(pictures) = &mut self.pictures {
            pictures.add(Picture { clip: c, frame: t, at, stated: (clip.width, clip.height), jpeg }, counter)?;
        }
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
        if found != entry.jpeg_crc32 {
            return Err(fault("jpeg-crc", "the JPEG's CRC-32 does not match the index")
                .expected(format!("{:#010x}", entry.jpeg_crc32))
                .found(format!("{found:#010x}")));
        }
        Ok(())
    }

    fn next_offset(&self, ordinal: u64) -> Option<u64> {
        self.shard.frame_entry(ordinal + 1).ok().map(|e| e.record_offset)
    }
}

/// Checks that the padding after a section is zero.
fn prove_padding(bytes: &dyn ReadAt, padding: Range<u64>) -> Result<()> {
    let at = padding.start;
    if bytes.slice(padding)?.unwrap_or_default().iter().all(|&b| b == 0) {
        return Ok(());
    }
    Err(Error::format("section-padding", "the padding after the section is not zero").at(at))
}

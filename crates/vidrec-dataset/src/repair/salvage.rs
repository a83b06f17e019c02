//! Finds the intact clips of a shard in the surviving parts of its record file and its index.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::old_index::OldIndex;
use super::report::{Losses, LostClip};
use super::scan::{Found, Scan};
use crate::split_payload;
use crate::writer::ClipInfo;
use vidrec_format::clip_entry;
use vidrec_format::clip_entry::ClipEntry;
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::ShardJson;
use vidrec_format::error::Result;
use vidrec_format::frame_entry::{FrameEntry, UNKNOWN_SOURCE_INDEX};
use vidrec_format::json_object::JsonObject;
use vidrec_format::limits;
use vidrec_format::meta::Meta;
use vidrec_format::record_header;
use vidrec_format::record_header::RecordHeader;
use vidrec_format::{crc32, recordio};
use vidrec_jpeg::{Decoder, RgbPicture};

/// A clip with all its frames.
pub(super) struct SalvagedClip<'a> {
    /// Ordinal in the old shard.
    pub ordinal: u64,
    pub info: ClipInfo,
    pub frames: Vec<SalvagedFrame<'a>>,
    pub losses: Losses,
}

pub(super) struct SalvagedFrame<'a> {
    /// The frame's entry for an index of the same record file.
    pub entry: FrameEntry,
    pub jpeg: Cow<'a, [u8]>,
    /// The record's own header and end, if it parses.
    record: Option<(RecordHeader, u64)>,
}

/// The fate of a clip.
pub(super) enum Fate<'a> {
    Salvaged(SalvagedClip<'a>),
    Lost(LostClip),
}

/// A shard while its clips are salvaged.
pub(super) struct Salvage<'a> {
    name: &'a str,
    file: &'a [u8],
    old: &'a OldIndex<'a>,
    listed: Option<&'a ShardJson>,
    classes: &'a [String],
    /// The records found. Empty unless the index is damaged and vidrec wrote the ids of the records.
    scan: Scan,
    /// Whether another program wrote the ids and labels in the record file, so that they say nothing about clips and
    /// frames.
    pub is_foreign: bool,
    pub sha256: [u8; 32],
    /// Whether its SHA-256 proves that the record file is intact.
    is_proven: bool,
    decoder: Decoder,
    pixels: RgbPicture,
    /// The start of the next record, if no problem was found so far.
    end: Option<u64>,
    next: (u64, u64),
}

impl<'a> Salvage<'a> {
    pub fn new(
        name: &'a str,
        file: &'a [u8],
        old: &'a OldIndex<'a>,
        listed: Option<&'a ShardJson>,
        classes: &'a [String],
    ) -> Result<Self> {
        let sha256: [u8; 32] = Sha256::digest(file).into();
        let by_index = old.binding.is_some_and(|b| b.sha256 == sha256);
        let by_list = listed.is_some_and(|shard| shard.sha256 == hex(&sha256));
        let said = [old.counts.map(|(clips, _)| clips), listed.map(|shard| shard.clips), Some(old.clip_entries)];
        let clips = said.into_iter().flatten().max().unwrap_or(0);
        let scan = if old.is_whole { Scan::default() } else { Scan::new(file, clips) };
        let is_foreign = old.meta.as_ref().map_or(scan.is_foreign(), Meta::has_foreign_records);
        Ok(Salvage {
            name,
            file,
            old,
            listed,
            classes,
            scan: if is_foreign { Scan::default() } else { scan },
            is_foreign,
            sha256,
            is_proven: by_index || by_list,
            decoder: Decoder::new()?,
            pixels: RgbPicture::default(),
            end: Some(0),
            next: (0, 0),
        })
    }

    /// Ordinals of the clips that have something left, sorted.
    pub fn ordinals(&self) -> Vec<u64> {
        let entries = self.old.clip_entries;
        let more = self.scan.by_clip.range(entries..).map(|(&clip, _)| clip);
        (0..entries).chain(more).collect()
    }

    /// The number of clips that the shard had, as far as it is known.
    pub fn clip_count(&self) -> u64 {
        let seen = self.scan.by_clip.keys().next_back().map_or(0, |last| last.saturating_add(1));
        let said = self.old.counts.map(|(clips, _)| clips).or(self.listed.map(|shard| shard.clips));
        said.unwrap_or(0).max(seen).max(self.old.clip_entries).min(limits::MAX_ORDINALS)
    }

    /// Whether everything salvaged so far fills the record file to its end. This includes record headers, if vidrec
    /// wrote them.
    pub fn fills_the_file(&self) -> bool {
        self.end == Some(self.file.len() as u64)
    }

    /// Salvages clip `ordinal`.
    pub fn clip(&mut self, ordinal: u64) -> Fate<'a> {
        let fate = match self.old.clip(ordinal) {
            Some(entry) => self.clip_with_entry(ordinal, &entry),
            None => self.clip_without_entry(ordinal),
        };
        match &fate {
            Fate::Salvaged(clip) => self.follow(clip),
            Fate::Lost(_) => self.end = None,
        }
        fate
    }

    /// Checks whether the clip's records have the expected contents and places.
    fn follow(&mut self, clip: &SalvagedClip<'a>) {
        let label = clip.info.label.and_then(|l| i32::try_from(l).ok()).unwrap_or(clip_entry::NO_LABEL);
        for (t, frame) in (0..).zip(&clip.frames) {
            let wanted = RecordHeader::new(label, self.next.1, self.next.0, t);
            let fits = self.end == Some(frame.entry.record_offset);
            let is_wanted = |header: &RecordHeader| self.is_foreign || *header == wanted;
            self.end = frame.record.filter(|(header, _)| fits && is_wanted(header)).map(|(_, end)| end);
            self.next.1 += 1;
        }
        self.next.0 += 1;
    }

    fn clip_with_entry(&mut self, ordinal: u64, entry: &ClipEntry) -> Fate<'a> {
        let strings = self.old.strings(entry);
        let is_without = strings.is_none();
        let label = u32::try_from(entry.label).ok();
        let [source, class, attributes] = strings.unwrap_or_default();
        if u64::from(entry.frame_count) > self.old.frame_entries + self.scan.found.len() as u64 {
            return self.lost(
                ordinal,
                &source,
                label,
                Vec::new(),
                "neither the index nor the record file has that many frames",
            );
        }
        let (mut frames, mut damaged) = (Vec::new(), Vec::new());
        let mut losses = Losses { names: is_without, ..Losses::default() };
        for t in 0..entry.frame_count {
            match self.frame(ordinal, t, entry.first_frame + u64::from(t), &mut losses) {
                Some(frame) => frames.push(frame),
                None => damaged.push(t),
            }
        }
        if !damaged.is_empty() {
            let reason = "some of its frames are damaged or missing";
            return self.lost(ordinal, &source, label, damaged, reason);
        }
        let attributes = match attributes.parse() {
            Ok(attributes) => attributes,
            Err(_) => {
                losses.attributes |= !attributes.is_empty();
                JsonObject::default()
            }
        };
        let class = if losses.names { self.class_of(label) } else { class };
        let info = ClipInfo {
            label,
            source,
            class,
            attributes,
            width: u32::from(entry.width),
            height: u32::from(entry.height),
            time_base: entry.time_base,
            short: entry.flags & clip_entry::FLAG_SHORT != 0,
        };
        Fate::Salvaged(SalvagedClip { ordinal, info, frames, losses })
    }

    /// Frame `t` of a clip, which is frame `ordinal` of the shard.
    fn frame(&mut self, clip: u64, t: u32, ordinal: u64, losses: &mut Losses) -> Option<SalvagedFrame<'a>> {
        if let Some(entry) = self.old.frame(ordinal) {
            return frame_of(self.file, &entry);
        }
        let found = *self.scan.record(ordinal, clip, t)?;
        losses.frame_times.push(t);
        self.frame_found(&found, losses)
    }

    /// A frame without an entry. The file's SHA-256 must prove its image, or the image must at least decode.
    fn frame_found(&mut self, found: &Found, losses: &mut Losses) -> Option<SalvagedFrame<'a>> {
        let record = recordio::read(self.file, found.offset).ok()?;
        let (header, jpeg_at) = split_payload(&record.payload, found.offset).ok()?;
        let jpeg = tail(record.payload, jpeg_at);
        if !self.is_proven {
            losses.unproven = true;
            self.size_of(&jpeg, true)?;
        }
        let entry = FrameEntry {
            record_offset: found.offset,
            pts: 0,
            jpeg_length: u32::try_from(jpeg.len()).ok()?,
            jpeg_crc32: crc32(&jpeg),
            source_index: UNKNOWN_SOURCE_INDEX,
        };
        Some(SalvagedFrame { entry, jpeg, record: Some((header, record.end)) })
    }

    /// Width and height of an image that starts like a JPEG and, if `decode` is set, decodes.
    fn size_of(&mut self, jpeg: &[u8], decode: bool) -> Option<(u32, u32)> {
        let header = self.decoder.header(jpeg).ok().filter(|_| jpeg.starts_with(&[0xff, 0xd8]))?;
        if decode {
            // A decoder keeps tables that a damaged picture may lack, so each picture gets a new one.
            Decoder::new().ok()?.decode_picture_into(jpeg, &mut self.pixels).ok()?;
        }
        Some((header.width, header.height))
    }

    fn clip_without_entry(&mut self, ordinal: u64) -> Fate<'a> {
        let places = self.scan.by_clip.get(&ordinal).cloned().unwrap_or_default();
        let records: Vec<Found> = places.iter().map(|&place| self.scan.found[place]).collect();
        let label = common_label(&records);
        let known = label.flatten();
        let fault = |reason| LostFault { reason, frames: Vec::new() };
        let checked = match (&records[..], label) {
            _ if self.is_foreign => Err(fault(FOREIGN_WITHOUT_ENTRY)),
            ([], _) => Err(fault("its entry in the index and its records are lost")),
            (_, None) => Err(fault("its entry in the index is lost and its records do not agree on the label")),
            (_, Some(Some(label))) if !self.classes.is_empty() && label as usize >= self.classes.len() => {
                Err(fault("its entry in the index is lost and its records have a label without a class"))
            }
            _ if !follow_each_other(&records) => Err(fault("its entry in the index is lost and records are missing")),
            _ if !self.is_complete(ordinal, &records, &places) => {
                Err(fault("its entry in the index is lost and records may be missing at its end"))
            }
            _ => self.frames_found(&records),
        };
        match checked {
            Ok((frames, losses)) => {
                let size = self.common_size(&frames).unwrap_or((0, 0));
                let class = self.class_of(known);
                let info = ClipInfo { label: known, class, width: size.0, height: size.1, ..ClipInfo::default() };
                Fate::Salvaged(SalvagedClip { ordinal, info, frames, losses })
            }
            Err(LostFault { reason, frames }) => self.lost(ordinal, "", known, frames, reason),
        }
    }

    fn frames_found(&mut self, records: &[Found]) -> Result<(Vec<SalvagedFrame<'a>>, Losses), LostFault> {
        // Times mean nothing without the time base, which was in the clip's entry.
        let mut losses = Losses { names: true, attributes: true, times: true, ..Losses::default() };
        let (mut frames, mut damaged) = (Vec::new(), Vec::new());
        for (t, found) in (0..).zip(records) {
            let proven = self.old.frame(found.header.id).filter(|entry| entry.record_offset == found.offset);
            let frame = match proven {
                Some(entry) => frame_of(self.file, &FrameEntry { pts: 0, ..entry }),
                None => self.frame_found(found, &mut losses),
            };
            match frame {
                Some(frame) => frames.push(frame),
                None => damaged.push(t),
            }
        }
        losses.frame_times.clear();
        // The label was in the entry. No checksum except the file's covers the label of the records.
        losses.unproven |= !self.is_proven;
        if damaged.is_empty() {
            Ok((frames, losses))
        } else {
            Err(LostFault { reason: "some of its frames are damaged", frames: damaged })
        }
    }

    /// Whether the last record that was found is the last record of the clip.
    fn is_complete(&self, clip: u64, records: &[Found], places: &[usize]) -> bool {
        let Some(last) = records.last() else { return false };
        let next_id = last.header.id.saturating_add(1);
        if self.is_proven && self.scan.gapless {
            return true;
        }
        if let Some(next) = self.old.clip(clip.saturating_add(1)) {
            return next.first_frame == next_id;
        }
        if let Some((clips, frames)) = self.old.counts
            && clip.checked_add(1) == Some(clips)
        {
            return next_id == frames;
        }
        let after = places.last().and_then(|&place| self.scan.found.get(place + 1));
        match after {
            // The frames before that of the next record must account for everything missing in between. Clips in between may
            // have no frames.
            Some(next) => {
                let missing = next.header.id.checked_sub(next_id);
                next.header.clip() > clip && missing == Some(next.header.frame().into())
            }
            None => match self.listed {
                Some(shard) => next_id == shard.frames,
                None => self.ends_the_file(last),
            },
        }
    }

    fn ends_the_file(&self, last: &Found) -> bool {
        recordio::read(self.file, last.offset).is_ok_and(|record| record.end == self.file.len() as u64)
    }

    fn common_size(&mut self, frames: &[SalvagedFrame<'_>]) -> Option<(u32, u32)> {
        let first = self.size_of(&frames.first()?.jpeg, false)?;
        frames.iter().all(|frame| self.size_of(&frame.jpeg, false) == Some(first)).then_some(first)
    }

    fn class_of(&self, label: Option<u32>) -> String {
        label.and_then(|label| self.classes.get(label as usize)).cloned().unwrap_or_default()
    }

    fn lost(&self, clip: u64, source: &str, label: Option<u32>, frames: Vec<u32>, reason: &str) -> Fate<'a> {
        Fate::Lost(LostClip {
            shard: self.name.to_owned(),
            clip,
            clips: 1,
            source: (!source.is_empty()).then(|| source.to_owned()),
            label,
            frames,
            reason: reason.to_owned(),
        })
    }
}

/// Why a clip in another program's record file is lost.
pub(super) const FOREIGN_WITHOUT_ENTRY: &str =
    "its entry in the index is lost, and another program's records do not say which of them form a clip";

struct LostFault {
    reason: &'static str,
    frames: Vec<u32>,
}

/// The label that all records have: `Some(None)` if they have none, and `None` if they differ or have an invalid label.
fn common_label(records: &[Found]) -> Option<Option<u32>> {
    let first = records.first()?.header;
    let same = records.iter().all(|r| r.header.flag == 0 && r.header.label.to_bits() == first.label.to_bits());
    let label = first.label;
    match () {
        () if !same => None,
        () if label.to_bits() == (-1.0f32).to_bits() => Some(None),
        () if (0.0..=limits::MAX_LABEL as f32).contains(&label) && label.fract() == 0.0 && label.is_sign_positive() => {
            Some(Some(label as u32))
        }
        () => None,
    }
}

/// Whether the frames count from 0 and the records have no gap.
fn follow_each_other(records: &[Found]) -> bool {
    let first = records.first().map_or(0, |r| r.header.id);
    let fits = |(t, r): (u64, &Found)| (u64::from(r.header.frame()), Some(r.header.id)) == (t, first.checked_add(t));
    (0..).zip(records).all(fits)
}

/// The frame of an entry, if its JPEG is intact. If the framing of the record is damaged, the JPEG may still follow it.
fn frame_of<'a>(file: &'a [u8], entry: &FrameEntry) -> Option<SalvagedFrame<'a>> {
    let record = recordio::read(file, entry.record_offset).ok();
    let parsed = record.and_then(|record| {
        let (header, jpeg_at) = split_payload(&record.payload, entry.record_offset).ok()?;
        Some((tail(record.payload, jpeg_at), (header, record.end)))
    });
    let is_intact = |jpeg: &[u8]| jpeg.len() == entry.jpeg_length as usize && crc32(jpeg) == entry.jpeg_crc32;
    if let Some((jpeg, record)) = parsed.filter(|(jpeg, _)| is_intact(jpeg)) {
        return Some(SalvagedFrame { entry: *entry, jpeg, record: Some(record) });
    }
    let begin =
        usize::try_from(entry.record_offset).ok()?.checked_add(recordio::PART_HEAD_BYTES + record_header::BYTES)?;
    let jpeg = file.get(begin..begin.checked_add(entry.jpeg_length as usize)?).filter(|jpeg| is_intact(jpeg))?;
    Some(SalvagedFrame { entry: *entry, jpeg: Cow::Borrowed(jpeg), record: None })
}

fn tail(payload: Cow<'_, [u8]>, at: usize) -> Cow<'_, [u8]> {
    match payload {
        Cow::Borrowed(payload) => Cow::Borrowed(&payload[at..]),
        Cow::Owned(mut payload) => Cow::Owned(payload.split_off(at)),
    }
}

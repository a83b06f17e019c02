//! Finds the intact clips of a shard in the surviving parts of its record file and its index.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use memchr::memmem;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use vidrec_jpeg::{Decoder, RgbPicture};

use super::damaged_shard::DamagedShard;
use crate::dataset::shard::jpeg_of;
use crate::dataset::split_payload;
use crate::dataset::writer::ClipInfo;
use vidrec_format::clip_entry::{FLAG_SHORT, NO_LABEL};
use vidrec_format::data_binding::hex;
use vidrec_format::frame_entry::UNKNOWN_SOURCE_INDEX;
use vidrec_format::recordio::MAGIC;
use vidrec_format::{
    ClipEntry, FileName, FrameEntry, JsonObject, Meta, RecordHeader, Result, crc32, file_name, limits, recordio,
};

/// A clip of which something is lost, or several consecutive clips of which nothing is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamagedClip {
    /// Name of the shard's record file.
    pub shard: String,
    /// Ordinal of the clip in its shard.
    pub clip: u64,
    /// The number of clips, starting with that one.
    pub clips: u64,
    /// Its source; empty if it is not known any more.
    pub source: String,
    /// Why the clip is lost, in words; or for a saved clip an object that says what of it is lost, as its attribute `repair`
    /// does.
    pub what: Value,
}

/// The parts that a saved clip has lost.
#[derive(Debug, Default, Serialize)]
pub(super) struct Losses {
    /// `source` (with the class, which the label tells again if there are class names), `attributes`, and `times`: all
    /// presentation times and source indexes, and whether the clip is short.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<&'static str>,
    /// Names of lost tracks; `*` for all, if their names are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracks: Vec<String>,
    /// No checksum proves the images or the label.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
}

/// A clip with all its frames.
pub(super) struct SavedClip<'a> {
    pub info: ClipInfo,
    pub frames: Vec<SavedFrame<'a>>,
    pub losses: Losses,
}

pub(super) struct SavedFrame<'a> {
    pub jpeg: Cow<'a, [u8]>,
    pub pts: i64,
    pub source_index: Option<u32>,
}

/// A shard while its clips are saved.
pub(super) struct Salvage<'a> {
    shard: &'a DamagedShard,
    meta: &'a Meta,
    file: &'a [u8],
    /// The records of the file, unless the index is intact.
    scan: RecordScan,
    /// Whether the index is damaged, but the SHA-256 that it has, that `dataset.json` has or that is in the name proves that
    /// the record file is intact.
    is_proven: bool,
}

impl<'a> Salvage<'a> {
    pub fn new(shard: &'a DamagedShard, meta: &'a Meta) -> Self {
        let file = shard.records().unwrap_or_default();
        let mut salvage = Salvage { shard, meta, file, scan: RecordScan::default(), is_proven: false };
        if shard.fault.is_some() {
            let frames = shard.index.as_ref().map(|index| index.header.frame_count);
            salvage.scan = RecordScan::new(file, shard.clip_entries(), frames);
            let sha256: [u8; 32] = Sha256::digest(file).into();
            let is_indexed = shard.index.as_ref().is_some_and(|index| index.binding.sha256 == sha256);
            let is_listed = shard.listed.as_ref().is_some_and(|listed| listed.sha256 == hex(&sha256));
            let name = file_name::with_digest(file_name::stem(&shard.name), &sha256, "rec");
            salvage.is_proven = is_indexed || is_listed || shard.name == name;
        }
        salvage
    }

    /// The number of clips that can have an entry or a record, and that of all clips as far as it is known.
    pub fn clips(&self) -> (u64, u64) {
        let found = self.shard.clip_entries().max(self.scan.clips());
        (found, self.shard.index.as_ref().map_or(found, |index| index.header.clip_count.max(found)))
    }

    /// Saves clip `ordinal` of the shard.
    pub fn clip(&self, ordinal: u64) -> Result<SavedClip<'a>, DamagedClip> {
        let stored = self.shard.clip(ordinal);
        let texts = stored.as_ref().and_then(|entry| self.shard.strings(entry));
        let object = |json: &str| if json.is_empty() { Some(JsonObject::default()) } else { json.parse().ok() };
        let texts = texts.and_then(|[source, class, json]| Some((source, class, object(&json)?)));
        let mut losses = Losses::default();
        losses.lost.extend(texts.is_none().then_some(["source", "attributes"]).iter().flatten());
        let (source, class, attributes) = texts.unwrap_or_default();
        let entry = stored.map_or_else(|| self.entry_of_records(ordinal), Ok);
        let frames = entry.and_then(|entry| Ok((entry, self.frames(ordinal, &entry, &mut losses)?)));
        let (entry, mut frames) = frames.map_err(|reason| self.lost(ordinal, source.clone(), &reason))?;
        let label = u32::try_from(entry.label).ok();
        let class = label.and_then(|label| self.meta.classes.get(label as usize)).cloned().unwrap_or(class);
        let (width, height) =
            stored.map_or_else(|| common_size(&frames), |entry| (entry.width.into(), entry.height.into()));
        let mut info = ClipInfo { label, source, class, attributes, width, height, ..ClipInfo::default() };
        if stored.is_some() && !losses.lost.contains(&"times") {
            (info.time_base, info.short) = (entry.time_base, entry.flags & FLAG_SHORT != 0);
            return Ok(SavedClip { info, frames, losses });
        }
        // Only the checksum of the whole file covers the ids and labels of records.
        losses.unproven |= stored.is_none() && !self.is_proven;
        frames.iter_mut().for_each(|frame| (frame.pts, frame.source_index) = (0, None));
        Ok(SavedClip { info, frames, losses })
    }

    /// The label and the frames of a clip according to its records, or the reason why they are unknown.
    fn entry_of_records(&self, ordinal: u64) -> Result<ClipEntry, String> {
        let is_given = self.shard.name.parse().is_ok_and(|name: FileName| name.is_given());
        if self.meta.has_foreign_records() && !is_given {
            return Err("its entry in the index is lost, and another program wrote the ids of its records; \
                 `vidrec import mxnet` makes a data set of them"
                .into());
        }
        let entry = self.scan.clip(ordinal)?;
        let classes = self.meta.classes.len();
        if classes > 0 && usize::try_from(entry.label).is_ok_and(|label| label >= classes) {
            return Err(format!(
                "its entry in the index is lost, and its records have a label without a class: {}",
                entry.label
            ));
        }
        Ok(entry)
    }

    /// All frames of a clip, or why there are not all.
    fn frames(&self, ordinal: u64, clip: &ClipEntry, losses: &mut Losses) -> Result<Vec<SavedFrame<'a>>, String> {
        if u64::from(clip.frame_count) > self.file.len() as u64 / LEAST_RECORD_BYTES {
            return Err("the record file is missing or too short for its frames".into());
        }
        let (mut frames, mut damaged, mut has_times) = (Vec::new(), Vec::new(), self.shard.clip(ordinal).is_some());
        for (t, frame) in (0..).zip(clip.frames()) {
            let entry = self.shard.frame(frame);
            has_times &= entry.is_some();
            let found = match entry {
                Some(entry) => frame_of(self.file, &entry),
                None => self.frame_of_record(ordinal, clip.first_frame, t, losses),
            };
            match found {
                Some(frame) => frames.push(frame),
                None => damaged.push(t.to_string()),
            }
        }
        losses.lost.extend((!has_times).then_some("times"));
        match damaged.is_empty() {
            true => Ok(frames),
            false => Err(format!("some of its frames are damaged or missing: {}", damaged.join(", "))),
        }
    }

    /// Frame `t` of a clip, if its entry is lost. The record file's SHA-256 must prove its image, or the image must at
    /// least decode.
    fn frame_of_record(&self, clip: u64, first: u64, t: u32, losses: &mut Losses) -> Option<SavedFrame<'a>> {
        let jpeg = jpeg_at(self.file, self.scan.offset(clip, first, t)?)?;
        if !self.is_proven {
            losses.unproven = true;
            // A decoder keeps tables that a damaged picture may lack, so each picture gets a new one.
            Decoder::new().ok()?.decode_picture_into(&jpeg, &mut RgbPicture::default()).ok()?;
        }
        Some(SavedFrame { jpeg, pts: 0, source_index: None })
    }

    /// The report on a lost clip.
    pub fn lost(&self, clip: u64, source: String, reason: &str) -> DamagedClip {
        DamagedClip { shard: self.shard.name.clone(), clip, clips: 1, source, what: reason.into() }
    }
}

/// Width and height of all frames; zeros if they differ.
fn common_size(frames: &[SavedFrame<'_>]) -> (u32, u32) {
    let size = |frame: &SavedFrame<'_>| {
        let header = Decoder::new().and_then(|mut decoder| decoder.header(&frame.jpeg)).ok()?;
        Some((header.width, header.height))
    };
    let first = frames.first().and_then(size);
    first.filter(|_| frames.iter().all(|frame| size(frame) == first)).unwrap_or((0, 0))
}

/// The frame of an entry, if its JPEG is intact. If the framing of its record is damaged, the JPEG may still follow it.
fn frame_of<'a>(file: &'a [u8], entry: &FrameEntry) -> Option<SavedFrame<'a>> {
    let length = usize::try_from(entry.jpeg_length).ok()?;
    let begin = usize::try_from(entry.record_offset.checked_add(LEAST_RECORD_BYTES)?).ok()?;
    let unframed = begin.checked_add(length).and_then(|end| file.get(begin..end)).map(Cow::Borrowed);
    let found = [jpeg_at(file, entry.record_offset), unframed].into_iter().flatten();
    let jpeg = found.filter(|jpeg| jpeg.len() == length).find(|jpeg| crc32(jpeg) == entry.jpeg_crc32)?;
    let source_index = Some(entry.source_index).filter(|&index| index != UNKNOWN_SOURCE_INDEX);
    Some(SavedFrame { jpeg, pts: entry.pts, source_index })
}

/// The JPEG of the record at `offset`.
fn jpeg_at(file: &[u8], offset: u64) -> Option<Cow<'_, [u8]>> {
    let record = recordio::read(file, offset).ok()?;
    Some(jpeg_of(record, offset).ok()?.1)
}

/// The fewest bytes of a record.
const LEAST_RECORD_BYTES: u64 = (recordio::PART_HEAD_BYTES + recordio::HEADER_BYTES) as u64;

/// The records of a file that parse, by what their headers say. Their images may be damaged.
#[derive(Debug, Default)]
struct RecordScan {
    /// Offset and label, by clip, ordinal of the record of the clip's first frame, and frame.
    records: BTreeMap<(u64, u64, u32), (u64, f32)>,
    /// Ordinals of the records with which clips begin, and the number of records if it is known.
    ends: HashSet<u64>,
}

impl RecordScan {
    /// Reads record after record. If none parses, it continues at the next magic word at a multiple of 4 bytes. `clips` and
    /// `frames` are the numbers of clip entries and frames, as far as they are known.
    pub fn new(file: &[u8], clips: u64, frames: Option<u64>) -> Self {
        let (mut scan, mut at) = (RecordScan { ends: frames.into_iter().collect(), ..RecordScan::default() }, 0);
        let magic = MAGIC.to_le_bytes();
        let mut magic = memmem::find_iter(file, &magic).filter(|i| i.is_multiple_of(4));
        while at < file.len() {
            let Some((header, end)) = parse(file, at) else {
                let Some(next) = magic.find(|&next| next > at) else { break };
                at = next;
                continue;
            };
            scan.push(&header, at as u64, clips);
            if end == file.len() && frames.is_none() {
                scan.ends.insert(header.id.saturating_add(1));
            }
            at = end;
        }
        scan
    }

    /// Adds a record, if a record at this place can have these ordinals: each clip before it has an entry or a record.
    fn push(&mut self, header: &RecordHeader, offset: u64, clips: u64) {
        let (clip, frame) = (header.clip(), header.frame());
        if let Some(first) = header.id.checked_sub(frame.into())
            && header.flag == 0
            && header.id <= offset / LEAST_RECORD_BYTES
            && (clip <= first || clip < clips)
        {
            self.ends.insert(first);
            self.records.entry((clip, first, frame)).or_insert((offset, header.label));
        }
    }

    /// One more than the last clip that a record names.
    pub fn clips(&self) -> u64 {
        self.records.keys().next_back().map_or(0, |(clip, ..)| clip + 1)
    }

    /// The offset of the record of a frame of a clip whose first record is `first`.
    pub fn offset(&self, clip: u64, first: u64, frame: u32) -> Option<u64> {
        self.records.get(&(clip, first, frame)).map(|&(offset, _)| offset)
    }

    /// Label and frames of a clip, if all of its records are there: they follow each other, another clip or nothing follows
    /// them, and they agree.
    pub fn clip(&self, clip: u64) -> Result<ClipEntry, String> {
        let mut runs: BTreeMap<u64, Vec<(u32, f32)>> = BTreeMap::new();
        for (&(_, first, frame), &(_, label)) in self.records.range((clip, 0, 0)..(clip + 1, 0, 0)) {
            runs.entry(first).or_default().push((frame, label));
        }
        let counts_on = |run: &[(u32, f32)]| (0..).zip(run).all(|(t, (frame, _))| t == *frame);
        runs.retain(|first, run| counts_on(run) && self.ends.contains(&(first + run.len() as u64)));
        let Some((first_frame, run)) = runs.pop_first().filter(|_| runs.is_empty()) else {
            return Err("its entry in the index and some or all of its records are lost".into());
        };
        let (frame_count, (_, stored)) = (run.len() as u32, run[0]);
        let label = stored as i32;
        let is_label = (NO_LABEL..=limits::MAX_LABEL).contains(&label) && (label as f32).to_bits() == stored.to_bits();
        if !is_label || run.iter().any(|(_, other)| other.to_bits() != stored.to_bits()) {
            return Err("its entry in the index is lost, and its records do not agree on a label".into());
        }
        Ok(ClipEntry { first_frame, frame_count, label, ..ClipEntry::default() })
    }
}

/// The header and end of the record at `at`. A record of one part that holds an aligned magic word is rejected, because
/// its length must be wrong.
fn parse(file: &[u8], at: usize) -> Option<(RecordHeader, usize)> {
    let record = recordio::read(file, at as u64).ok()?;
    if matches!(record.payload, Cow::Borrowed(_)) && recordio::needs_parts(0, &record.payload) {
        return None;
    }
    let (header, _) = split_payload(&record.payload, at as u64).ok()?;
    Some((header, usize::try_from(record.end).ok()?))
}

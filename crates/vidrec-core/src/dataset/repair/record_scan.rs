//! Finds the records of a record file without an index.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use memchr::memmem;

use crate::dataset::split_payload;
use vidrec_format::clip_entry::NO_LABEL;
use vidrec_format::recordio::MAGIC;
use vidrec_format::{ClipEntry, RecordHeader, limits, recordio};

/// The fewest bytes of a record.
pub(super) const LEAST_RECORD_BYTES: u64 = (recordio::PART_HEAD_BYTES + recordio::HEADER_BYTES) as u64;

/// The records of a file that parse, by what their headers say. Their images may be damaged.
#[derive(Debug, Default)]
pub(super) struct RecordScan {
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
        while at < file.len() {
            let Some((header, end)) = parse(file, at) else {
                match next_magic(file, at + 4) {
                    Some(next) => at = next,
                    None => break,
                }
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

fn next_magic(file: &[u8], from: usize) -> Option<usize> {
    let rest = file.get(from..)?;
    let magic = MAGIC.to_le_bytes();
    memmem::find_iter(rest, &magic).map(|i| from + i).find(|i| i.is_multiple_of(4))
}

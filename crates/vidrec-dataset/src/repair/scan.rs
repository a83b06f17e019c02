//! Finds the records of a record file without an index.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::split_payload;
use vidrec_format::record_header;
use vidrec_format::record_header::RecordHeader;
use vidrec_format::recordio;
use vidrec_format::recordio::MAGIC;

/// A record that parses. Its image may still be damaged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    pub offset: u64,
    pub header: RecordHeader,
}

/// All records of a file that parse, in order.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub found: Vec<Found>,
    /// Whether they fill the file without a gap and have plausible ids.
    pub gapless: bool,
    /// The positions in `found` of the records of each clip, by the clip's ordinal.
    pub by_clip: BTreeMap<u64, Vec<usize>>,
    /// The position in `found` of each record, by the ordinal in its header.
    by_id: BTreeMap<u64, usize>,
    /// The number of records whose ids continue those of the previous record. The first record always counts.
    counting: usize,
    /// The number of other records that parse.
    not_counting: usize,
}

impl Scan {
    /// Reads record after record. If none parses, it continues at the next magic word at a multiple of 4 bytes. `clips` is the
    /// number of clips as far as it is known, or 0.
    pub fn new(file: &[u8], clips: u64) -> Self {
        let mut scan = Scan { gapless: true, ..Scan::default() };
        let mut at = 0;
        while at < file.len() {
            if let Some((header, end)) = parse(file, at) {
                if is_possible(&header, file.len(), clips) {
                    scan.push(Found { offset: at as u64, header });
                } else {
                    scan.gapless = false;
                    scan.not_counting += 1;
                }
                at = end;
            } else {
                scan.gapless = false;
                match next_magic(file, at + 4) {
                    Some(next) => at = next,
                    None => break,
                }
            }
        }
        scan
    }

    fn push(&mut self, found: Found) {
        let place = self.found.len();
        let counts = self.found.last().is_none_or(|before| counts_on(&before.header, &found.header));
        *if counts { &mut self.counting } else { &mut self.not_counting } += 1;
        self.by_clip.entry(found.header.clip()).or_default().push(place);
        self.by_id.entry(found.header.id).or_insert(place);
        self.found.push(found);
    }

    /// Whether another program wrote the ids of most records.
    pub fn is_foreign(&self) -> bool {
        self.not_counting > self.counting
    }

    /// The record whose header says that it is record `ordinal` of the file and frame `t` of `clip`.
    pub fn record(&self, ordinal: u64, clip: u64, t: u32) -> Option<&Found> {
        let found = self.found.get(*self.by_id.get(&ordinal)?)?;
        ((found.header.clip(), found.header.frame()) == (clip, t)).then_some(found)
    }
}

/// Whether a record in a file of this length can have these ids. Each frame before it needs a record, and so does each clip,
/// unless it is known that there are more clips, which then have no frames.
fn is_possible(header: &RecordHeader, length: usize, clips: u64) -> bool {
    const LEAST_RECORD_BYTES: usize = recordio::PART_HEAD_BYTES + record_header::BYTES;
    let (clip, frame) = (header.clip(), u64::from(header.frame()));
    let has_room = clip + frame <= header.id || (clip < clips && frame <= header.id);
    header.id < (length / LEAST_RECORD_BYTES) as u64 && has_room
}

/// Whether vidrec may have written a record with the header `next` somewhere after one with the header `before`.
fn counts_on(before: &RecordHeader, next: &RecordHeader) -> bool {
    next.flag == 0 && next.id > before.id && next.id2 > before.id2
}

/// The header and end of the record at `at`. A record of one part that holds an aligned magic word is rejected, because
/// its length must be wrong.
fn parse(file: &[u8], at: usize) -> Option<(RecordHeader, usize)> {
    let record = recordio::read(file, at as u64).ok()?;
    let is_one_part = matches!(record.payload, std::borrow::Cow::Borrowed(_));
    if is_one_part && recordio::needs_parts(0, &record.payload) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(records: u64) -> Vec<u8> {
        let mut file = Vec::new();
        for i in 0..records {
            let header = RecordHeader::new(0, i, i / 2, (i % 2) as u32);
            recordio::append(&header.to_bytes(), &[7; 50], &mut file).unwrap();
        }
        file
    }

    #[test]
    fn damage_costs_the_records_it_touches_and_no_others() {
        let whole = file(6);
        let scan = Scan::new(&whole, 0);
        assert!(scan.gapless && scan.found.len() == 6 && scan.by_clip.len() == 3);
        let size = whole.len() / 6;
        for at in 0..whole.len() {
            for bit in [0, 7] {
                let mut bad = whole.clone();
                bad[at] ^= 1 << bit;
                let scan = Scan::new(&bad, 0);
                for i in (0..6).filter(|&i| i != at / size) {
                    let found = scan.found.iter().any(|f| f.offset == (i * size) as u64 && f.header.id == i as u64);
                    assert!(found, "record {i} after a flip at {at}");
                }
            }
        }
    }

    #[test]
    fn ids_of_another_program_are_told_from_damage() {
        let mut own = file(6);
        assert!(!Scan::new(&own, 0).is_foreign() && !Scan::new(&[], 0).is_foreign());
        let size = own.len() / 6;
        for at in [8 + 8, size + 8 + 16] {
            own[at] ^= 0x40;
            assert!(!Scan::new(&own, 0).is_foreign(), "{at}");
        }
        let mut foreign = Vec::new();
        for id in [4, 5, 0, 1, 2, 3] {
            let header = RecordHeader { flag: 0, label: 1.0, id, id2: 0 };
            recordio::append(&header.to_bytes(), &[7; 50], &mut foreign).unwrap();
        }
        assert!(Scan::new(&foreign, 0).is_foreign());
    }

    #[test]
    fn files_of_heads_alone_are_walked_through_in_one_pass() {
        let head = |flag: u32, length: u32| [MAGIC.to_le_bytes(), (flag << 29 | length).to_le_bytes()].concat();
        for (flag, length) in [(0, 0), (0, 1 << 20), (1, 0), (1, 1 << 20), (2, 0), (3, 5)] {
            let scan = Scan::new(&head(flag, length).repeat(1 << 15), 0);
            assert!(scan.found.is_empty() && !scan.gapless);
        }
        let scan = Scan::new(&[head(1, 0), head(2, 0).repeat(1 << 15)].concat().repeat(4), 0);
        assert!(scan.found.is_empty());
    }
}

//! The ranges of an object that segments have.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

use super::folder;
use crate::store::disk::open_files::read_exact_at;
use crate::store::disk::regular_file::{Links, open_if_there};
use crate::store::ranges::Ranges;

/// Bytes of a header.
pub(super) const HEADER_BYTES: u64 = 16;
/// The position in the header of a range that proved wrong.
pub(super) const FORGOTTEN: u64 = u64::MAX;

/// The header of a range.
pub(super) fn header(range: &Range<u64>) -> [u8; HEADER_BYTES as usize] {
    let mut bytes = [0; HEADER_BYTES as usize];
    bytes[..8].copy_from_slice(&range.start.to_le_bytes());
    bytes[8..].copy_from_slice(&(range.end - range.start).to_le_bytes());
    bytes
}

/// The ranges that this process knows of.
#[derive(Debug, Default)]
pub(super) struct Segments {
    pub ranges: Ranges<Stored>,
    /// The end of the headers that were read of each segment.
    known: HashMap<u64, u64>,
}

/// The place of the bytes of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    /// The number of the segment, the place of the header in it, and that of the first byte.
    pub segment: u64,
    pub header: u64,
    pub at: u64,
}

impl Segments {
    /// Adds a range whose header is at `header` of a segment.
    pub fn insert(&mut self, range: &Range<u64>, segment: u64, header: u64) {
        for part in self.ranges.missing(range) {
            let at = header + HEADER_BYTES + (part.start - range.start);
            self.ranges.insert(part, Stored { segment, header, at });
        }
        self.known.insert(segment, header + HEADER_BYTES + (range.end - range.start));
    }

    /// Removes all ranges with bytes of a range. Returns the segments and places of their headers.
    pub fn remove(&mut self, range: &Range<u64>) -> Vec<(u64, u64)> {
        let gone: Vec<_> = self.ranges.within(range).iter().map(|(_, at)| (at.segment, at.header)).collect();
        self.ranges.retain(|stored| !gone.contains(&(stored.segment, stored.header)));
        gone
    }

    /// Forgets a segment that was removed.
    pub fn remove_segment(&mut self, segment: u64) {
        self.ranges.retain(|stored| stored.segment != segment);
        self.known.remove(&segment);
    }

    /// Reads the headers that processes have written since the last call. The object has `length` bytes.
    pub fn refresh(&mut self, object: &Path, length: u64) {
        // A folder that cannot be read has no ranges.
        for (segment, meta) in folder::segments(object).unwrap_or_default() {
            let known = self.known.get(&segment).copied().unwrap_or_default();
            if meta.len() <= known {
                continue;
            }
            if let Ok(Some(file)) = open_if_there(&object.join(segment.to_string()), Links::Refuse) {
                self.read_headers(&file, segment, known..meta.len(), length);
            }
        }
    }

    fn read_headers(&mut self, file: &File, segment: u64, unread: Range<u64>, length: u64) {
        let mut at = unread.start;
        let mut bytes = [0; HEADER_BYTES as usize];
        while read_exact_at(file, &mut bytes, at).is_ok() {
            let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
            let (start, count) = (number(&bytes[..8]), number(&bytes[8..]));
            let next = at.saturating_add(HEADER_BYTES).saturating_add(count);
            // A range without a header is still being written, or its process was killed.
            if count == 0 || next > unread.end {
                break;
            }
            if start != FORGOTTEN && start.checked_add(count).is_some_and(|end| end <= length) {
                self.insert(&(start..start + count), segment, at);
            }
            self.known.insert(segment, next);
            at = next;
        }
    }
}

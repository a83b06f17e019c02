//! A record file, and its digest.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::store::read_at::ReadAt;
use vidrec_format::data_binding::EDGE_BYTES;
use vidrec_format::{DataBinding, Error, ErrorKind, FrameEntry, Result, crc32, data_binding, limits, recordio};

/// Reads of a record file or a track file.
impl dyn ReadAt + '_ {
    /// The CRC-32 of the file's two ends.
    pub fn edge_crc32(&self) -> Result<u32> {
        let n = self.len().min(EDGE_BYTES as u64);
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        self.read(0..n, &mut head)?;
        self.read(self.len() - n..self.len(), &mut tail)?;
        Ok(data_binding::edges_crc32(&head, &tail))
    }

    /// Replaces the contents of `buffer` with a range of the file.
    pub fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        self.copy(range.clone(), &mut || range.clone(), buffer)
    }

    /// Reads the record that `entry` points to into `buffer`, for [`loaded`]. It reads the likely length first, and
    /// doubles it while the record is longer. `around` returns a range of the file that contains this record and what
    /// will be read next.
    pub fn load(&self, entry: &FrameEntry, around: impl Fn() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        let start = entry.record_offset.min(self.len());
        let mut length = plain_record_bytes(entry).min(2 * limits::MAX_RECORD_BYTES);
        loop {
            let end = start.saturating_add(length).min(self.len());
            self.copy(start..end, &mut || around(), buffer).map_err(|e| e.section("record"))?;
            match recordio::read(buffer, 0) {
                Err(e)
                    if e.rule() == Some("record-bounds")
                        && end < self.len()
                        && length < 2 * limits::MAX_RECORD_BYTES =>
                {
                    length *= 2;
                }
                _ => return Ok(()),
            }
        }
    }
}

/// Reads a range of a file and proves it. Bytes of a remote file that prove wrong are fetched once more, because they may
/// have been damaged on the way, or in the cache on disk.
pub(crate) fn proven<T>(file: &dyn ReadAt, range: &Range<u64>, mut read: impl FnMut() -> Result<T>) -> Result<T> {
    match read() {
        Err(e) if e.kind() == ErrorKind::Format && file.forget(range) => {
            read().map_err(|e| e.help("it was fetched twice, and was wrong both times: the object is damaged"))
        }
        done => done,
    }
}

/// Like [`proven`], for parts of a file that stay in memory ([`ReadAt::slice`]).
pub(crate) fn proven_slices<T>(file: &dyn ReadAt, read: impl Fn() -> Result<T>) -> Result<T> {
    loop {
        let seen = file.generation();
        match read() {
            Err(e) if matches!(e.kind(), ErrorKind::Format | ErrorKind::Limit) && file.forget_slices(seen) => {}
            done => return done,
        }
    }
}

/// Checks that a file is the one that an index names. `edges` computes the CRC-32 of its ends. The errors are those about its
/// length and its ends.
pub(crate) fn prove_binding(
    file: &dyn ReadAt,
    binding: &DataBinding,
    edges: impl Fn() -> Result<u32>,
    [of_length, of_edges]: [fn() -> Error; 2],
) -> Result<()> {
    let help = "the file was truncated or replaced, or the index belongs to another one";
    if file.len() != binding.length {
        return Err(of_length().bytes(binding.length, file.len()).help(help));
    }
    proven(file, &(0..file.len()), || match edges()? {
        found if found == binding.edge_crc32 => Ok(()),
        found => Err(of_edges().crc32(binding.edge_crc32, found).help(help)),
    })
}

/// Compares the CRC-32 of a frame's JPEG.
pub(crate) fn prove_jpeg(entry: &FrameEntry, jpeg: &[u8]) -> Result<()> {
    let found = crc32(jpeg);
    if found == entry.jpeg_crc32 {
        return Ok(());
    }
    let e = Error::format("jpeg-crc", "the JPEG's CRC-32 does not match the index").section("record");
    Err(e.at(entry.record_offset).crc32(entry.jpeg_crc32, found))
}

/// The record that [`load`](<dyn ReadAt>::load) has read, and its end in the file.
pub(crate) fn loaded<'a>(entry: &FrameEntry, buffer: &'a [u8]) -> Result<recordio::Record<'a>> {
    let record = recordio::read(buffer, 0).map_err(|e| e.at(entry.record_offset))?;
    Ok(recordio::Record { end: record.end.saturating_add(entry.record_offset), ..record })
}

/// The size of a frame's record if it has one part and no label vector, as vidrec writes it.
pub(crate) fn plain_record_bytes(entry: &FrameEntry) -> u64 {
    let data = recordio::HEADER_BYTES as u64 + u64::from(entry.jpeg_length);
    recordio::PART_HEAD_BYTES as u64 + data.next_multiple_of(4)
}

/// The range of a frame's record, if it is as vidrec writes it.
pub(crate) fn record_range(entry: &FrameEntry) -> Range<u64> {
    entry.record_offset..entry.record_offset.saturating_add(plain_record_bytes(entry))
}

/// The longest gap within a clip that is read rather than skipped. One more request would cost more than these bytes.
const GAP_BYTES: u64 = 32 << 10;
/// The part of the needed bytes that all gaps of a clip together may add.
const GAPS: u64 = 4;
/// The longest range, unless one record is longer.
const MOST_BYTES: u64 = 4 << 20;

/// The ranges that contain `records` of a clip, which are in any order and may repeat. They have the shortest gaps.
pub(super) fn request_ranges(mut records: Vec<Range<u64>>) -> Vec<Range<u64>> {
    records.sort_unstable_by_key(|record| (record.start, record.end));
    records.dedup();
    let gap = |i: usize| records[i].start.saturating_sub(records[i - 1].end);
    let mut gaps = Vec::with_capacity(records.len());
    gaps.extend((1..records.len()).filter(|&i| gap(i) <= GAP_BYTES));
    gaps.sort_unstable_by_key(|&i| (gap(i), i));
    let mut left = records.iter().map(|record| record.end - record.start).sum::<u64>() / GAPS;
    let mut is_read = vec![false; records.len()];
    for i in gaps {
        let Some(after) = left.checked_sub(gap(i)) else { break };
        (left, is_read[i]) = (after, true);
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (record, is_read) in records.into_iter().zip(is_read) {
        match ranges.last_mut() {
            Some(range) if is_read && record.end - range.start <= MOST_BYTES => range.end = range.end.max(record.end),
            _ => ranges.push(record),
        }
    }
    ranges
}

/// The SHA-256 of a record file, computed while its records are read in order. Each byte is read from the disk once,
/// because recently read bytes are still in memory.
#[derive(Debug, Default)]
pub(crate) struct RecordsDigest {
    digest: Sha256,
    /// Bytes of the file that are in the digest.
    at: u64,
    buffer: Vec<u8>,
}

impl RecordsDigest {
    /// Adds bytes of the file to the digest, at least up to `end`. It calls `go_on` at intervals, and stops if
    /// `go_on` returns an error.
    pub fn advance(
        &mut self,
        records: &(dyn ReadAt + 'static),
        end: u64,
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let step = if records.remote().is_some() { REMOTE_STEP_BYTES } else { STEP_BYTES };
        while self.at < end.min(records.len()) {
            let end = self.at.saturating_add(step).min(records.len());
            match records.bytes() {
                Some(bytes) => self.digest.update(&bytes[self.at as usize..end as usize]),
                None => {
                    records.read(self.at..end, &mut self.buffer)?;
                    self.digest.update(&self.buffer);
                }
            }
            self.at = end;
            go_on()?;
        }
        Ok(())
    }

    /// Returns the SHA-256 of the file. The rest of the file is read now. If the digest is not as `expected`, a remote file is
    /// fetched once more, because its bytes may have been damaged on the way.
    pub fn finish(
        mut self,
        records: &(dyn ReadAt + 'static),
        expected: [u8; 32],
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<[u8; 32]> {
        self.advance(records, records.len(), go_on)?;
        let found: [u8; 32] = self.digest.finalize().into();
        if found == expected || !records.forget(&(0..records.len())) {
            return Ok(found);
        }
        let mut again = RecordsDigest::default();
        again.advance(records, records.len(), go_on)?;
        Ok(again.digest.finalize().into())
    }
}

/// The bytes that a digest reads at a time. They are few enough to stay in the processor's cache until their records
/// are read. For a remote file, they fill one request.
const STEP_BYTES: u64 = 1 << 20;
const REMOTE_STEP_BYTES: u64 = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Io;
    use crate::dataset::source::Source;
    use proptest::prelude::*;

    fn open(path: &std::path::Path, io: Io) -> Box<dyn ReadAt> {
        Source::Local(io).open(path).unwrap()
    }

    fn read<'a>(file: &'a dyn ReadAt, entry: &FrameEntry, buffer: &'a mut Vec<u8>) -> Result<recordio::Record<'a>> {
        match file.bytes() {
            Some(bytes) => recordio::read(bytes, entry.record_offset),
            None => file.load(entry, || 0..0, buffer).and_then(|()| loaded(entry, buffer)),
        }
    }

    fn entry(record_offset: u64, jpeg_length: u32) -> FrameEntry {
        FrameEntry { record_offset, pts: 0, jpeg_length, jpeg_crc32: 0, source_index: 0 }
    }

    #[test]
    fn records_of_any_shape_are_the_same_mapped_and_read() {
        let magic = recordio::MAGIC.to_le_bytes();
        let payloads =
            [vec![1; 50], [vec![2; 24], magic.repeat(30), vec![3; 7]].concat(), vec![4; 24], magic.repeat(200)];
        let (mut file, mut offsets) = (vec![], vec![]);
        for payload in &payloads {
            offsets.push(file.len() as u64);
            recordio::append(&[], payload, &mut file).unwrap();
        }
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), &file).unwrap();
        let modes = [Io::Map, Io::Read].map(|io| open(path.path(), io));
        let mut buffer = Vec::new();
        for (payload, &offset) in payloads.iter().zip(&offsets) {
            for records in &modes {
                // The read succeeds even if the length in the index is too small.
                for length in [0, payload.len().saturating_sub(24) as u32] {
                    assert_eq!(&read(&**records, &entry(offset, length), &mut buffer).unwrap().payload[..], payload);
                }
                assert_eq!(records.len(), file.len() as u64);
                assert_eq!(records.edge_crc32().unwrap(), data_binding::edge_crc32(&file));
            }
        }
        for records in &modes {
            let e = read(&**records, &entry(2, 26), &mut buffer).map(drop).unwrap_err();
            assert_eq!((e.rule(), e.offset()), (Some("record-magic"), Some(2)), "{e}");
            let e = read(&**records, &entry(u64::MAX, 26), &mut buffer).map(drop).unwrap_err();
            assert_eq!(e.rule(), Some("record-bounds"), "{e}");
        }
    }

    #[test]
    fn small_gaps_are_read_and_large_ones_skipped() {
        let records: Vec<_> = (0..8u64).map(|t| t * 100_000..(t + 1) * 100_000).collect();
        let some = |ts: &[usize]| request_ranges(ts.iter().map(|&t| records[t].clone()).collect());
        assert_eq!(some(&[7, 0, 1, 3, 5, 5]), [0..200_000, 300_000..400_000, 500_000..600_000, 700_000..800_000]);
        assert_eq!(some(&[6, 0, 1]), [0..200_000, 600_000..700_000]);
        assert_eq!(request_ranges(vec![0..60_000, 80_000..90_000, 97_000..100_000]), [0..60_000, 80_000..100_000]);
        assert!(request_ranges(vec![]).is_empty());
        let large: Vec<_> = (0..9u64).map(|t| t << 20..(t + 1) << 20).collect();
        assert_eq!(request_ranges(large), [0..4 << 20, 4 << 20..8 << 20, 8 << 20..9 << 20]);
    }

    proptest! {
        #[test]
        fn each_record_is_in_a_range_and_no_more_than_the_clip_is_read(
            lengths in prop::collection::vec(1u64..100_000, 1..20), chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        ) {
            let mut at = 7;
            let all: Vec<_> = lengths.iter().map(|&n| { at += n; at - n..at }).collect();
            let clip: u64 = lengths.iter().sum();
            let wanted: Vec<_> = chosen.iter().map(|i| all[i.index(all.len())].clone()).collect();
            let found = request_ranges(wanted.clone());
            prop_assert!(wanted.iter().all(|w| found.iter().any(|f| f.start <= w.start && f.end >= w.end)));
            prop_assert!(found.windows(2).all(|two| two[0].end <= two[1].start));
            prop_assert!(found.iter().map(|f| f.end - f.start).sum::<u64>() <= clip);
        }
    }
}

//! Access to the bytes of a data set: through a map, or by positional reads.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::index::Bytes;
use vidrec_format::data_binding;
use vidrec_format::data_binding::EDGE_BYTES;
use vidrec_format::error::{Error, Result};
use vidrec_format::frame_entry::FrameEntry;
use vidrec_format::limits;
use vidrec_format::words::words;
use vidrec_format::{record_header, recordio};
use vidrec_store::disk::advice::Advice;
use vidrec_store::disk::map::MappedFile;
use vidrec_store::disk::open_files::{FILES, MAPS};
use vidrec_store::disk::positional::PositionalFile;
use vidrec_store::disk::regular_file::{Links, read_regular};
use vidrec_store::remote::RemoteFile;

/// How a data set's files are read.
///
/// In text (`FromStr`, `Display`, serde): `map`, `read` or `read-uncached`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Io {
    /// Map the files: no copies, and opening takes the same time for files of any size. This is the default. If the
    /// system allows no more maps (with tens of thousands of shards, or a limit on memory), vidrec reads the files as
    /// with [`Io::Read`]. It always reads indexes of up to 64 KiB.
    ///
    /// If a file is truncated while it is open, or its disk or network fails, reads of the lost clips return errors
    /// on Linux. On other systems, or if the environment variable `VIDREC_NO_SIGBUS_HANDLER` is set, the system ends
    /// the process with `SIGBUS`.
    #[default]
    Map,
    /// Read the record files with positional reads, for network file systems and for systems without such a handler.
    /// Half of the files that the process may have open stay open. The others are opened for each read.
    ///
    /// Opening a data set reads the indexes into memory: 32 bytes per frame, 80 bytes per clip, and the strings.
    Read,
    /// Like [`Io::Read`], for data sets larger than memory, which would push everything else out of the page cache. A
    /// loader releases the pages of each batch after decoding it. This has an effect only if the system accepts such
    /// advice (Linux).
    ReadUncached,
}

words!(Io, "io", { "map" => Map, "read" => Read, "read-uncached" => ReadUncached });

/// An index of up to this size is read into memory, because a map would take as much memory in the system.
const SMALL_INDEX_BYTES: u64 = 64 << 10;

/// The bytes of an index file.
#[derive(Debug)]
pub enum IndexBytes {
    Mapped(MappedFile),
    Read(Vec<u8>),
    Remote(Arc<RemoteFile>),
}

impl IndexBytes {
    pub fn open(path: &Path, io: Io) -> Result<Self> {
        let length = std::fs::metadata(path).map_err(|e| Error::io("open the file", path, e))?.len();
        if io == Io::Map
            && length > SMALL_INDEX_BYTES
            && let Some(map) = map(path)?
        {
            return Ok(IndexBytes::Mapped(map));
        }
        read_regular(path, u64::MAX, Links::Follow).map(IndexBytes::Read)
    }

    /// Pages that could not be read so far.
    pub fn lost(&self) -> u64 {
        if let IndexBytes::Mapped(map) = self { map.lost() } else { 0 }
    }

    /// Fetches parts of a remote index, several requests at a time, so that [`Bytes::part`] finds them. Local parts
    /// need no fetch.
    pub fn prefetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        match self {
            IndexBytes::Remote(file) => file.fetch_tables(ranges),
            _ => {
                let _ = ranges;
                Ok(())
            }
        }
    }

    /// Whether a part of the index will be read from this machine's disks.
    pub fn is_kept(&self, part: &Range<u64>) -> bool {
        match self {
            IndexBytes::Remote(file) => file.is_table_kept(part),
            _ => true,
        }
    }

    /// How often the bytes that were read of a remote index were discarded.
    pub fn generation(&self) -> usize {
        match self {
            IndexBytes::Remote(file) => file.generation(),
            _ => 0,
        }
    }

    /// Discards the bytes of a remote index that were read in generation `seen`, because some of them proved wrong.
    /// They are fetched once more. Returns whether that was possible.
    pub fn forget(&self, seen: usize) -> bool {
        let _ = seen;
        match self {
            IndexBytes::Remote(file) => file.forget_tables(seen),
            _ => false,
        }
    }
}

impl Bytes for IndexBytes {
    fn length(&self) -> u64 {
        match self {
            IndexBytes::Mapped(map) => map.length(),
            IndexBytes::Read(bytes) => bytes.length(),
            IndexBytes::Remote(file) => file.len(),
        }
    }

    fn part(&self, range: Range<u64>) -> Result<Option<&[u8]>> {
        match self {
            IndexBytes::Mapped(map) => map.part(range),
            IndexBytes::Read(bytes) => bytes.part(range),
            IndexBytes::Remote(file) if range.start <= range.end && range.end <= file.len() => {
                file.table(range).map(Some)
            }
            IndexBytes::Remote(_) => Ok(None),
        }
    }
}

/// Maps a file; `None` if the system allows no more maps.
fn map(path: &Path) -> Result<Option<MappedFile>> {
    match MappedFile::open_within(path, &MAPS) {
        Err(e) if e.is_out_of_memory() => Ok(None),
        opened => opened,
    }
}

/// A record file.
#[derive(Debug)]
pub enum Records {
    Mapped(MappedFile),
    Read(PositionalFile),
    Remote(Arc<RemoteFile>),
}

impl Records {
    pub fn open(path: &Path, io: Io) -> Result<Self> {
        if io == Io::Map
            && let Some(map) = map(path)?
        {
            return Ok(Records::Mapped(map));
        }
        PositionalFile::open(path, io == Io::ReadUncached, &FILES).map(Records::Read)
    }

    /// Length of the file when it was opened.
    pub fn len(&self) -> u64 {
        match self {
            Records::Mapped(map) => map.len() as u64,
            Records::Read(file) => file.len(),
            Records::Remote(file) => file.len(),
        }
    }

    /// The remote file.
    pub fn remote(&self) -> Option<&Arc<RemoteFile>> {
        if let Records::Remote(file) = self { Some(file) } else { None }
    }

    /// Whether the file is remote.
    pub fn is_remote(&self) -> bool {
        match self {
            Records::Remote(_) => true,
            _ => false,
        }
    }

    /// Pages that could not be read so far.
    pub fn lost(&self) -> u64 {
        if let Records::Mapped(map) = self { map.lost() } else { 0 }
    }

    /// The CRC-32 of the file's two ends.
    pub fn edge_crc32(&self) -> Result<u32> {
        match self {
            Records::Mapped(map) => Ok(data_binding::edge_crc32(map)),
            _ => {
                let n = self.len().min(EDGE_BYTES as u64);
                let (mut head, mut tail) = (Vec::new(), Vec::new());
                self.read(0..n, &mut head)?;
                self.read(self.len() - n..self.len(), &mut tail)?;
                Ok(data_binding::edges_crc32(&head, &tail))
            }
        }
    }

    /// Replaces the contents of `buffer` with a range of the file.
    pub fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        self.read_around(range.clone(), || range, buffer)
    }

    /// Like [`read`](Self::read). `around` returns the range that will be read next, which the same request may
    /// fetch.
    fn read_around(&self, range: Range<u64>, around: impl FnOnce() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        let _ = &around;
        match self {
            Records::Mapped(map) => {
                let bytes = map.part(range)?.ok_or_else(|| Error::internal("a range outside of a map"))?;
                buffer.clear();
                buffer.extend_from_slice(bytes);
                Ok(())
            }
            Records::Read(file) => file.read(range, buffer),
            Records::Remote(file) => file.read(range, around, buffer),
        }
    }

    /// Returns the record that `entry` points to, and its end in the file. `buffer` is used if the file is not
    /// mapped.
    pub fn record<'a>(&'a self, entry: &FrameEntry, buffer: &'a mut Vec<u8>) -> Result<recordio::Record<'a>> {
        if let Records::Mapped(map) = self {
            return recordio::read(map, entry.record_offset);
        }
        self.load(entry, || 0..0, buffer)?;
        loaded(entry, buffer)
    }

    /// Gives advice on a range of the file.
    pub fn advise(&self, range: Range<u64>, advice: Advice) {
        match (self, advice) {
            (Records::Mapped(map), _) => map.advise(range, advice),
            // Linux keeps a page if only part of it is in the range.
            (Records::Read(file), Advice::Done) => {
                let pages = range.start / PAGE_BYTES * PAGE_BYTES..range.end.saturating_add(PAGE_BYTES);
                file.advise(pages, advice);
            }
            (Records::Read(file), _) => file.advise(range, advice),
            // The code that plans the requests asks for what will be read.
            (Records::Remote(_), _) => {}
        }
    }

    /// Forgets bytes of a remote file that proved wrong, so that the next read fetches them. Returns whether that was
    /// possible.
    pub fn forget(&self, range: &Range<u64>) -> bool {
        match self {
            Records::Remote(file) => file.forget(range),
            _ => {
                let _ = range;
                false
            }
        }
    }

    /// How often the tables of a remote file were discarded.
    pub fn generation(&self) -> usize {
        match self {
            Records::Remote(file) => file.generation(),
            _ => 0,
        }
    }

    /// Discards the tables of a remote file that were read in generation `seen`, because some of their bytes proved
    /// wrong. Returns whether that was possible.
    pub fn forget_tables(&self, seen: usize) -> bool {
        let _ = seen;
        match self {
            Records::Remote(file) => file.forget_tables(seen),
            _ => false,
        }
    }

    /// Reads the record that `entry` points to into `buffer`, for [`loaded`]. It reads the likely length first, and
    /// doubles it while the record is longer. `around` returns a range of the file that contains this record and what
    /// will be read next.
    pub fn load(&self, entry: &FrameEntry, around: impl Fn() -> Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
        let start = entry.record_offset.min(self.len());
        let mut wanted = plain_record_bytes(entry).min(2 * limits::MAX_RECORD_BYTES);
        loop {
            let end = start.saturating_add(wanted).min(self.len());
            self.read_around(start..end, &around, buffer).map_err(|e| e.section("record"))?;
            match recordio::read(buffer, 0) {
                Err(e)
                    if e.rule() == Some("record-bounds")
                        && end < self.len()
                        && wanted < 2 * limits::MAX_RECORD_BYTES =>
                {
                    wanted *= 2;
                }
                _ => return Ok(()),
            }
        }
    }
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
    pub fn advance(&mut self, records: &Records, end: u64, go_on: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let stretch = if records.is_remote() { REMOTE_STRETCH } else { STRETCH };
        while self.at < end.min(records.len()) {
            let end = self.at.saturating_add(stretch).min(records.len());
            match records {
                Records::Mapped(map) => self.digest.update(&map[self.at as usize..end as usize]),
                _ => {
                    records.read(self.at..end, &mut self.buffer)?;
                    self.digest.update(&self.buffer);
                }
            }
            self.at = end;
            go_on()?;
        }
        Ok(())
    }

    /// Returns the SHA-256 of the whole file. The rest of the file is read now.
    pub fn finish(mut self, records: &Records, go_on: &mut dyn FnMut() -> Result<()>) -> Result<[u8; 32]> {
        self.advance(records, records.len(), go_on)?;
        Ok(self.digest.finalize().into())
    }
}

/// The bytes that a digest reads at a time. They are few enough to stay in the processor's cache until their records
/// are read. For a remote file, they fill one request.
const STRETCH: u64 = 1 << 20;
const REMOTE_STRETCH: u64 = 8 << 20;

/// The record that [`Records::load`] has read, and its end in the file.
pub(crate) fn loaded<'a>(entry: &FrameEntry, buffer: &'a [u8]) -> Result<recordio::Record<'a>> {
    let record = recordio::read(buffer, 0).map_err(|e| e.at(entry.record_offset))?;
    Ok(recordio::Record { end: record.end.saturating_add(entry.record_offset), ..record })
}

/// The size of a page of the page cache on most systems. If pages are larger, less is released.
const PAGE_BYTES: u64 = 4096;

/// The size of a frame's record if it has one part and no label vector, as vidrec writes it.
pub(crate) fn plain_record_bytes(entry: &FrameEntry) -> u64 {
    let data = record_header::BYTES as u64 + u64::from(entry.jpeg_length);
    recordio::PART_HEAD_BYTES as u64 + data.next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let modes = [Io::Map, Io::Read, Io::ReadUncached].map(|io| Records::open(path.path(), io).unwrap());
        let mut buffer = Vec::new();
        for (payload, &offset) in payloads.iter().zip(&offsets) {
            for records in &modes {
                // The read succeeds even if the length in the index is too small.
                for length in [0, payload.len().saturating_sub(24) as u32] {
                    assert_eq!(&records.record(&entry(offset, length), &mut buffer).unwrap().payload[..], payload);
                }
                assert_eq!(records.len(), file.len() as u64);
                assert_eq!(records.edge_crc32().unwrap(), data_binding::edge_crc32(&file));
            }
        }
        for records in &modes {
            let e = records.record(&entry(2, 26), &mut buffer).map(drop).unwrap_err();
            assert_eq!((e.rule(), e.offset()), (Some("record-magic"), Some(2)), "{e}");
            let e = records.record(&entry(u64::MAX, 26), &mut buffer).map(drop).unwrap_err();
            assert_eq!(e.rule(), Some("record-bounds"), "{e}");
        }
    }

    #[test]
    fn a_file_that_was_cut_after_it_was_opened_is_an_error() {
        let mut file = Vec::new();
        recordio::append(&[], &[9; 100], &mut file).unwrap();
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), &file).unwrap();
        let records = Records::open(path.path(), Io::Read).unwrap();
        path.as_file().set_len(60).unwrap();
        let e = records.record(&entry(0, 76), &mut Vec::new()).map(drop).unwrap_err();
        assert!(e.to_string().contains("expected 108 bytes, found 60 bytes"), "{e}");
    }
}

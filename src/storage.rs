//! How the bytes of a data set are reached: through a map, or by positional reads.

use std::fs::File;
use std::ops::{Deref, Range};
use std::path::Path;

use crate::advice::{Advice, advise};
use crate::format::data_binding::{self, EDGE_BYTES};
use crate::format::frame_entry::FrameEntry;
use crate::format::{record_header, recordio};
use crate::map::MappedFile;
use crate::{Error, Result, limits};

/// How a data set's files are read.
///
/// As a word (serde): `map`, `read` or `read-uncached`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Io {
    /// Files are mapped: no copies, and opening costs the same whatever their size. The default.
    ///
    /// A file that somebody cuts while it is open, or a network file system that fails, ends the process with `SIGBUS`.
    #[default]
    Map,
    /// Record files are read in place by positional reads, for network file systems and files that may be cut while
    /// they are open: that is an error here, not a signal.
    ///
    /// Indexes are read into memory when the data set is opened: 32 bytes a frame and 80 a clip, and its strings.
    Read,
    /// As [`Io::Read`], for data sets larger than memory that would drive everything else out of the page cache: a
    /// loader gives the pages of each batch back once it was decoded. Only where the system takes such advice (Linux).
    ReadUncached,
}

/// The bytes of an index file.
#[derive(Debug)]
pub(crate) enum IndexBytes {
    Mapped(MappedFile),
    Read(Vec<u8>),
}

impl IndexBytes {
    pub fn open(path: &Path, io: Io) -> Result<Self> {
        match io {
            Io::Map => MappedFile::open(path).map(IndexBytes::Mapped),
            Io::Read | Io::ReadUncached => {
                std::fs::read(path).map(IndexBytes::Read).map_err(|e| Error::io("read the file", path, e))
            }
        }
    }
}

impl Deref for IndexBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            IndexBytes::Mapped(map) => map,
            IndexBytes::Read(bytes) => bytes,
        }
    }
}

/// A record file.
#[derive(Debug)]
pub(crate) enum Records {
    Mapped(MappedFile),
    Read { file: File, length: u64 },
}

impl Records {
    pub fn open(path: &Path, io: Io) -> Result<Self> {
        if io == Io::Map {
            return MappedFile::open(path).map(Records::Mapped);
        }
        let file = File::open(path).map_err(|e| Error::io("open the file", path, e))?;
        let meta = file.metadata().map_err(|e| Error::io("read the file's size", path, e))?;
        if !meta.is_file() {
            return Err(Error::usage("not a regular file").file(path));
        }
        if io == Io::ReadUncached {
            advise(&file, 0..0, Advice::Random);
        }
        Ok(Records::Read { file, length: meta.len() })
    }

    /// Length of the file when it was opened.
    pub fn len(&self) -> u64 {
        match self {
            Records::Mapped(map) => map.len() as u64,
            Records::Read { length, .. } => *length,
        }
    }

    /// The whole file, if it is mapped; otherwise empty.
    pub fn mapped(&self) -> &[u8] {
        if let Records::Mapped(map) = self { map } else { &[] }
    }

    /// The CRC-32 of the file's two ends.
    pub fn edge_crc32(&self) -> Result<u32> {
        match self {
            Records::Mapped(map) => Ok(data_binding::edge_crc32(map)),
            Records::Read { file, length } => {
                let n = (*length).min(EDGE_BYTES as u64);
                let (mut head, mut tail) = (Vec::new(), Vec::new());
                read_at(file, 0..n, &mut head)?;
                read_at(file, length - n..*length, &mut tail)?;
                Ok(data_binding::edges_crc32(&head, &tail))
            }
        }
    }

    /// The record that `entry` points at. `buffer` is used where the file is not mapped.
    pub fn record<'a>(&'a self, entry: &FrameEntry, buffer: &'a mut Vec<u8>) -> Result<recordio::Record<'a>> {
        match self {
            Records::Mapped(map) => recordio::read(map, entry.record_offset),
            Records::Read { file, length } => {
                read_record(file, *length, entry, buffer)?;
                recordio::read(buffer, 0).map_err(|e| e.at(entry.record_offset))
            }
        }
    }

    /// Gives advice on a stretch of the file.
    pub fn advise(&self, range: Range<u64>, advice: Advice) {
        match (self, advice) {
            (Records::Mapped(map), _) => map.advise(range, advice),
            // Linux keeps a page of which only a part is done with.
            (Records::Read { file, .. }, Advice::Done) => {
                let pages = range.start / PAGE_BYTES * PAGE_BYTES..range.end.saturating_add(PAGE_BYTES);
                advise(file, pages, advice);
            }
            (Records::Read { file, .. }, _) => _ = advise(file, range, advice),
        }
    }
}

/// Of the page cache, on most systems; where pages are larger, less is given back.
const PAGE_BYTES: u64 = 4096;

/// Bytes that the record of a frame takes if it is one part without a label vector, as vidrec writes it.
pub(crate) fn plain_record_bytes(entry: &FrameEntry) -> u64 {
    let data = record_header::BYTES as u64 + u64::from(entry.jpeg_length);
    recordio::PART_HEAD_BYTES as u64 + data.next_multiple_of(4)
}

/// Reads a record into `buffer`: its likely length first, and twice that as long as it proves to be longer.
fn read_record(file: &File, length: u64, entry: &FrameEntry, buffer: &mut Vec<u8>) -> Result<()> {
    let start = entry.record_offset.min(length);
    let mut wanted = plain_record_bytes(entry).min(2 * limits::MAX_RECORD_BYTES);
    loop {
        let end = start.saturating_add(wanted).min(length);
        read_at(file, start..end, buffer).map_err(|e| e.section("record"))?;
        match recordio::read(buffer, 0) {
            Err(e) if e.rule() == Some("record-bounds") && end < length && wanted < 2 * limits::MAX_RECORD_BYTES => {
                wanted *= 2;
            }
            _ => return Ok(()),
        }
    }
}

/// Replaces the contents of `buffer` by a stretch of the file.
fn read_at(file: &File, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<()> {
    let wanted = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    buffer.resize(wanted, 0);
    let mut done = 0;
    while done < wanted {
        match read_some(file, &mut buffer[done..], range.start + done as u64) {
            Ok(0) => {
                return Err(Error::format("record-bounds", "the file ends early: it was cut after it was opened")
                    .at(range.start)
                    .expected(format!("{wanted} bytes"))
                    .found(format!("{done} bytes")));
            }
            Ok(n) => done += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io("read from the file", "", e).at(range.start)),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_some(file: &File, buffer: &mut [u8], at: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_some(file: &File, buffer: &mut [u8], at: u64) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
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
                // Also where the index's idea of the length is too small.
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

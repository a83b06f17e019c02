//! Checks the checksums of Matroska and WebM files, which FFmpeg does not do.
//!
//! An element may start with a CRC-32 of its remaining data (RFC 8794, 11.3.1; RFC 9559, 6.2). FFmpeg's muxer
//! writes one in each child of the segment. This module checks the elements that affect pictures and times. An
//! edited cue or tag does no harm.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::time::Instant;

use super::source::VideoFile;
use crate::video::error::{Stage, VideoError, timeout};
use vidrec_format::error::Error;

const SEGMENT: u32 = 0x1853_8067;
const CRC32: u32 = 0xbf;
/// The checked children of a segment.
const CHECKED: [(u32, &str); 3] = [(0x1549_a966, "Info"), (0x1654_ae6b, "Tracks"), (CLUSTER, "Cluster")];
const CLUSTER: u32 = 0x1f43_b675;

/// The number of bytes that are read at a time.
const READ_BYTES: usize = 128 << 10;

/// The result of checking a file's checksums.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Checksums {
    /// Whether the file has all of the segment, by the length that the segment gives.
    pub whole: bool,
    /// The number of elements whose checksum does not match.
    pub failed: u64,
    /// The first such element and its position.
    pub first: Option<String>,
}

/// Checks the checksums in a file, if its container is Matroska. Checks nothing in other containers.
///
/// Truncated or nonsensical data ends the check, because FFmpeg judges such data.
///
/// # Errors
///
/// The file cannot be read, or the deadline has passed.
pub(crate) fn check(file: &VideoFile, container: &str, deadline: Instant) -> Result<Checksums, VideoError> {
    if !container.split(',').any(|name| name == "matroska") {
        return Ok(Checksums::default());
    }
    let source = file.open()?;
    let (end, failure) = (source.bytes, source.failure.clone());
    let mut reader = ElementReader { inner: BufReader::with_capacity(READ_BYTES, source), at: 0, end, deadline };
    let checked = reader.check();
    failure.check(Stage::Decode)?;
    checked.map_err(|e| match e {
        CheckStop::Io(e) => VideoError::new(Stage::Decode, Error::io("read the video", file.path(), e)),
        CheckStop::Late => timeout("reading"),
    })
}

enum CheckStop {
    Io(io::Error),
    Late,
}

impl From<io::Error> for CheckStop {
    fn from(e: io::Error) -> Self {
        CheckStop::Io(e)
    }
}

/// An element: its id, and where its data lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Element {
    id: u32,
    start: u64,
    /// The end of its data; `None` if its size is unknown. Such an element ends before the first element that
    /// cannot be part of it.
    end: Option<u64>,
}

struct ElementReader<R> {
    inner: R,
    at: u64,
    end: u64,
    deadline: Instant,
}

impl<R: Read + Seek> ElementReader<R> {
    fn check(&mut self) -> Result<Checksums, CheckStop> {
        let mut found = Checksums::default();
        while let Some(element) = self.element(self.end)? {
            self.look_at_the_clock()?;
            // Enters the segment, and skips all other elements.
            if element.id == SEGMENT {
                found.whole = element.end.is_some_and(|end| end <= self.end);
                continue;
            }
            let Some(end) = element.end else { break };
            if let Some((_, name)) = CHECKED.iter().find(|(id, _)| *id == element.id)
                && let Some((stored, computed)) = self.checksum(end)?
                && stored != computed
            {
                found.failed += 1;
                let at = element.start;
                found.first.get_or_insert_with(|| {
                    format!("{name} at byte {at}: its CRC-32 says {stored:08x}, its data give {computed:08x}")
                });
            }
            self.seek(end)?;
        }
        Ok(found)
    }

    /// Returns the checksum at the start of an element, if it has one, and the checksum of the rest of the
    /// element.
    fn checksum(&mut self, end: u64) -> Result<Option<(u32, u32)>, CheckStop> {
        match self.element(end)? {
            Some(crc) if crc.id == CRC32 && crc.end == crc.start.checked_add(4) => {}
            _ => return Ok(None),
        }
        let mut stored = [0; 4];
        self.inner.read_exact(&mut stored)?;
        self.at += 4;
        let mut hasher = crc32fast::Hasher::new();
        let mut buffer = [0; 16 << 10];
        while self.at < end {
            self.look_at_the_clock()?;
            let length = usize::try_from(end - self.at).unwrap_or(usize::MAX).min(buffer.len());
            self.inner.read_exact(&mut buffer[..length])?;
            hasher.update(&buffer[..length]);
            self.at += length as u64;
        }
        Ok(Some((u32::from_le_bytes(stored), hasher.finalize())))
    }

    /// Returns the header of the next element that ends at or before `end`.
    fn element(&mut self, end: u64) -> io::Result<Option<Element>> {
        let Some(id) = self.number(end, false)?.and_then(|(id, _)| u32::try_from(id).ok()) else { return Ok(None) };
        let Some((size, bytes)) = self.number(end, true)? else { return Ok(None) };
        let is_unknown = size == (1 << (7 * bytes)) - 1;
        let last = if is_unknown { None } else { Some(self.at.saturating_add(size)) };
        let element = Element { id, start: self.at, end: last };
        Ok((is_unknown || id == SEGMENT || last.is_some_and(|last| last <= end)).then_some(element))
    }

    /// Reads a number of 1 to 8 bytes; returns it with its length. The position of the first 1 bit is the length
    /// (RFC 8794, 4). That bit is part of an id, but not of a size.
    fn number(&mut self, end: u64, drop_marker: bool) -> io::Result<Option<(u64, u32)>> {
        let mut bytes = [0; 8];
        if self.at >= end {
            return Ok(None);
        }
        self.inner.read_exact(&mut bytes[..1])?;
        let length = bytes[0].leading_zeros() + 1;
        if length > 8 || self.at + u64::from(length) > end {
            return Ok(None);
        }
        self.inner.read_exact(&mut bytes[1..length as usize])?;
        self.at += u64::from(length);
        let value = bytes[..length as usize].iter().fold(0, |n, &b| n << 8 | u64::from(b));
        let marker = if drop_marker { 1 << (7 * length) } else { 0 };
        Ok(Some((value - marker, length)))
    }

    fn look_at_the_clock(&self) -> Result<(), CheckStop> {
        if Instant::now() >= self.deadline { Err(CheckStop::Late) } else { Ok(()) }
    }

    fn seek(&mut self, to: u64) -> io::Result<()> {
        if to != self.at {
            self.inner.seek(SeekFrom::Start(to))?;
            self.at = to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::time::Duration;

    use super::*;

    fn element(id: &[u8], data: &[u8]) -> Vec<u8> {
        [id, &[0x40 | (data.len() >> 8) as u8, data.len() as u8], data].concat()
    }

    fn with_crc(id: &[u8], data: &[u8]) -> Vec<u8> {
        let crc = crc32fast::hash(data).to_le_bytes();
        element(id, &[&[0xbf, 0x84][..], &crc, data].concat())
    }

    const CLUSTER: [u8; 4] = super::CLUSTER.to_be_bytes();

    /// Makes a file: a header and a segment of unknown size.
    fn file(children: &[Vec<u8>]) -> Vec<u8> {
        let header = element(&[0x1a, 0x45, 0xdf, 0xa3], b"webm");
        [&header[..], &[0x18, 0x53, 0x80, 0x67, 0x01], &[0xff; 7], &children.concat()].concat()
    }

    fn failed(bytes: &[u8]) -> u64 {
        let deadline = Instant::now() + Duration::from_secs(100);
        match (ElementReader { inner: Cursor::new(bytes), at: 0, end: bytes.len() as u64, deadline }).check() {
            Ok(found) => found.failed,
            Err(_) => panic!("reading memory fails"),
        }
    }

    #[test]
    fn nonsense_and_the_end_of_the_file_end_the_search() {
        let whole = file(&[with_crc(&CLUSTER, &[7; 40]), with_crc(&CLUSTER, b"bc")]);
        for cut in 0..whole.len() {
            assert_eq!(failed(&whole[..cut]), 0, "{cut}");
        }
        for at in 0..whole.len() {
            for value in [0, 0x01, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                assert!(failed(&bytes) <= 2);
            }
        }
        let endless = [&file(&[])[..], &CLUSTER, &[0xff, 1, 2, 3]].concat();
        assert_eq!(failed(&endless), 0);
    }
}

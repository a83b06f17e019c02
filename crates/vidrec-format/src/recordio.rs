//! MXNet RecordIO framing: `format-spec/vidrec-v1.md#recordio-framing`.
//!
//! ```text
//! part   := magic u32 | lrec u32 | data | zero bytes up to a multiple of 4
//! lrec   := cflag << 29 | length of data
//! record := part(0)  |  part(1) part(2)* part(3)
//! ```
//!
//! A magic word at a payload offset that is a multiple of 4 is not stored. It ends a part instead, so that a scan for
//! the magic in steps of 4 bytes finds only the heads of parts. Source: dmlc-core, `include/dmlc/recordio.h` and
//! `src/recordio.cc`.

use std::borrow::Cow;

use byteorder::{ByteOrder, LittleEndian as LE};

use crate::error::{Error, Result};
use crate::{allocation, limits};

/// The word at the start of every part: on disk, the bytes `0a 23 d7 ce`.
pub const MAGIC: u32 = 0xced7_230a;

/// Bytes before the data of a part: magic and length word.
pub const PART_HEAD_BYTES: usize = 8;

/// The bits of the length word that hold the length. The 3 bits above them hold the continuation flag.
const LENGTH_MASK: u32 = (1 << 29) - 1;

/// Appends a record with the payload `head` followed by `body` to `out`. It has one part, unless the magic occurs
/// aligned.
///
/// # Errors
///
/// [`Limit`](crate::error::ErrorKind::Limit) if the payload is longer than [`limits::MAX_RECORD_BYTES`];
/// [`Resources`](crate::error::ErrorKind::Resources) if there is no memory for it.
///
/// ```
/// use vidrec::raw::recordio;
/// let mut out = Vec::new();
/// recordio::append(b"abc", b"de", &mut out)?;
/// assert_eq!(out, [0x0a, 0x23, 0xd7, 0xce, 5, 0, 0, 0, b'a', b'b', b'c', b'd', b'e', 0, 0, 0]);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn append(head: &[u8], body: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let length = head.len() + body.len();
    if length as u64 > limits::MAX_RECORD_BYTES {
        return Err(Error::limit("a record's payload is too long")
            .expected(format!("at most {} bytes", limits::MAX_RECORD_BYTES))
            .found(format!("{length} bytes")));
    }
    allocation::reserve(out, PART_HEAD_BYTES + length.next_multiple_of(4), "a record")?;
    let head_at = out.len();
    out.extend_from_slice(&[0; PART_HEAD_BYTES]);
    out.extend_from_slice(head);
    out.extend_from_slice(body);
    let payload_at = head_at + PART_HEAD_BYTES;
    if aligned_magic(&out[payload_at..]).is_some() {
        let payload = out.split_off(payload_at);
        out.truncate(head_at);
        append_parts(&payload, out);
    } else {
        put_part_head(0, length, &mut out[head_at..]);
        pad(out, head_at);
    }
    Ok(())
}

/// Whether a payload must be split into parts, because the magic is at an offset that is a multiple of 4.
///
/// `head_len` is the length of what precedes `body` in the payload, which must itself be free of the magic.
pub fn needs_parts(head_len: usize, body: &[u8]) -> bool {
    let skip = head_len.wrapping_neg() % 4;
    body.get(skip..).is_some_and(|rest| aligned_magic(rest).is_some())
}

/// The offset of the first magic word at a multiple of 4.
fn aligned_magic(payload: &[u8]) -> Option<usize> {
    let magic = MAGIC.to_le_bytes();
    payload.chunks_exact(4).position(|word| word == magic).map(|i| i * 4)
}

fn append_parts(payload: &[u8], out: &mut Vec<u8>) {
    let mut rest = payload;
    let mut flag = 1;
    while let Some(at) = aligned_magic(rest) {
        append_part(flag, &rest[..at], out);
        rest = &rest[at + 4..];
        flag = 2;
    }
    append_part(3, rest, out);
}

fn append_part(flag: u32, data: &[u8], out: &mut Vec<u8>) {
    let head_at = out.len();
    out.extend_from_slice(&[0; PART_HEAD_BYTES]);
    out.extend_from_slice(data);
    put_part_head(flag, data.len(), &mut out[head_at..]);
    pad(out, head_at);
}

fn put_part_head(flag: u32, length: usize, at: &mut [u8]) {
    LE::write_u32(&mut at[0..4], MAGIC);
    LE::write_u32(&mut at[4..8], flag << 29 | length as u32);
}

fn pad(out: &mut Vec<u8>, record_at: usize) {
    let length = (out.len() - record_at).next_multiple_of(4);
    out.resize(record_at + length, 0);
}

/// One part, as stored in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part<'a> {
    flag: u32,
    data: &'a [u8],
    /// Offset of the byte after the padding.
    end: usize,
}

fn part(bytes: &[u8], at: usize) -> Result<Part<'_>> {
    let fault = |rule, what: &str| Error::format(rule, what.to_owned()).section("record").at(at as u64);
    let head = at.checked_add(PART_HEAD_BYTES).and_then(|end| bytes.get(at..end));
    let head = head.ok_or_else(|| {
        fault("record-bounds", "the head of a record does not fit in the file")
            .expected(format!("{PART_HEAD_BYTES} bytes"))
            .found(format!("{} bytes", bytes.len().saturating_sub(at)))
    })?;
    let magic = LE::read_u32(&head[0..4]);
    if magic != MAGIC {
        return Err(fault("record-magic", "no record begins here")
            .expected(format!("magic {MAGIC:#010x}"))
            .found(format!("{magic:#010x}")));
    }
    let word = LE::read_u32(&head[4..8]);
    let (flag, length) = (word >> 29, (word & LENGTH_MASK) as usize);
    let begin = at + PART_HEAD_BYTES;
    let end = begin.checked_add(length).and_then(|end| end.checked_next_multiple_of(4));
    let end = end.filter(|&end| end <= bytes.len()).ok_or_else(|| {
        fault("record-bounds", "a record runs past the end of the file")
            .expected(format!("at most {} bytes", bytes.len() - begin))
            .found(format!("{length} bytes"))
    })?;
    let (data, padding) = bytes[begin..end].split_at(length);
    if padding.iter().any(|&b| b != 0) {
        return Err(fault("record-padding", "the padding after a record is not zero"));
    }
    Ok(Part { flag, data, end })
}

/// A record found in a file: its payload, and the start of the next record. The payload is borrowed if it has only
/// one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// The payload with split magic words put back.
    pub payload: Cow<'a, [u8]>,
    /// Offset of the byte after the record and its padding.
    pub end: u64,
}

/// Reads the record that begins at byte `at` of `file`.
///
/// # Errors
///
/// [`Format`](crate::error::ErrorKind::Format): there is no magic, the length goes past the end of the file, the
/// padding is not zero, or the continuation flags are out of order.
///
/// ```
/// use vidrec::raw::recordio;
/// let mut file = Vec::new();
/// recordio::append(b"abcd", &recordio::MAGIC.to_le_bytes(), &mut file)?; // needs two parts
/// let record = recordio::read(&file, 0)?;
/// assert_eq!(&record.payload[..], b"abcd\x0a\x23\xd7\xce");
/// assert_eq!(record.end, file.len() as u64);
/// # Ok::<(), vidrec::Error>(())
/// ```
pub fn read(file: &[u8], at: u64) -> Result<Record<'_>> {
    let start = usize::try_from(at).unwrap_or(usize::MAX);
    let first = part(file, start)?;
    match first.flag {
        0 => Ok(Record { payload: Cow::Borrowed(first.data), end: first.end as u64 }),
        1 => join(file, start, first),
        flag => Err(Error::format("record-parts", "a record begins with a continuation part")
            .section("record")
            .at(at)
            .expected("flag 0 or 1")
            .found(format!("flag {flag}"))),
    }
}

fn join<'a>(file: &'a [u8], start: usize, first: Part<'a>) -> Result<Record<'a>> {
    let mut payload = allocation::with_capacity(first.data.len(), "a record in parts")?;
    payload.extend_from_slice(first.data);
    let mut at = first.end;
    loop {
        let next = part(file, at)?;
        if next.flag != 2 && next.flag != 3 {
            return Err(Error::format("record-parts", "another record interrupts a record in parts")
                .section("record")
                .at(at as u64)
                .expected("flag 2 or 3")
                .found(format!("flag {}", next.flag)));
        }
        allocation::reserve(&mut payload, 4 + next.data.len(), "a record in parts")?;
        payload.extend_from_slice(&MAGIC.to_le_bytes());
        payload.extend_from_slice(next.data);
        if payload.len() as u64 > limits::MAX_RECORD_BYTES {
            return Err(Error::limit("a record in parts is too long").section("record").at(start as u64));
        }
        at = next.end;
        if next.flag == 3 {
            return Ok(Record { payload: Cow::Owned(payload), end: at as u64 });
        }
    }
}

/// Size of the header before the JPEG in every record: MXNet's `IRHeader`, little-endian (`format-spec/vidrec-v1.md#record-payload`;
/// MXNet, `src/io/image_recordio.h` and `python/mxnet/recordio.py`).
pub const HEADER_BYTES: usize = 24;

/// A record's header as vidrec writes it: a scalar label, the ordinal of the record, and the ordinals of clip and
/// frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordHeader {
    /// Number of float32 labels after the header. vidrec writes 0, which means that the label is in `label`.
    pub flag: u32,
    /// The clip's label; -1.0 if it has none.
    pub label: f32,
    /// Ordinal of the record in its file.
    pub id: u64,
    /// Ordinal of the clip in its file in the upper 32 bits, and ordinal of the frame in its clip in the lower 32 bits.
    pub id2: u64,
}

impl RecordHeader {
    /// The header of record `record` of a file. The record is frame `frame` of clip `clip`.
    pub fn new(label: i32, record: u64, clip: u64, frame: u32) -> Self {
        RecordHeader { flag: 0, label: label as f32, id: record, id2: clip << 32 | u64::from(frame) }
    }

    /// The bytes on disk.
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut b = [0; HEADER_BYTES];
        LE::write_u32(&mut b[0..4], self.flag);
        LE::write_f32(&mut b[4..8], self.label);
        LE::write_u64(&mut b[8..16], self.id);
        LE::write_u64(&mut b[16..24], self.id2);
        b
    }

    /// Splits a payload into header and image; `None` if it is too short for a header.
    pub fn split(payload: &[u8]) -> Option<(Self, &[u8])> {
        let (b, image) = payload.split_first_chunk::<HEADER_BYTES>()?;
        let header = RecordHeader {
            flag: LE::read_u32(&b[0..4]),
            label: LE::read_f32(&b[4..8]),
            id: LE::read_u64(&b[8..16]),
            id2: LE::read_u64(&b[16..24]),
        };
        Some((header, image))
    }

    /// The clip ordinal in `id2`.
    pub fn clip(&self) -> u64 {
        self.id2 >> 32
    }

    /// The frame ordinal in `id2`.
    pub fn frame(&self) -> u32 {
        self.id2 as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        append(&[], payload, &mut out).unwrap();
        out
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
        digits.chunks(2).map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
    }

    /// Vectors computed from the algorithm of dmlc-core's `RecordIOWriter::WriteRecord`.
    #[test]
    fn known_vectors() {
        let m = MAGIC.to_le_bytes();
        let cases: [(Vec<u8>, &str); 7] = [
            (b"".to_vec(), "0a23d7ce 00000000"),
            (b"record_0".to_vec(), "0a23d7ce 08000000 7265636f 72645f30"),
            (m.to_vec(), "0a23d7ce 00000020 0a23d7ce 00000060"),
            ([m, m].concat(), "0a23d7ce 00000020 0a23d7ce 00000040 0a23d7ce 00000060"),
            ([b"abcd", &m[..], b"ef"].concat(), "0a23d7ce 04000020 61626364 0a23d7ce 02000060 65660000"),
            ([&m[..], b"xyz"].concat(), "0a23d7ce 00000020 0a23d7ce 03000060 78797a00"),
            ([b"a", &m[..], b"b"].concat(), "0a23d7ce 06000000 610a23d7 ce620000"),
        ];
        for (payload, expected) in cases {
            let bytes = encode(&payload);
            assert_eq!(bytes, hex(expected), "{payload:02x?}");
            let record = read(&bytes, 0).unwrap();
            assert_eq!((&record.payload[..], record.end), (&payload[..], bytes.len() as u64));
        }
    }

    #[test]
    fn lone_continuation_and_interrupted_records_are_refused() {
        let split = encode(&[b"abcd", &MAGIC.to_le_bytes()[..], b"ef"].concat());
        assert_eq!(read(&split, 12).unwrap_err().rule(), Some("record-parts"));
        let mut interrupted = split[..12].to_vec();
        interrupted.extend(encode(b"x"));
        assert_eq!(read(&interrupted, 0).unwrap_err().rule(), Some("record-parts"));
        assert_eq!(read(&split[..12], 0).unwrap_err().rule(), Some("record-bounds"));
        assert_eq!(read(&split, u64::MAX).unwrap_err().rule(), Some("record-bounds"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(words in prop::collection::vec(prop_oneof![Just(MAGIC), any::<u32>()], 0..40),
                                   cut in 0usize..4, head in prop::collection::vec(any::<u8>(), 0..30)) {
            let mut body: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            body.truncate(body.len().saturating_sub(cut));
            let mut file = b"keep".to_vec();
            append(&head, &body, &mut file).unwrap();
            prop_assert_eq!(file.len() % 4, 0);
            let record = read(&file, 4).unwrap();
            let payload = [&head[..], &body[..]].concat();
            prop_assert_eq!(&record.payload[..], &payload[..]);
            prop_assert_eq!(record.end, file.len() as u64);
            // A naive scan for aligned magic words finds only the heads of the parts.
            let heads = file.chunks_exact(4).filter(|w| **w == MAGIC.to_le_bytes()).count();
            let aligned = payload.chunks_exact(4).filter(|w| **w == MAGIC.to_le_bytes()).count();
            prop_assert_eq!(heads, aligned + 1);
            if head.len() % 4 == 0 && !head.chunks_exact(4).any(|w| w == MAGIC.to_le_bytes()) {
                prop_assert_eq!(needs_parts(head.len(), &body), aligned > 0);
            }
        }

        #[test]
        fn hostile_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), at in 0u64..70) {
            let _ = read(&bytes, at);
        }
    }

    #[test]
    fn bytes_are_those_of_mxnet() {
        // struct.pack('<IfQQ', 0, 4.0, 7, 3 << 32 | 5)
        let header = RecordHeader::new(4, 7, 3, 5);
        let expected = [0, 0, 0, 0, 0, 0, 0x80, 0x40, 7, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0];
        assert_eq!(header.to_bytes(), expected);
        let payload = [&expected[..], b"JPG"].concat();
        let (back, image) = RecordHeader::split(&payload).unwrap();
        assert_eq!((back, image, back.clip(), back.frame()), (header, &b"JPG"[..], 3, 5));
        assert!(RecordHeader::split(&payload[..23]).is_none());
    }
}

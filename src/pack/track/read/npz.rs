//! Several arrays of NumPy: an `.npz` file is a ZIP archive of `.npy` files, stored or deflated.
//!
//! The format: PKWARE's APPNOTE.TXT, of which this reads the central directory, with the fields of ZIP64, which NumPy
//! writes. Members are read by what the central directory says, and their CRC-32 is compared.

use std::io::Read;

use byteorder::{ByteOrder, LittleEndian as LE};
use flate2::read::DeflateDecoder;

use super::content::MAX_BYTES;
use super::npy;
use super::table::Table;
use crate::format::crc32;
use crate::{Error, Result};

/// Most arrays in a file.
const MAX_MEMBERS: u64 = 4096;

/// A file of the archive.
struct Member<'a> {
    name: &'a str,
    method: u16,
    crc32: u32,
    compressed: u64,
    size: u64,
    /// Where its local header is.
    offset: u64,
}

/// Reads the arrays whose names, without `.npy`, are wanted.
pub(super) fn read(bytes: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Table> {
    let mut arrays = Vec::new();
    let mut left = MAX_BYTES;
    for member in members(bytes)? {
        let Some(name) = member.name.strip_suffix(".npy").filter(|name| wanted(name)) else { continue };
        left = left.checked_sub(member.size).ok_or_else(|| {
            Error::limit("the arrays are too large").expected(format!("at most {MAX_BYTES} bytes together"))
        })?;
        let array = member.bytes(bytes).and_then(|data| npy::read(&data));
        arrays.push((name.to_owned(), array.map_err(|e| Error::usage(format!("array {name:?}: {e:#}")))?));
    }
    Ok(Table(arrays))
}

fn fault(what: &str) -> Error {
    Error::usage(format!("it is no .npz file that vidrec reads: {what}"))
}

fn part(bytes: &[u8], at: u64, length: u64) -> Result<&[u8]> {
    let range = usize::try_from(at).ok().zip(at.checked_add(length).and_then(|end| usize::try_from(end).ok()));
    range.and_then(|(at, end)| bytes.get(at..end)).ok_or_else(|| fault("it is cut off"))
}

/// The central directory.
fn members(bytes: &[u8]) -> Result<Vec<Member<'_>>> {
    const END_BYTES: usize = 22;
    let tail = bytes.len().saturating_sub(END_BYTES + usize::from(u16::MAX));
    let end = (tail..=bytes.len().saturating_sub(END_BYTES)).rev().find(|&at| bytes[at..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or_else(|| fault("it has no directory"))?;
    let record = part(bytes, end as u64, END_BYTES as u64)?;
    let (mut count, mut at) = (u64::from(LE::read_u16(&record[10..])), u64::from(LE::read_u32(&record[16..])));
    if count == u64::from(u16::MAX) || at == u64::from(u32::MAX) {
        let locator = part(bytes, (end as u64).checked_sub(20).ok_or_else(|| fault("it is cut off"))?, 20)?;
        let wide = part(bytes, LE::read_u64(&locator[8..]), 56)?;
        if !locator.starts_with(b"PK\x06\x07") || !wide.starts_with(b"PK\x06\x06") {
            return Err(fault("its directory is not that of ZIP64"));
        }
        (count, at) = (LE::read_u64(&wide[32..]), LE::read_u64(&wide[48..]));
    }
    if count > MAX_MEMBERS {
        return Err(fault("it has too many members").found(count));
    }
    let mut members = Vec::new();
    for _ in 0..count {
        let head = part(bytes, at, 46)?;
        if !head.starts_with(b"PK\x01\x02") {
            return Err(fault("its directory makes no sense"));
        }
        let [name, extra, comment] = [28, 30, 32].map(|i| u64::from(LE::read_u16(&head[i..])));
        members.push(Member::parse(head, part(bytes, at + 46, name)?, part(bytes, at + 46 + name, extra)?)?);
        at += 46 + name + extra + comment;
    }
    Ok(members)
}

impl<'a> Member<'a> {
    fn parse(head: &[u8], name: &'a [u8], extra: &[u8]) -> Result<Self> {
        let name = std::str::from_utf8(name).map_err(|_| fault("the name of a member is not UTF-8"))?;
        let wide = |i: usize| u64::from(LE::read_u32(&head[i..]));
        let mut places = [wide(24), wide(20), wide(42)];
        let mut zip64 = field(extra, 1).unwrap_or_default();
        // In this order, and only those that are too large for their place.
        for place in places.iter_mut().filter(|place| **place == u64::from(u32::MAX)) {
            let (value, rest) = zip64.split_first_chunk::<8>().ok_or_else(|| fault("a size is missing"))?;
            (*place, zip64) = (u64::from_le_bytes(*value), rest);
        }
        let [size, compressed, offset] = places;
        if LE::read_u16(&head[8..]) & 1 != 0 {
            return Err(fault("a member is encrypted"));
        }
        Ok(Member {
            name,
            method: LE::read_u16(&head[10..]),
            crc32: LE::read_u32(&head[16..]),
            compressed,
            size,
            offset,
        })
    }

    /// Its contents.
    fn bytes(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let head = part(bytes, self.offset, 30)?;
        if !head.starts_with(b"PK\x03\x04") {
            return Err(fault("a member is not where the directory says"));
        }
        let skipped = 30 + u64::from(LE::read_u16(&head[26..])) + u64::from(LE::read_u16(&head[28..]));
        let stored = part(bytes, self.offset + skipped, self.compressed)?;
        let data = match self.method {
            0 => stored.to_vec(),
            8 => {
                // Grows with what comes, whatever was announced.
                let mut data = Vec::new();
                let read = DeflateDecoder::new(stored).take(self.size.saturating_add(1)).read_to_end(&mut data);
                read.map_err(|e| fault(&format!("a member does not decompress: {e}")))?;
                data
            }
            other => return Err(fault("a member is compressed in a way other than deflate").found(other)),
        };
        if data.len() as u64 != self.size || crc32(&data) != self.crc32 {
            return Err(fault("the length or the CRC-32 of a member does not match"));
        }
        Ok(data)
    }
}

/// The extra field of this number.
fn field(mut extra: &[u8], number: u16) -> Option<&[u8]> {
    loop {
        let (head, rest) = extra.split_first_chunk::<4>()?;
        let (field, after) = rest.split_at_checked(usize::from(LE::read_u16(&head[2..])))?;
        if LE::read_u16(&head[..2]) == number {
            return Some(field);
        }
        extra = after;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::npy;
    use super::*;
    use crate::writer::TrackValues;

    /// An archive of one array, stored.
    fn archive(name: &str, data: &[u8]) -> Vec<u8> {
        let (length, crc) = ((data.len() as u32).to_le_bytes(), crc32(data).to_le_bytes());
        let name_length = (name.len() as u16).to_le_bytes();
        let mut bytes =
            [&b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0"[..], &crc, &length, &length, &name_length, &[0; 2]].concat();
        bytes.extend([name.as_bytes(), data].concat());
        let at = (bytes.len() as u32).to_le_bytes();
        bytes.extend([&b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0"[..], &crc, &length, &length, &name_length].concat());
        bytes.extend([&[0; 16][..], name.as_bytes()].concat());
        let directory = (46 + name.len() as u32).to_le_bytes();
        bytes.extend([&b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..], &directory, &at, &[0; 2]].concat());
        bytes
    }

    fn array() -> Vec<u8> {
        npy::tests::file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", &[1, 2, 3])
    }

    #[test]
    fn members_are_arrays() {
        let table = read(&archive("a.npy", &array()), &|_| true).unwrap();
        assert_eq!(table.column("a").unwrap().values, TrackValues::U8(vec![1, 2, 3]));
        assert!(read(&archive("a.npy", &array()), &|_| false).unwrap().0.is_empty());
        let mut changed = archive("a.npy", &array());
        let place = changed.windows(3).position(|w| w == [1, 2, 3]).unwrap();
        changed[place] = 9;
        assert!(read(&changed, &|_| true).unwrap_err().to_string().contains("CRC-32"));
    }

    proptest! {
        #[test]
        fn hostile_bytes_never_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = archive("a.npy", &array());
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = read(&bytes, &|_| true);
            bytes.truncate(cut.index(bytes.len() + 1));
            let _ = read(&bytes, &|_| true);
        }
    }
}

//! The schema in the footer of a Parquet file, checked before the crate `parquet` reads it.
//!
//! That crate makes room for as many children as a schema element claims, and calls itself for each level of the
//! schema. So a file of 200 bytes could claim more memory than the machine has, or nest until the stack ends, and
//! either ends the process. This walks the footer in Thrift's compact protocol, and looks only at the number of children.
//!
//! Sources: Apache Thrift, `thrift-compact-protocol.md`; Apache Parquet, `parquet.thrift` (`FileMetaData`, field 2;
//! `SchemaElement`, field 5).

use std::io::{Read, Seek, SeekFrom};

use parquet::file::reader::SerializedFileReader;

use crate::track::read::open::ValueFile;
use vidrec_format::error::{Error, Result};

/// The longest footer. Files of values have few columns.
const MAX_FOOTER_BYTES: u64 = 64 << 20;
/// The most levels of a schema, and of what the footer nests.
const MAX_DEPTH: usize = 64;

/// Opens a Parquet file whose schema has the children that it claims.
pub(super) fn open_table(file: ValueFile) -> Result<SerializedFileReader<ValueFile>> {
    check_schema(&file)?;
    SerializedFileReader::new(file).map_err(fault)
}

/// An error of the crate `parquet`.
pub(super) fn fault(e: impl std::fmt::Display) -> Error {
    Error::usage(format!("cannot read the Parquet file: {e}"))
}

/// Checks that the schema has the children that it claims, and is not nested too deep.
fn check_schema(file: &ValueFile) -> Result<()> {
    let bytes = read(file).map_err(|e| Error::usage(format!("the file is not a Parquet file: {e}")))?;
    Walk(&bytes).file_metadata().ok_or_else(|| Error::usage("the Parquet file does not have a valid schema"))
}

/// Reads the footer. The file ends with its length in four bytes and `PAR1`.
fn read(file: &ValueFile) -> std::io::Result<Vec<u8>> {
    let invalid = |what| std::io::Error::new(std::io::ErrorKind::InvalidData, what);
    let mut file = file.file.try_clone()?;
    let mut tail = [0; 8];
    let end = file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let start = end.checked_sub(length).filter(|_| magic == *b"PAR1" && length <= MAX_FOOTER_BYTES);
    file.seek(SeekFrom::Start(start.ok_or_else(|| invalid("its footer is invalid"))?))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What is left of the footer. All steps are `None` where the bytes end or make no sense.
struct Walk<'a>(&'a [u8]);

impl Walk<'_> {
    fn file_metadata(&mut self) -> Option<()> {
        let mut last = 0;
        while let Some((id, kind)) = self.field(&mut last)? {
            if id == 2 && kind == LIST {
                return self.schema();
            }
            self.skip(kind, 0)?;
        }
        None
    }

    fn schema(&mut self) -> Option<()> {
        let (count, kind) = self.list()?;
        if kind != STRUCT {
            return None;
        }
        // For each open group, the children that are still to come.
        let mut open: Vec<u64> = Vec::new();
        for _ in 0..count {
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            let children = self.schema_element()?;
            if children > 0 {
                open.push(children);
            }
            if children > count || open.len() > MAX_DEPTH {
                return None;
            }
        }
        Some(())
    }

    /// Returns the number of its children.
    fn schema_element(&mut self) -> Option<u64> {
        let (mut last, mut children) = (0, 0);
        while let Some((id, kind)) = self.field(&mut last)? {
            if id == 5 && kind == I32 {
                let zigzag = self.varint()?;
                children = if zigzag & 1 == 0 { zigzag >> 1 } else { return None };
            } else {
                self.skip(kind, 0)?;
            }
        }
        Some(children)
    }

    /// Returns the number and type of the next field of a structure, or `Some(None)` at its end.
    #[expect(clippy::option_option, reason = "the end of a structure is no fault")]
    fn field(&mut self, last: &mut i64) -> Option<Option<(i64, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        let delta = i64::from(head >> 4);
        *last = if delta == 0 { i64::try_from(self.varint()? >> 1).ok()? } else { last.checked_add(delta)? };
        Some(Some((*last, head & 15)))
    }

    /// Returns the number and type of the elements of a list.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        // Each element takes a byte at least.
        (count <= self.0.len() as u64).then_some((count, head & 15))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            TRUE | FALSE => Some(()),
            BYTE => self.take(1),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.take(8),
            BINARY => {
                let length = self.varint()?;
                self.take(length)
            }
            LIST | SET => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth + 1))
            }
            MAP => {
                let count = self.varint()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth + 1)?;
                    self.skip_element(kinds & 15, depth + 1)
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// In lists and maps, a truth value takes a byte. In fields, the type says it.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        if matches!(kind, TRUE | FALSE) { self.take(1) } else { self.skip(kind, depth) }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(length).ok()?..)?;
        Some(())
    }
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with these numbers of children, one for each element of the schema.
    fn footer(children: &[u64]) -> Vec<u8> {
        let varint = |mut value: u64| {
            let mut bytes = Vec::new();
            while value > 127 {
                bytes.push(value as u8 | 128);
                value >>= 7;
            }
            bytes.push(value as u8);
            bytes
        };
        // The version, 1, and then the list.
        let mut bytes = vec![0x15, 2, 0x19, 0xF0 | STRUCT];
        bytes.extend(varint(children.len() as u64));
        for &n in children {
            // A name, and the number of children.
            bytes.extend([&[0x48, 1, b'a', 0x15][..], &varint(2 * n), &[0]].concat());
        }
        bytes
    }

    #[test]
    fn schemas_have_the_children_that_they_claim() {
        assert!(Walk(&footer(&[2, 0, 1, 0])).file_metadata().is_some());
        assert!(Walk(&footer(&[1_465_826_679, 0])).file_metadata().is_none());
        assert!(Walk(&footer(&[3, 0])).file_metadata().is_none());
        let nested: Vec<u64> = std::iter::repeat_n(1, 65).chain([0]).collect();
        assert!(Walk(&footer(&nested)).file_metadata().is_none());
        assert!(Walk(&footer(&nested[2..])).file_metadata().is_some());
        let whole = footer(&[2, 0, 1, 0]);
        assert!((0..whole.len()).all(|length| Walk(&whole[..length]).file_metadata().is_none()));
    }
}

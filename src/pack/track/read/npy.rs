//! Arrays of NumPy: `.npy` of the versions 1.0, 2.0 and 3.0, in C order, little-endian.
//!
//! The format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. The header is a Python dict, of
//! which only what NumPy writes is understood.

use crate::pack::track::array::Array;
use crate::writer::TrackValues;
use crate::{Error, Result, allocation};

/// Longest header: NumPy's own are below 200 bytes, and the most sides are 32.
const MAX_HEADER: usize = 64 << 10;

/// Reads an array.
pub(super) fn read(bytes: &[u8]) -> Result<Array> {
    let fault = |what: &str| Error::usage(format!("it is no .npy file that vidrec reads: {what}"));
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or_else(|| fault("it does not begin as one"))?;
    let short = || fault("its header is cut off");
    let (length, rest) = match rest.split_first_chunk::<2>().ok_or_else(short)? {
        ([1, 0], rest) => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        ([2 | 3, 0], rest) => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        ([major, minor], _) => return Err(fault(&format!("its version is {major}.{minor}"))),
    };
    if length > MAX_HEADER {
        return Err(fault("its header is too long").found(length));
    }
    let (header, data) = rest.split_at_checked(length).ok_or_else(short)?;
    let text = std::str::from_utf8(header).map_err(|_| fault("its header is not text"))?;
    let header = Header::parse(text).ok_or_else(|| fault("its header is not as NumPy writes it").found(text.trim()))?;
    if header.fortran_order && header.shape.len() > 1 {
        return Err(Error::usage("the array is in Fortran order").help("write it with numpy.ascontiguousarray"));
    }
    header.values(data)
}

#[derive(Debug, PartialEq)]
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`, whatever the order of the keys.
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            rest = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" => {
                    let (value, after) = quoted(rest)?;
                    descr = Some(value.to_owned());
                    after
                }
                "fortran_order" => {
                    let is_on = rest.starts_with("True");
                    fortran_order = Some(is_on);
                    rest.strip_prefix(if is_on { "True" } else { "False" })?
                }
                "shape" => {
                    let (inner, after) = rest.strip_prefix('(')?.split_once(')')?;
                    let sides = inner.split(',').map(str::trim).filter(|side| !side.is_empty());
                    shape = Some(sides.map(|side| side.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?);
                    after
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Header { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }

    fn values(self, data: &[u8]) -> Result<Array> {
        let Header { descr, shape, .. } = self;
        let (order, kind) = descr.split_at_checked(1).unwrap_or_default();
        let size = match kind {
            "b1" | "i1" | "u1" => 1,
            "i2" | "u2" | "f2" => 2,
            "i4" | "u4" | "f4" => 4,
            "i8" | "u8" | "f8" => 8,
            _ => 0,
        };
        if size == 0 || !(order == "<" || order == "=" || (order == "|" && size == 1)) {
            return Err(Error::usage("vidrec reads no arrays of this type")
                .expected("little-endian integers, or floats of 16, 32 or 64 bits")
                .found(format!("{descr:?}")));
        }
        let numbers = shape.iter().try_fold(1usize, |n, &side| n.checked_mul(side));
        let bytes = numbers.and_then(|n| n.checked_mul(size));
        if bytes != Some(data.len()) {
            return Err(Error::usage("the file is cut off, or too long for its array")
                .expected(format!("shape {shape:?} of type {descr:?}"))
                .found(format!("{} bytes", data.len())));
        }
        Ok(Array { values: numbers_of(kind, data)?, shape })
    }
}

/// A text in single or double quotes, and what comes after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// Numbers as the type of tracks that has them all.
fn numbers_of(kind: &str, data: &[u8]) -> Result<TrackValues> {
    macro_rules! read {
        ($from:ty, $to:ty, $variant:ident, $change:expr) => {{
            let (chunks, _) = data.as_chunks::<{ size_of::<$from>() }>();
            let mut numbers: Vec<$to> = allocation::with_capacity(chunks.len(), "the values of a track")?;
            for (i, chunk) in chunks.iter().enumerate() {
                let number = <$from>::from_le_bytes(*chunk);
                let change: fn($from) -> Option<$to> = $change;
                let number = change(number).ok_or_else(|| {
                    Error::usage(format!("number {i} is too large for a track")).expected(stringify!($to)).found(number)
                })?;
                numbers.push(number);
            }
            TrackValues::$variant(numbers)
        }};
    }
    Ok(match kind {
        "b1" | "u1" => TrackValues::U8(data.to_vec()),
        "i1" => read!(i8, i16, I16, |n| Some(n.into())),
        "i2" => read!(i16, i16, I16, Some),
        "u2" => read!(u16, i32, I32, |n| Some(n.into())),
        "i4" => read!(i32, i32, I32, Some),
        "u4" => read!(u32, i64, I64, |n| Some(n.into())),
        "i8" => read!(i64, i64, I64, Some),
        "u8" => read!(u64, i64, I64, |n| n.try_into().ok()),
        "f2" => read!(half::f16, f32, F32, |n| Some(n.into())),
        "f4" => read!(f32, f32, F32, Some),
        _ => read!(f64, f64, F64, Some),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file as NumPy writes it.
    pub(crate) fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        [bytes, header.into(), data.into()].concat()
    }

    #[test]
    fn arrays_are_read() {
        let data: Vec<u8> = [1.5f32, -2.0, 3.0, 4.0].iter().flat_map(|n| n.to_le_bytes()).collect();
        for version in 1..=3 {
            let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }          \n";
            let array = read(&file(version, header, &data)).unwrap();
            assert_eq!((array.values, array.shape), (TrackValues::F32(vec![1.5, -2.0, 3.0, 4.0]), vec![2, 2]));
        }
        let row = |kind: &str, n: usize, data: &[u8]| {
            let header = format!("{{'descr': '{kind}', 'fortran_order': True, 'shape': ({n},), }}\n");
            read(&file(1, &header, data))
        };
        assert_eq!(row("<i8", 1, &7i64.to_le_bytes()).unwrap().values, TrackValues::I64(vec![7]));
        assert_eq!(row("<u2", 1, &[255, 255]).unwrap().values, TrackValues::I32(vec![65_535]));
        assert_eq!(row("|i1", 1, &[255]).unwrap().values, TrackValues::I16(vec![-1]));
        assert_eq!(row("|b1", 2, &[1, 0]).unwrap().values, TrackValues::U8(vec![1, 0]));
        assert_eq!(row("<f2", 1, &[0, 0x3c]).unwrap().values, TrackValues::F32(vec![1.0]));
        for (kind, n, data, part) in [
            (">f4", 1, &[0; 4][..], "\">f4\""),
            ("<U5", 1, &[0; 20], "\"<U5\""),
            ("|O", 1, &[0; 8], "\"|O\""),
            ("<f4", 2, &[0; 4], "4 bytes"),
            ("<u8", 1, &[255; 8], "too large for a track"),
            ("<f4", usize::MAX, &[0; 4], "cut off"),
        ] {
            let e = row(kind, n, data).unwrap_err().to_string();
            assert!(e.contains(part), "{e}");
        }
        let order = file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", &data);
        assert!(read(&order).unwrap_err().to_string().contains("Fortran order"));
        assert!(read(&file(4, "{}", &[])).unwrap_err().to_string().contains("version is 4.0"));
    }

    proptest! {
        #[test]
        fn hostile_bytes_never_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
            cut in any::<prop::sample::Index>(), version in 1u8..4,
        ) {
            let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
            let mut bytes = file(version, header, &[7; 16]);
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = read(&bytes);
            bytes.truncate(cut.index(bytes.len() + 1));
            let _ = read(&bytes);
        }
    }
}

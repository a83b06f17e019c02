//! Arrays of NumPy: `.npy` in C order, little-endian, and `.npz`, a ZIP archive of them, stored or deflated.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use zip::ZipArchive;

use super::open::MAX_BYTES;
use super::table::Table;
use crate::track::array::Array;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_format::allocation;
use vidrec_format::error::{Error, Result};

/// The longest header. NumPy's own are below 200 bytes, and an array has at most 32 dimensions.
const MAX_HEADER: usize = 64 << 10;

/// The header of an array, which NumPy writes as a Python dict.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// The type of its numbers, such as `<f4`.
    descr: String,
    /// Whether the first index changes fastest.
    fortran_order: bool,
    /// The length of each dimension.
    shape: Vec<usize>,
}

impl Header {
    /// Returns the header of a file of version 1.0, 2.0 or 3.0, and the bytes of its numbers.
    ///
    /// The format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. Only the syntax that NumPy writes
    /// is understood.
    fn read(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let fault = |what: &str| Error::usage(format!("vidrec cannot read this .npy file: {what}"));
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or_else(|| fault("it does not begin with NumPy's magic"))?;
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
        let mut json = String::from_utf8_lossy(header).trim().to_owned();
        for (python, text) in
            [("'", "\""), ("(", "["), (")", "]"), ("True", "true"), ("False", "false"), (", }", "}"), (",]", "]")]
        {
            json = json.replace(python, text);
        }
        let header = serde_json::from_str(&json);
        Ok((header.map_err(|e| fault("its header is not one that NumPy writes").found(e))?, data))
    }
}

/// Reads an array.
pub(super) fn read(bytes: &[u8]) -> Result<Array> {
    let (header, data) = Header::read(bytes)?;
    if header.fortran_order && header.shape.len() > 1 {
        return Err(Error::usage("the array is in Fortran order").help("write it with numpy.ascontiguousarray"));
    }
    values(header, data)
}

fn values(header: Header, data: &[u8]) -> Result<Array> {
    let Header { descr, shape, .. } = header;
    let (order, kind) = descr.split_at_checked(1).unwrap_or_default();
    let size = match kind {
        "b1" | "i1" | "u1" => 1,
        "i2" | "u2" | "f2" => 2,
        "i4" | "u4" | "f4" => 4,
        "i8" | "u8" | "f8" => 8,
        _ => 0,
    };
    if size == 0 || !(order == "<" || order == "=" || (order == "|" && size == 1)) {
        return Err(Error::usage("vidrec cannot read arrays of this type")
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
    Ok(Array { values: numbers_of(kind, data)?, shape, ends: None })
}

/// Reads numbers as the track type that can hold all of them.
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
        "b1" => TrackValues::Bool(data.iter().map(|&byte| byte != 0).collect()),
        "u1" => TrackValues::U8(data.to_vec()),
        "i1" => read!(i8, i16, I16, |n| Some(n.into())),
        "i2" => read!(i16, i16, I16, Some),
        "u2" => read!(u16, u16, U16, Some),
        "i4" => read!(i32, i32, I32, Some),
        "u4" => read!(u32, i64, I64, |n| Some(n.into())),
        "i8" => read!(i64, i64, I64, Some),
        "u8" => read!(u64, i64, I64, |n| n.try_into().ok()),
        "f2" => read!(half::f16, half::f16, F16, Some),
        "f4" => read!(f32, f32, F32, Some),
        _ => read!(f64, f64, F64, Some),
    })
}

/// The most arrays in a file.
const MAX_MEMBERS: usize = 4096;

/// Reads the arrays whose names, without `.npy`, are wanted.
pub(super) fn read_npz(bytes: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Table> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| fault(&e.to_string()))?;
    if archive.len() > MAX_MEMBERS {
        return Err(fault("the file has too many members").found(archive.len()));
    }
    let mut arrays = Vec::new();
    let mut left = MAX_BYTES;
    for number in 0..archive.len() {
        let member = archive.by_index(number).map_err(|e| fault(&e.to_string()))?;
        let name = member.name().map_err(|e| fault(&e.to_string()))?;
        let Some(name) = name.strip_suffix(".npy").filter(|name| wanted(name)).map(str::to_owned) else {
            continue;
        };
        let size = member.size();
        left = left.checked_sub(size).ok_or_else(|| {
            Error::limit("the arrays are too large").expected(format!("at most {MAX_BYTES} bytes together"))
        })?;
        let array = contents(member, size).and_then(|data| read(&data));
        arrays.push((name.clone(), array.map_err(|e| Error::usage(format!("array {name:?}: {e:#}")))?));
    }
    Ok(Table(arrays))
}

/// An `.npz` file that is read array by array.
#[derive(Debug)]
pub struct ArrayFile {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
}

impl ArrayFile {
    /// # Errors
    ///
    /// [`Io`](vidrec_format::error::ErrorKind::Io): the file cannot be opened;
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): it is no `.npz` file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_regular(path, Links::Follow)?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|e| fault(&e.to_string()).file(path))?;
        Ok(ArrayFile { path: path.to_owned(), archive })
    }

    /// The names of its arrays.
    ///
    /// # Errors
    ///
    /// [`Usage`](vidrec_format::error::ErrorKind::Usage): a name is no text.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for name in self.archive.file_names() {
            let name = name.map_err(|e| fault(&e.to_string()).file(&self.path))?;
            names.extend(name.strip_suffix(".npy").map(str::to_owned));
        }
        Ok(names)
    }

    /// Reads an array.
    pub(crate) fn read(&mut self, name: &str) -> Result<Array> {
        let member = self.archive.by_name(&format!("{name}.npy"));
        let member = member.map_err(|e| fault(&e.to_string()).file(&self.path))?;
        let size = member.size();
        if size > MAX_BYTES {
            let e = Error::limit(format!("array {name:?} is too large")).file(&self.path);
            return Err(e.expected(format!("at most {MAX_BYTES} bytes")).found(size));
        }
        let array = contents(member, size).and_then(|data| read(&data));
        array.map_err(|e| Error::usage(format!("array {name:?}: {e:#}")).file(&self.path))
    }
}

fn fault(what: &str) -> Error {
    Error::usage(format!("vidrec cannot read this .npz file: {what}"))
}

/// Reads a member, whose CRC-32 the archive compares. The buffer grows with the data, whatever size the header claims.
fn contents(member: impl Read, size: u64) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    let read = member.take(size.saturating_add(1)).read_to_end(&mut data);
    read.map_err(|e| fault(&format!("a member cannot be read: {e}")))?;
    if data.len() as u64 != size {
        return Err(fault("the length of a member does not match"));
    }
    Ok(data)
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a file as NumPy writes it.
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
        // NumPy 1.13 wrote headers without spaces at the end, and any shape.
        for (shape, text) in [(&[][..], "()"), (&[1][..], "(1,)"), (&[1, 1, 1][..], "(1, 1, 1)")] {
            let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {text}, }}\n");
            assert_eq!(read(&file(1, &header, &[0; 4])).unwrap().shape, shape);
        }
        let row = |kind: &str, n: usize, data: &[u8]| {
            let header = format!("{{'descr': '{kind}', 'fortran_order': True, 'shape': ({n},), }}\n");
            read(&file(1, &header, data))
        };
        assert_eq!(row("<i8", 1, &7i64.to_le_bytes()).unwrap().values, TrackValues::I64(vec![7]));
        assert_eq!(row("<u2", 1, &[255, 255]).unwrap().values, TrackValues::U16(vec![65_535]));
        assert_eq!(row("|i1", 1, &[255]).unwrap().values, TrackValues::I16(vec![-1]));
        assert_eq!(row("|b1", 2, &[1, 0]).unwrap().values, TrackValues::Bool(vec![true, false]));
        assert_eq!(row("<f2", 1, &[0, 0x3c]).unwrap().values, TrackValues::F16(vec![half::f16::ONE]));
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

#[cfg(test)]
mod npz_tests {
    use proptest::prelude::*;

    use super::*;
    use vidrec_core::dataset::writer::TrackValues;
    use vidrec_format::crc32;

    /// Returns an archive of one stored array.
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
        super::tests::file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", &[1, 2, 3])
    }

    #[test]
    fn members_are_arrays() {
        let table = read_npz(&archive("a.npy", &array()), &|_| true).unwrap();
        assert_eq!(table.column("a").unwrap().values, TrackValues::U8(vec![1, 2, 3]));
        assert!(read_npz(&archive("a.npy", &array()), &|_| false).unwrap().0.is_empty());
        let mut changed = archive("a.npy", &array());
        let place = changed.windows(3).position(|w| w == [1, 2, 3]).unwrap();
        changed[place] = 9;
        assert!(read_npz(&changed, &|_| true).unwrap_err().to_string().contains("checksum"));
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
            let _ = read_npz(&bytes, &|_| true);
            bytes.truncate(cut.index(bytes.len() + 1));
            let _ = read_npz(&bytes, &|_| true);
        }
    }
}

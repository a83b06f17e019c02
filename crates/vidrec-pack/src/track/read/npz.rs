//! Several arrays of NumPy: an `.npz` file is a ZIP archive of `.npy` files, stored or deflated.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::content::MAX_BYTES;
use super::npy;
use super::table::Table;
use vidrec_format::error::{Error, Result};

/// The most arrays in a file.
const MAX_MEMBERS: usize = 4096;

/// Reads the arrays whose names, without `.npy`, are wanted.
pub(super) fn read(bytes: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Table> {
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
        let array = contents(member, size).and_then(|data| npy::read(&data));
        arrays.push((name.clone(), array.map_err(|e| Error::usage(format!("array {name:?}: {e:#}")))?));
    }
    Ok(Table(arrays))
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
mod tests {
    use proptest::prelude::*;

    use super::super::npy;
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
        assert!(read(&changed, &|_| true).unwrap_err().to_string().contains("checksum"));
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

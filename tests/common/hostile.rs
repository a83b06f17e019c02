//! Data sets of any bytes: what reads them gives values or errors. For the tests and for the fuzz targets in `fuzz/`.

use std::fs;
use std::path::Path;

use vidrec::raw::{clip_entry, crc32, frame_entry, header, recordio, section};
use vidrec::{Dataset, VerifyOptions, verify};

fn u64_at(index: &[u8], at: usize) -> u64 {
    index.get(at..at + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap()))
}

fn put_crc(index: &mut [u8], covered: std::ops::Range<usize>, more: &[u8], at: usize) {
    let crc = index.get(covered).map(|bytes| crc32(&[bytes, more].concat()));
    if let (Some(crc), Some(to)) = (crc, index.get_mut(at..at + 4)) {
        to.copy_from_slice(&crc.to_le_bytes());
    }
}

/// Makes every checksum and length fit, as far as the damaged numbers lead to something within the file; needs the room
/// of header and footer.
pub fn seal(index: &mut [u8]) {
    index[..8].copy_from_slice(&header::MAGIC);
    index[8..10].copy_from_slice(&1u16.to_le_bytes());
    let length = index.len() as u64;
    index[32..40].copy_from_slice(&length.to_le_bytes());
    let end = index.len() - header::FOOTER_BYTES;
    let table = (u64_at(index, 24) as usize).min(end);
    let count = (end - table) / section::BYTES;
    for n in 0..count {
        let entry = table + n * section::BYTES;
        let (at, length) = (u64_at(index, entry + 8) as usize, u64_at(index, entry + 16) as usize);
        let size = match &index[entry..entry + 4] {
            b"FRMS" => frame_entry::BYTES,
            b"CLPS" => clip_entry::BYTES,
            _ => usize::MAX,
        };
        for i in 0..length.min(index.len()) / size {
            let first = at.saturating_add(i * size).min(index.len());
            put_crc(index, first..first + size - 4, &(i as u64).to_le_bytes(), first + size - 4);
        }
        let stop = at.saturating_add(length);
        put_crc(index, at..stop, &[], entry + 24);
    }
    put_crc(index, table..end, &[], 56);
    put_crc(index, 0..60, &[], 60);
    let head: [u8; header::BYTES] = index[..header::BYTES].try_into().unwrap();
    let foot = header::footer(length, &head);
    index[end..].copy_from_slice(&foot);
}

/// Opens what is at `path`, a folder or an index, and reads of it what a user may ask for.
pub fn read_everything(path: &Path) {
    let _ = verify(path, VerifyOptions { deep: true, ..VerifyOptions::default() }, &mut vidrec::no_progress);
    let Ok(set) = Dataset::open(path) else { return };
    for c in 0..set.len().min(5) {
        let Ok(clip) = set.clip(c) else { continue };
        let _ = (clip.source(), clip.class(), clip.attributes(), clip.time_base());
        for t in 0..clip.frame_count().min(5) {
            let _ = clip.frame(t).map(|frame| (frame.check(), frame.pts_seconds()));
        }
    }
}

/// Reads `input` as a data set: a byte that says whether checksums are made to fit, the length of an index in two bytes,
/// the index, and its record file.
pub fn data_set(input: &[u8]) {
    let Some((&[sealed, low, high], files)) = input.split_first_chunk() else { return };
    let (index, record) = files.split_at(files.len().min(u16::from_le_bytes([low, high]).into()));
    let mut index = index.to_vec();
    if sealed & 1 == 1 && index.len() >= header::BYTES + header::FOOTER_BYTES {
        seal(&mut index);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shard-00000.vidx");
    fs::write(&path, index).unwrap();
    fs::write(path.with_extension("rec"), record).unwrap();
    read_everything(&path);
}

/// An input for [`data_set`].
#[allow(dead_code)] // Each program that has this file uses some of it.
pub fn input(index: &[u8], record: &[u8]) -> Vec<u8> {
    let length = u16::try_from(index.len()).unwrap().to_le_bytes();
    [&[1, length[0], length[1]], index, record].concat()
}

/// Reads a record at each place of `file`; what can be read comes back the same when it is written and read again.
pub fn records(file: &[u8]) {
    for at in 0..file.len().min(64) as u64 {
        let Ok(record) = recordio::read(file, at) else { continue };
        assert!(record.end > at && record.end <= file.len() as u64);
        let mut again = Vec::new();
        recordio::append(&[], &record.payload, &mut again).unwrap();
        let read = recordio::read(&again, 0).unwrap();
        assert!(read.payload == record.payload && read.end == again.len() as u64);
    }
}

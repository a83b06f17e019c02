//! Hostile indexes: whatever stands in one, with every checksum made to fit, reading it gives values or errors.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use vidrec::format::{clip_entry, crc32, footer, frame_entry, header, section};
use vidrec::{ClipInfo, Dataset, FrameData, Planes, VerifyOptions, Writer, WriterOptions, verify};

fn small_set(dir: &Path) {
    let mut jpeg = Vec::new();
    vidrec::jpeg::Encoder::new(50).unwrap().encode(&Planes::new(16, 16).unwrap(), &mut jpeg).unwrap();
    let mut options = WriterOptions::default();
    options.meta.classes = vec!["a".into(), "b".into()];
    let mut writer = Writer::create(dir, options).unwrap();
    for label in 0..2 {
        let source = format!("{label}.mp4");
        let clip = ClipInfo { label: Some(label), source, width: 16, height: 16, ..ClipInfo::default() };
        writer.append(&clip, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }; 2]).unwrap();
    }
    writer.finish().unwrap();
}

fn u64_at(index: &[u8], at: usize) -> u64 {
    index.get(at..at + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap()))
}

fn put_crc(index: &mut [u8], covered: std::ops::Range<usize>, more: &[u8], at: usize) {
    let crc = index.get(covered).map(|bytes| crc32(&[bytes, more].concat()));
    if let (Some(crc), Some(to)) = (crc, index.get_mut(at..at + 4)) {
        to.copy_from_slice(&crc.to_le_bytes());
    }
}

/// Makes every checksum fit, as far as the damaged numbers lead to something within the file.
fn seal(index: &mut [u8]) {
    let end = index.len() - footer::BYTES;
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
    let foot = footer::to_bytes(index.len() as u64, &head);
    index[end..].copy_from_slice(&foot);
}

fn read_everything(dir: &Path) {
    let _ = verify(dir, VerifyOptions { deep: true }, &|_| ());
    let Ok(set) = Dataset::open(dir) else { return };
    for c in 0..set.len().min(5) {
        let Ok(clip) = set.clip(c) else { continue };
        let _ = (clip.source(), clip.class(), clip.attributes(), clip.time_base());
        for t in 0..clip.frame_count().min(5) {
            let _ = clip.frame(t).map(|frame| (frame.check(), frame.pts_seconds()));
        }
    }
}

/// Interesting numbers and any.
fn value() -> impl Strategy<Value = u64> {
    let edges = [0, 1, 31, 1 << 31, u64::from(u32::MAX), 1 << 32, i64::MAX as u64, u64::MAX - 7, u64::MAX];
    prop_oneof![prop::sample::select(edges.to_vec()), any::<u64>(), 0u64..2000]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_index_panics_or_reads_outside(
        changes in prop::collection::vec((0usize..2000, value(), prop::sample::select(vec![1usize, 2, 4, 8])), 1..6),
        cut in prop::option::of(100usize..1000),
    ) {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("set");
        small_set(&dir);
        let path = dir.join("shard-00000.vidx");
        let mut index = fs::read(&path).unwrap();
        for (at, value, bytes) in changes {
            let at = at % (index.len() - 8);
            index[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        if let Some(cut) = cut {
            index.truncate(cut.max(header::BYTES + footer::BYTES));
        }
        index[..8].copy_from_slice(&header::MAGIC);
        index[8..10].copy_from_slice(&1u16.to_le_bytes());
        let length = (index.len() as u64).to_le_bytes();
        index[32..40].copy_from_slice(&length);
        seal(&mut index);
        fs::remove_file(&path).unwrap();
        fs::write(&path, &index).unwrap();
        read_everything(&dir);
    }
}

/// The changes above get past the checksums: a change of a label that fits them is read.
#[test]
fn a_sealed_change_is_believed() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("set");
    small_set(&dir);
    let path = dir.join("shard-00000.vidx");
    let mut index = fs::read(&path).unwrap();
    let clips = header::BYTES + 4 * frame_entry::BYTES;
    index[clips + 12] = 1;
    seal(&mut index);
    fs::write(&path, &index).unwrap();
    assert_eq!(Dataset::open(&dir).unwrap().clip(0).unwrap().label(), Some(1));
}

//! Hostile indexes: whatever stands in one, with every checksum made to fit, reading it gives values or errors.

use std::fs;
use std::path::Path;

use crate::common::hostile::{self, input, read_everything, seal};
use crate::common::names::file;
use proptest::prelude::*;
use vidrec::raw::{frame_entry, header};
use vidrec::{ClipInfo, Dataset, FrameData, Planes, Writer, WriterOptions};

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

/// Interesting numbers and any.
fn value() -> impl Strategy<Value = u64> {
    let edges = [0, 1, 31, 1 << 31, u64::from(u32::MAX), 1 << 32, i64::MAX as u64, u64::MAX - 7, u64::MAX];
    prop_oneof![prop::sample::select(edges.to_vec()), any::<u64>(), 0u64..2000]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn no_index_panics_or_reads_outside(
        changes in prop::collection::vec((0usize..2000, value(), prop::sample::select(vec![1usize, 2, 4, 8])), 1..6),
        cut in prop::option::of(100usize..1000),
    ) {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("set");
        small_set(&dir);
        let path = file(&dir, "shard-00000.vidx");
        let mut index = fs::read(&path).unwrap();
        for (at, value, bytes) in changes {
            let at = at % (index.len() - 8);
            index[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        if let Some(cut) = cut {
            index.truncate(cut.max(header::BYTES + header::FOOTER_BYTES));
        }
        seal(&mut index);
        fs::remove_file(&path).unwrap();
        fs::write(&path, &index).unwrap();
        read_everything(&path);
    }
}

/// The changes above get past the checksums: a change of a label that fits them is read.
#[test]
fn a_sealed_change_is_believed() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("set");
    small_set(&dir);
    let path = file(&dir, "shard-00000.vidx");
    let mut index = fs::read(&path).unwrap();
    let clips = header::BYTES + 4 * frame_entry::BYTES;
    index[clips + 12] = 1;
    seal(&mut index);
    fs::write(&path, &index).unwrap();
    assert_eq!(Dataset::open(&path).unwrap().clip(0).unwrap().label(), Some(1));
}

/// All vectors of the format, with some bytes changed: what the fuzz targets try.
#[test]
fn changed_vectors_give_values_or_errors() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/vectors");
    let mut seeds = Vec::new();
    for folder in ["good", "bad", "good/two-shards"] {
        let files = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        for index in files.filter(|path| path.extension().is_some_and(|e| e == "vidx")) {
            let record = fs::read(index.with_extension("rec")).unwrap_or_default();
            hostile::records(&record);
            seeds.push(input(&fs::read(index).unwrap(), &record));
        }
    }
    assert!(seeds.len() > 50);
    for (i, seed) in seeds.iter().enumerate() {
        hostile::data_set(seed);
        for k in 0..2 {
            let mut changed = seed.clone();
            let at = (i * 7919 + k * 104_729) % changed.len();
            changed[at] ^= 1 << k;
            changed[0] = (k & 1) as u8;
            hostile::data_set(&changed);
            hostile::records(changed.get(at..).unwrap_or_default());
        }
    }
}

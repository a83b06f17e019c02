//! Readers of files, each given a folder of its own, and what is there to begin with.

use std::fs;
use std::path::Path;

use vidrec::fuzzing;
use vidrec::interop::{ImportOptions, frames, gulp, mxnet, webdataset};

/// All readers, by the names of their corpora.
pub const ALL: &[(&str, fn(&[u8]))] = &[
    ("dataset_json", fuzzing::dataset_json),
    ("meta", fuzzing::meta),
    ("tracks", fuzzing::tracks),
    ("journal", journal),
    ("plan", plan),
    ("parts_plan", parts_plan),
    ("receipt", fuzzing::receipts),
    ("messages", fuzzing::messages),
    ("npy", |bytes| values("a.npy", bytes)),
    ("npz", |bytes| values("a.npz", bytes)),
    ("parquet", |bytes| values("a.parquet", bytes)),
    ("csv", |bytes| values("a.csv", bytes)),
    ("json", |bytes| values("a.json", bytes)),
    ("import_gulp", import_gulp),
    ("import_webdataset", import_webdataset),
    ("import_mxnet", import_mxnet),
    ("import_frames", import_frames),
    ("decoded_segments", fuzzing::decoded_segments),
    #[cfg(feature = "remote")]
    ("answers", fuzzing::answers),
];

/// Does `work` in a new folder, which has a file of these bytes.
fn with_file(name: &str, bytes: &[u8], work: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    work(folder.path());
}

/// A file of values of tracks with this name.
pub fn values(name: &str, bytes: &[u8]) {
    with_file(name, bytes, |folder| fuzzing::values(&folder.join(name)));
}

pub fn journal(lines: &[u8]) {
    let (name, bytes) = fuzzing::journal_of(lines);
    with_file(name, &bytes, fuzzing::journal);
}

/// A plan for publishing. What a plan names is renamed and removed, so it is only read here.
pub fn plan(bytes: &[u8]) {
    with_file(".vidrec.plan", bytes, fuzzing::plan);
}

/// The plan of a pack in parts.
pub fn parts_plan(bytes: &[u8]) {
    with_file("plan.json", bytes, |folder| {
        let _ = vidrec::pack::PartsPlan::open(folder).and_then(|plan| plan.status());
    });
}

fn options() -> ImportOptions {
    ImportOptions { salvage: true, check: true, retile: true, reencode: Some(80), ..ImportOptions::default() }
}

/// Several files: each after its length in three bytes.
fn files<const N: usize>(mut input: &[u8]) -> [&[u8]; N] {
    [(); N].map(|()| {
        let Some((&[a, b, c], rest)) = input.split_first_chunk() else { return std::mem::take(&mut input) };
        let (file, rest) = rest.split_at(rest.len().min(u32::from_le_bytes([a, b, c, 0]) as usize));
        input = rest;
        file
    })
}

/// What [`files`] takes apart.
pub fn of_files(files: &[&[u8]]) -> Vec<u8> {
    files.iter().flat_map(|file| [&(file.len() as u32).to_le_bytes()[..3], file].concat()).collect()
}

/// A chunk of GulpIO: its table, and its data.
pub fn import_gulp(input: &[u8]) {
    let [meta, data] = files(input);
    with_file("meta_0.gmeta", meta, |folder| {
        fs::write(folder.join("data_0.gulp"), data).unwrap();
        let _ = gulp::import(folder, &folder.join("out"), &options(), &mut vidrec::no_progress);
    });
}

pub fn import_webdataset(tar: &[u8]) {
    with_file("a.tar", tar, |folder| {
        let _ = webdataset::import(&[folder.join("a.tar")], &folder.join("out"), &options(), &mut vidrec::no_progress);
    });
}

/// A record file of MXNet, with its `.idx` and `.lst`.
pub fn import_mxnet(input: &[u8]) {
    let [records, index, list] = files(input);
    with_file("a.rec", records, |folder| {
        fs::write(folder.join("a.idx"), index).unwrap();
        fs::write(folder.join("a.lst"), list).unwrap();
        let paths = [folder.join("a.rec")];
        for list in [None, Some(folder.join("a.lst"))] {
            let mxnet = mxnet::MxnetOptions { list, ..mxnet::MxnetOptions::default() };
            let out = folder.join("out");
            let options = ImportOptions { overwrite: true, ..options() };
            let _ = mxnet::import(&paths, &out, &options, &mxnet, &mut vidrec::no_progress);
        }
    });
}

/// A folder of frames, with the `clip.json` and the tracks of an export.
pub fn import_frames(input: &[u8]) {
    let [clip, meta, picture, track] = files(input);
    with_file("vidrec.json", meta, |folder| {
        fs::create_dir(folder.join("a")).unwrap();
        for (name, bytes) in [("clip.json", clip), ("0.jpg", picture), ("track.a.npy", track)] {
            fs::write(folder.join("a").join(name), bytes).unwrap();
        }
        let _ = frames::import(folder, &folder.join("out"), &options(), &mut vidrec::no_progress);
    });
}

//! Imports of any bytes: what reads other projects' files gives a data set or an error. For the tests and for the fuzz target
//! in `fuzz/`.

use std::fs;
use std::path::Path;

use vidrec::interop::{self, ImportOptions};

/// Does `work` in a new folder, which has a file of these bytes.
fn in_folder(name: &str, bytes: &[u8], work: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    work(folder.path());
}

fn options() -> ImportOptions {
    ImportOptions { salvage: true, retile: true, ..ImportOptions::default() }
}

/// What was imported is a whole data set.
fn check<T>(imported: vidrec::Result<T>, out: &Path) {
    if imported.is_ok() {
        let report = vidrec::verify(out, vidrec::VerifyOptions::default(), &mut vidrec::no_progress).unwrap();
        assert!(report.ok, "{:?}", report.problems);
    }
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

/// A record file of MXNet, with its `.idx` and `.lst`.
pub fn mxnet(input: &[u8]) {
    let [records, index, list] = files(input);
    in_folder("a.rec", records, |folder| {
        fs::write(folder.join("a.idx"), index).unwrap();
        fs::write(folder.join("a.lst"), list).unwrap();
        let paths = [folder.join("a.rec")];
        for frames_per_clip in [None, Some(2)] {
            let records = interop::mxnet::MxnetOptions { frames_per_clip, ..Default::default() };
            let out = folder.join("out");
            let options = ImportOptions { overwrite: true, ..options() };
            check(interop::mxnet::import(&paths, &out, &options, &records, &mut vidrec::no_progress), &out);
        }
    });
}

/// A folder of frames, with the `clip.json` and the tracks of an export.
pub fn frames(input: &[u8]) {
    let [clip, meta, picture, track] = files(input);
    in_folder("vidrec.json", meta, |folder| {
        fs::create_dir(folder.join("a")).unwrap();
        for (name, bytes) in [("clip.json", clip), ("0.jpg", picture), ("track.a.npy", track)] {
            fs::write(folder.join("a").join(name), bytes).unwrap();
        }
        let out = folder.join("out");
        check(interop::frames::import(folder, &out, &options(), &mut vidrec::no_progress), &out);
    });
}

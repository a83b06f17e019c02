//! Readers of files, each given a folder of its own, and what is there to begin with.

use std::fs;
use std::path::Path;

use vidrec_format::fuzzing as format;
use vidrec_core::loader::decoded::fuzzing as decoded;
use vidrec_pack::fuzzing as pack;
use vidrec_core::store::disk::publication::recover;
use vidrec_core::store::remote::fuzzing as remote;

#[path = "../tests/common/importers.rs"]
mod importers;

/// All readers, by the names of their corpora.
pub const ALL: &[(&str, fn(&[u8]))] = &[
    ("dataset_json", format::dataset_json),
    ("meta", format::meta),
    ("tracks", format::tracks),
    ("changes", changes),
    ("parts_plan", parts_plan),
    ("receipt", pack::receipts),
    ("messages", pack::messages),
    ("npy", |bytes| values("a.npy", bytes)),
    ("npz", |bytes| values("a.npz", bytes)),
    ("csv", |bytes| values("a.csv", bytes)),
    ("json", |bytes| values("a.json", bytes)),
    ("import_mxnet", importers::mxnet),
    ("import_frames", importers::frames),
    ("decoded_heads", decoded::decoded_heads),
    ("answers", remote::answers),
];

/// Does `work` in a new folder, which has a file of these bytes.
fn with_file(name: &str, bytes: &[u8], work: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
    work(folder.path());
}

/// A file of values of tracks with this name.
pub fn values(name: &str, bytes: &[u8]) {
    with_file(name, bytes, |folder| pack::values(&folder.join(name)));
}

/// The list of changes of an interrupted write.
pub fn changes(bytes: &[u8]) {
    with_file(".vidrec.changes", bytes, |folder| drop(recover(folder)));
}

/// The plan of a pack.
pub fn parts_plan(bytes: &[u8]) {
    with_file(".vidrec.pack/plan.json", bytes, |folder| {
        let _ = vidrec::pack::plan_status(folder, &vidrec::Storage::default());
    });
}

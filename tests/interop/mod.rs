//! Data sets of other projects, as far as that needs no other project: hand-made files, and out and in again. What the
//! projects' own readers and writers make of them is in the Python files beside this one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::names::file;
use crate::common::rich::{Rich, assert_verifies as assert_whole, clips};
use crate::common::sample_data_sets;
use vidrec::interop::{ExportReport, ImportOptions, ImportReport, frames, mxnet};
use vidrec::raw::recordio::RecordHeader;
use vidrec::raw::recordio::{self, MAGIC};
use vidrec::{
    ClipInfo, Dataset, ErrorKind, FrameData, JsonObject, RepairOptions, Writer, WriterOptions, no_progress, repair,
};

/// A picture that no other number gives, tiled as vidrec writes it.
fn jpeg(n: u64) -> Vec<u8> {
    crate::common::jpeg((64, 48), n as u32)
}

/// Another one, as 4:2:0 without restart markers.
fn plain_jpeg(n: u64) -> Vec<u8> {
    let pixels: Vec<u8> = (0..64 * 48 * 3).map(|i| ((i * (n + 2)) % 253) as u8).collect();
    let image = turbojpeg::Image {
        pixels: &pixels[..],
        width: 64,
        pitch: 64 * 3,
        height: 48,
        format: turbojpeg::PixelFormat::RGB,
    };
    turbojpeg::compress(image, 85, turbojpeg::Subsamp::Sub2x2).unwrap().to_vec()
}

/// Clips of 1 to 3 frames, in two shards, with everything that a clip can have.
fn data_set(dir: &Path) -> PathBuf {
    let path = dir.join("set");
    Rich::default().write(&path);
    path
}

/// Imports whole files with the default options.
fn import_mxnet(
    files: &[PathBuf],
    out: &Path,
    frames_per_clip: Option<u32>,
    salvage: bool,
) -> vidrec::Result<ImportReport> {
    let options = ImportOptions { salvage, ..ImportOptions::default() };
    let mxnet = mxnet::MxnetOptions { frames_per_clip, ..Default::default() };
    mxnet::import(files, out, &options, &mxnet, &mut no_progress)
}

fn export_frames(set: &Dataset, out: &Path) -> vidrec::Result<ExportReport> {
    frames::export(set, 0..set.len(), out, &mut no_progress)
}

fn import_frames(folder: &Path, out: &Path) -> vidrec::Result<ImportReport> {
    frames::import(folder, out, &ImportOptions::default(), &mut no_progress)
}

#[test]
fn out_and_in_again_gives_the_same_clips() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let set = data_set(dir.path());
    let open = Dataset::open(&set).unwrap();
    export_frames(&open, &at("frames")).unwrap();
    import_frames(&at("frames"), &at("again")).unwrap();
    assert_eq!(clips(&at("again")), clips(&set));
    assert_eq!(Dataset::open(at("again")).unwrap().classes(), open.classes());
    assert_whole(&at("again"));
}

#[test]
fn mxnet_files_of_several_shards_are_linked_and_indexed() {
    let dir = tempfile::tempdir().unwrap();
    let set = data_set(dir.path());
    let open = Dataset::open(&set).unwrap();
    let out = dir.path().join("mxnet");
    let report = mxnet::export(&open, &out, &mut no_progress).unwrap();
    assert_eq!((report.clips, report.frames, report.files), (7, 13, 7));
    let text = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let first = fs::metadata(file(&set, "shard-00000.rec")).unwrap().len();
    let second: u64 = text("shard-00001.idx").lines().nth(1).unwrap().split('\t').nth(1).unwrap().parse().unwrap();
    assert_eq!(text("all.idx").lines().nth(8).unwrap(), format!("8\t{}", first + second));
    assert_eq!(text("shard-00001.lst").lines().next().unwrap(), "0\t-1.000000\tdir/é4.mp4/000.jpg");
    assert_eq!(text("shard-00001.lst").lines().last().unwrap(), "5\t0.000000\tdir/é6.mp4/000.jpg");
    // The data set may be replaced or removed: the folder stays whole.
    fs::remove_dir_all(&set).unwrap();
    let files = [out.join("shard-00000.rec"), out.join("shard-00001.rec")];
    let again = dir.path().join("again");
    import_mxnet(&files, &again, None, false).unwrap();
    let labels = Dataset::open(&again).unwrap().labels().unwrap();
    assert_eq!(labels, [Some(0), Some(1), Some(2), Some(0), None, Some(2), Some(0)]);

    assert_eq!(mxnet::export(&open, &out, &mut no_progress).unwrap_err().kind(), ErrorKind::Usage);
}

/// A record file of (label vector, id, picture).
fn record_file(path: &Path, records: &[(&[f32], u64, Vec<u8>)]) {
    let mut file = Vec::new();
    for (labels, id, picture) in records {
        let flag = if labels.len() > 1 { labels.len() as u32 } else { 0 };
        // As im2rec.cc: the first label is in the header too.
        let header = RecordHeader { flag, label: labels[0], id: *id, id2: 0 };
        let vector: Vec<u8> = labels.iter().take(flag as usize).flat_map(|x| x.to_le_bytes()).collect();
        recordio::append(&[&header.to_bytes()[..], &vector].concat(), picture, &mut file).unwrap();
    }
    fs::write(path, file).unwrap();
}

#[test]
fn records_of_other_programs_come_in() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let mut parted = plain_jpeg(1);
    let comment = [&[0xFF, 0xFE, 0, 8][..], b"..", &MAGIC.to_le_bytes()].concat();
    parted.splice(2..2, comment);
    let records = [
        (&[3.0, 1.0][..], 8, plain_jpeg(0)),
        (&[3.0, 1.0], 9, parted.clone()),
        (&[5.0], 2, jpeg(2)),
        (&[5.0], 3, jpeg(3)),
    ];
    record_file(&at("a.rec"), &records);
    fs::write(at("a.lst"), "8\t3\t1\tx/y/0.jpg\n9\t3\t1\tx/y/1.jpg\n").unwrap();
    let files = [at("a.rec")];
    let report = import_mxnet(&files, &at("out"), Some(2), false).unwrap();
    assert_eq!((report.clips, report.frames), (2, 4));
    assert_whole(&at("out"));
    let set = Dataset::open(at("out")).unwrap();
    assert_eq!(set.labels().unwrap(), [None, Some(5)]);
    let (first, second) = (set.clip(0).unwrap(), set.clip(1).unwrap());
    assert_eq!(first.attributes_json().unwrap(), r#"{"labels":[3,1]}"#);
    assert_eq!((first.source().unwrap(), second.source().unwrap()), ("x/y".into(), "a.rec/2".into()));
    assert_eq!(second.frame(1).unwrap().jpeg(), jpeg(3));

    let length = fs::metadata(at("a.rec")).unwrap().len();
    for (ending, text, words) in [
        ("idx", format!("0\t0\n1\t{length}\n"), "does not have the offsets of the records"),
        ("lst", "8 3 x".to_owned(), "not an id, labels and a path"),
    ] {
        let file = at("a").with_extension(ending);
        fs::write(&file, text).unwrap();
        let e = import_mxnet(&files, &at("other"), Some(2), false).unwrap_err().to_string();
        assert!(e.contains(words) && !at("other/dataset.json").exists(), "{e}");
        fs::remove_file(file).unwrap();
    }
    // Without a grid, records are counted.
    record_file(&at("b.rec"), &[1, 2, 3, 4].map(|id| (&[5.0][..], id, jpeg(id))));
    let e = import_mxnet(&[at("b.rec")], &at("other"), Some(2), false).unwrap_err();
    assert!(e.to_string().contains("seem to begin at id 1"), "{e}");
    let counted = mxnet::MxnetOptions { frames_per_clip: Some(2), ignore_ids: true };
    let report = mxnet::import(&[at("b.rec")], &at("other"), &ImportOptions::default(), &counted, &mut no_progress);
    assert_eq!(report.unwrap().clips, 2);
}

/// A test vector, because no command writes such a set.
#[test]
fn repair_takes_records_of_another_program_by_the_entries_of_their_index() {
    let dir = tempfile::tempdir().unwrap();
    let [path, index_path] = ["rec", "vidx"].map(|ending| {
        let vector = format!("{}/format-spec/vectors/good/foreign-records.{ending}", env!("CARGO_MANIFEST_DIR"));
        let copy = dir.path().join("foreign-records").with_extension(ending);
        fs::copy(vector, &copy).unwrap();
        copy
    });
    assert!(Dataset::open(&path).unwrap().meta().has_foreign_records());
    let output = RepairOptions { output: Some(dir.path().join("saved")), overwrite: true };
    let saved = || {
        let report = repair(dir.path(), &output, &mut no_progress).unwrap();
        if report.saved > 0 {
            assert_whole(&dir.path().join("saved"));
            assert!(!Dataset::open(dir.path().join("saved")).unwrap().meta().has_foreign_records());
        }
        report
    };
    // Changed ids and labels are not taken: a copy has the pictures and the index's labels.
    let mut records = fs::read(&path).unwrap();
    records[8 + 8] ^= 1;
    fs::write(&path, records).unwrap();
    assert_eq!(saved().saved, 2);
    // The entry of the second clip.
    let mut bad = fs::read(&index_path).unwrap();
    bad[64 + 3 * 32 + 80 + 10] ^= 4;
    fs::write(&index_path, bad).unwrap();
    let report = saved();
    assert_eq!((report.saved, report.lost_nothing()), (1, false), "{report:#?}");
}

#[test]
fn what_is_no_whole_clip_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("a.rec"), dir.path().join("out"));
    let records: Vec<_> = [0, 1, 2, 3, 5, 6, 7].map(|n| (&[1.0][..], n, jpeg(n))).into();
    record_file(&path, &records);
    let e = import_mxnet(std::slice::from_ref(&path), &out, Some(2), false).unwrap_err();
    assert!(e.to_string().contains("records 4 to 4 are not a complete clip"), "{e}");
    assert!(!out.join("dataset.json").exists());
    let report = import_mxnet(&[path], &out, Some(2), true).unwrap();
    assert_eq!((report.clips, report.left_out.len()), (3, 1));
    assert_whole(&out);
}

#[test]
fn labels_that_are_no_numbers_and_empty_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("a.rec"), dir.path().join("out"));
    record_file(&path, &[(&[f32::NAN][..], 0, jpeg(0))]);
    let import = |path: &PathBuf| import_mxnet(std::slice::from_ref(path), &out, None, false).unwrap_err().to_string();
    assert!(import(&path).contains("not a finite number"));
    fs::write(&path, b"").unwrap();
    assert!(import(&path).contains("nothing to import"));
    fs::write(&path, b"plainly not a record file").unwrap();
    assert!(import(&path).contains("not contain a complete record"));
}

#[test]
fn clips_without_frames_are_exported_where_there_is_room_for_them() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let mut writer = Writer::create(at("set"), WriterOptions::default()).unwrap();
    let text = |words: &str| ClipInfo {
        attributes: JsonObject::of(serde_json::json!({ "text": words })).unwrap(),
        source: words.into(),
        time_base: (1001, 30_000),
        ..ClipInfo::default()
    };
    let picture = jpeg(1);
    writer.append(&text("one"), &[]).unwrap();
    let info = ClipInfo { width: 64, height: 48, ..text("a picture") };
    writer.append(&info, &[FrameData { jpeg: &picture, pts: 3, source_index: None }]).unwrap();
    writer.append(&text("two"), &[]).unwrap();
    writer.finish().unwrap();
    assert_whole(&at("set"));
    let set = Dataset::open(at("set")).unwrap();
    export_frames(&set, &at("frames")).unwrap();
    import_frames(&at("frames"), &at("from frames")).unwrap();
    assert_eq!(clips(&at("from frames")), clips(&at("set")));
    // Its picture is lost, and nothing says that it had none.
    fs::remove_file(at("frames/000001/000.jpg")).unwrap();
    let e = import_frames(&at("frames"), &at("without")).unwrap_err();
    assert!(e.to_string().contains("images of the clip are missing"), "{e}");

    let report = mxnet::export(&set, &at("mxnet"), &mut no_progress).unwrap();
    assert_eq!((report.clips, report.frames), (1, 1));
    assert!(report.notes[0].starts_with("2 clips without frames"), "{:?}", report.notes);
}

#[test]
fn a_format_without_room_for_tracks_says_which_it_leaves_out() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    sample_data_sets::tracked(&[4])(&at("set"));
    let set = Dataset::open(at("set")).unwrap();
    for report in
        [mxnet::export(&set, &at("mxnet"), &mut no_progress).unwrap(), export_frames(&set, &at("frames")).unwrap()]
    {
        assert_eq!(report.tracks_left_out, ["caption", "sound", "state"]);
    }
}

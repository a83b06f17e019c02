//! Data sets of other projects, as far as that needs no other project: hand-made files, and out and in again. What the
//! projects' own readers and writers make of them is in the Python files beside this one.

mod tracks;

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::names::file;
use vidrec::interop::{ImportOptions, frames, gulp, mxnet, texts};
use vidrec::jpeg::Encoder;
use vidrec::raw::recordio::RecordHeader;
use vidrec::raw::recordio::{self, MAGIC};
use vidrec::{
    ClipInfo, Dataset, ErrorKind, FrameData, JsonObject, Planes, RepairOptions, VerifyOptions, Writer, WriterOptions,
    repair, verify,
};

/// A picture that no other number gives, tiled as vidrec writes it.
fn jpeg(n: u64) -> Vec<u8> {
    let mut picture = Planes::new(64, 48).unwrap();
    picture.y.iter_mut().enumerate().for_each(|(i, y)| *y = ((i as u64 * (n + 3) + n * 29) % 251) as u8);
    let mut jpeg = Vec::new();
    Encoder::new(90).unwrap().encode(&picture, &mut jpeg).unwrap();
    jpeg
}

/// The same as 4:2:0 without restart markers.
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

/// Clips of 1, 2, 3, 4 frames, in two shards, with everything that a clip can have.
fn data_set(dir: &Path) -> PathBuf {
    let path = dir.join("set");
    let meta = vidrec::Meta { classes: vec!["run".into(), "跳".into()], tool: "test".into(), ..Default::default() };
    let mut writer = Writer::create(&path, WriterOptions { meta, overwrite: false }).unwrap();
    for n in 0..4u64 {
        let label = (n < 3).then_some(n as u32 % 2);
        let attributes = serde_json::json!({ "caption": "a \"b\"\n", "labels": [n, 7] });
        let clip = ClipInfo {
            label,
            source: format!("folder/vidéo {n}.mp4"),
            class: label.map_or("", |l| ["run", "跳"][l as usize]).into(),
            attributes: if n == 1 { JsonObject::default() } else { JsonObject::of(attributes).unwrap() },
            width: 64,
            height: 48,
            time_base: (1001, 30_000),
            short: n == 2,
        };
        let jpegs: Vec<_> = (0..=n).map(|t| jpeg(n * 10 + t)).collect();
        let frame =
            |(t, jpeg)| FrameData { jpeg, pts: t as i64 * 3 - 1, source_index: (t > 0).then_some(t as u32 * 5) };
        writer.append(&clip, &jpegs.iter().map(Vec::as_slice).enumerate().map(frame).collect::<Vec<_>>()).unwrap();
        if n == 1 {
            writer.next_shard().unwrap();
        }
    }
    writer.finish().unwrap();
    path
}

/// Everything that is known of the clips.
fn content(path: &Path) -> Vec<String> {
    let set = Dataset::open(path).unwrap();
    let clip = |clip: vidrec::Clip<'_>| {
        let frames = clip.frames().map(|f| f.unwrap()).map(|f| (f.pts(), f.source_index(), f.crc32(), f.jpeg().len()));
        let frames: Vec<_> = frames.collect();
        let names = (clip.source().unwrap(), clip.class().unwrap(), clip.attributes().unwrap());
        let size = (clip.width(), clip.height(), clip.time_base(), clip.is_short());
        format!("{:?} {names:?} {size:?} {frames:?}", clip.label())
    };
    set.clips().map(|c| clip(c.unwrap())).collect()
}

fn assert_whole(path: &Path) {
    let report =
        verify(path, VerifyOptions { deep: true, ..VerifyOptions::default() }, &mut vidrec::no_progress).unwrap();
    assert!(report.ok, "{:#?}", report.problems);
}

#[test]
fn out_and_in_again_gives_the_same_clips() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let set = data_set(dir.path());
    let (open, options) = (Dataset::open(&set).unwrap(), ImportOptions::default());

    gulp::export(&open, &at("gulp"), 3, &mut vidrec::no_progress).unwrap();
    gulp::import(&at("gulp"), &at("from gulp"), &options, &mut vidrec::no_progress).unwrap();
    frames::export(&open, &at("frames"), &mut vidrec::no_progress).unwrap();
    frames::import(&at("frames"), &at("from frames"), &options, &mut vidrec::no_progress).unwrap();
    for name in ["from gulp", "from frames"] {
        assert_eq!(content(&at(name)), content(&set), "{name}");
        assert_eq!(Dataset::open(at(name)).unwrap().classes(), open.classes());
        assert_whole(&at(name));
    }
}

#[test]
fn mxnet_files_of_several_shards_are_linked_and_indexed() {
    let dir = tempfile::tempdir().unwrap();
    let set = data_set(dir.path());
    let open = Dataset::open(&set).unwrap();
    let out = dir.path().join("mxnet");
    let report = mxnet::export(&open, &out, &mut vidrec::no_progress).unwrap();
    assert_eq!((report.clips, report.frames, report.files), (4, 10, 7));
    let text = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let first = fs::metadata(file(&set, "shard-00000.rec")).unwrap().len();
    let second: u64 = text("shard-00001.idx").lines().nth(1).unwrap().split('\t').nth(1).unwrap().parse().unwrap();
    assert_eq!(text("all.idx").lines().nth(4).unwrap(), format!("4\t{}", first + second));
    assert_eq!(text("shard-00001.lst").lines().next().unwrap(), "0\t0.000000\tfolder/vidéo 2.mp4/000.jpg");
    assert_eq!(text("shard-00001.lst").lines().last().unwrap(), "6\t-1.000000\tfolder/vidéo 3.mp4/003.jpg");
    // The data set may be replaced or removed: the folder stays whole.
    fs::remove_dir_all(&set).unwrap();
    let files = [out.join("shard-00000.rec"), out.join("shard-00001.rec")];
    let again = dir.path().join("again");
    mxnet::import(&files, &again, &ImportOptions::default(), &mxnet::MxnetOptions::default(), &mut vidrec::no_progress)
        .unwrap();
    let labels = Dataset::open(&again).unwrap().labels().unwrap();
    assert_eq!(labels, [Some(0), Some(1), Some(0), None]);

    assert_eq!(mxnet::export(&open, &out, &mut vidrec::no_progress).unwrap_err().kind(), ErrorKind::Usage);
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

fn four(frames_per_clip: u32) -> mxnet::MxnetOptions {
    mxnet::MxnetOptions { frames_per_clip: Some(frames_per_clip), ..Default::default() }
}

#[test]
fn in_place_nothing_is_copied_and_everything_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.rec");
    let mut parted = plain_jpeg(1);
    let comment = [&[0xFF, 0xFE, 0, 8][..], b"..", &MAGIC.to_le_bytes()].concat();
    parted.splice(2..2, comment);
    let records = [
        (&[3.0, 1.0][..], 8, plain_jpeg(0)),
        (&[3.0, 1.0], 9, parted.clone()),
        (&[5.0], 2, jpeg(2)),
        (&[5.0], 3, jpeg(3)),
    ];
    record_file(&path, &records);
    let before = fs::read(&path).unwrap();
    let report =
        mxnet::import_in_place(std::slice::from_ref(&path), false, (1, 25), &four(2), &mut vidrec::no_progress)
            .unwrap();
    assert_eq!((report.clips, report.frames), (2, 4));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_whole(dir.path());
    let set = Dataset::open(dir.path()).unwrap();
    assert!(set.meta().unwrap().has_foreign_records());
    assert_eq!(set.labels().unwrap(), [None, Some(5)]);
    assert_eq!(set.clip(0).unwrap().attributes_json().unwrap(), r#"{"labels":[3,1]}"#);
    assert_eq!(set.clip(0).unwrap().frame(1).unwrap().jpeg(), parted);
    assert_eq!(set.clip(0).unwrap().source().unwrap(), "a.rec/8");
    // What is written from it has records of its own again.
    frames::export(&set, &dir.path().join("frames"), &mut vidrec::no_progress).unwrap();
    frames::import(
        &dir.path().join("frames"),
        &dir.path().join("copy"),
        &ImportOptions::default(),
        &mut vidrec::no_progress,
    )
    .unwrap();
    assert!(!Dataset::open(dir.path().join("copy")).unwrap().meta().unwrap().has_foreign_records());
    assert_whole(&dir.path().join("copy"));
    // The export names the records by their own ids.
    mxnet::export(&set, &dir.path().join("out"), &mut vidrec::no_progress).unwrap();
    let idx = fs::read_to_string(dir.path().join("out/a.idx")).unwrap();
    assert_eq!(idx.lines().map(|l| l.split('\t').next().unwrap()).collect::<Vec<_>>(), ["8", "9", "2", "3"]);

    let again = mxnet::import_in_place(std::slice::from_ref(&path), false, (1, 25), &four(2), &mut vidrec::no_progress)
        .unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Usage);
    mxnet::import_in_place(&[path], true, (1, 25), &four(2), &mut vidrec::no_progress).unwrap();
    // Whatever is changed is found, though ids and labels are not looked at.
    let mut changed = before.clone();
    changed[before.len() / 2] ^= 1;
    fs::write(dir.path().join("a.rec"), changed).unwrap();
    assert!(!verify(dir.path(), VerifyOptions::default(), &mut vidrec::no_progress).unwrap().ok);
}

/// Ids and labels that say nothing of clips, in a folder with its index.
fn foreign(dir: &Path) -> PathBuf {
    let path = dir.join("a.rec");
    let ids = [8, 9, 2, 3, 6, 7];
    let records: Vec<_> = ids.iter().map(|&id| (&[5.0, 1.0][..], id, jpeg(id))).collect();
    record_file(&path, &records);
    mxnet::import_in_place(std::slice::from_ref(&path), false, (1, 25), &four(2), &mut vidrec::no_progress).unwrap();
    path
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_stay_apart() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let names = [&b"run/x\xfe"[..], b"run/x\xff", b"j\xe9/y", br"j\xE9/y"];
    for (n, name) in (0..).zip(names) {
        let folder = dir.path().join("in").join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("0.jpg"), jpeg(n)).unwrap();
    }
    let (root, out) = (dir.path().join("in"), dir.path().join("out"));
    frames::import(&root, &out, &ImportOptions::default(), &mut vidrec::no_progress).unwrap();
    let set = Dataset::open(&out).unwrap();
    let mut found: Vec<(String, String, Vec<u8>)> = Vec::new();
    for clip in set.clips() {
        let clip = clip.unwrap();
        assert_eq!(clip.frame_count(), 1, "folders are not taken for one");
        let jpeg = clip.frame(0).unwrap().jpeg().to_vec();
        found.push((clip.source().unwrap(), clip.class().unwrap(), jpeg));
    }
    found.sort();
    let expected = [
        (r"j\x5CxE9/y", r"j\x5CxE9", 3),
        (r"j\xE9/y", r"j\xE9", 2),
        (r"run/x\xFE", "run", 0),
        (r"run/x\xFF", "run", 1),
    ];
    assert_eq!(found, expected.map(|(source, class, n)| (source.to_owned(), class.to_owned(), jpeg(n))));
}

#[test]
fn repair_takes_records_of_another_program_by_the_entries_of_their_index() {
    let dir = tempfile::tempdir().unwrap();
    let path = foreign(dir.path());
    let index_path = file(dir.path(), "a.vidx");
    let index = fs::read(&index_path).unwrap();
    let output = RepairOptions { output: Some(dir.path().join("saved")), overwrite: true };
    let saved = || {
        let report = repair(dir.path(), &output, &mut vidrec::no_progress).unwrap();
        if report.saved > 0 {
            assert_whole(&dir.path().join("saved"));
            assert!(!Dataset::open(dir.path().join("saved")).unwrap().meta().unwrap().has_foreign_records());
        }
        report
    };
    // Changed ids and labels are not taken: a copy has the pictures and the index's labels.
    let whole = fs::read(&path).unwrap();
    let mut records = whole.clone();
    records[8 + 8] ^= 1;
    fs::write(&path, records).unwrap();
    let with = |at: usize| {
        let mut bad = index.clone();
        bad[at] ^= 4;
        Some(bad)
    };
    // The header, the footer, the entry of the second clip, and the whole index.
    let entry = 64 + 6 * 32 + 80 + 10;
    for (bad, intact) in [(with(0), 3), (with(9), 3), (with(index.len() - 1), 3), (with(entry), 2), (None, 0)] {
        fs::remove_file(&index_path).unwrap();
        bad.iter().for_each(|bad| fs::write(&index_path, bad).unwrap());
        let report = saved();
        assert_eq!((report.saved, report.clips, report.lost_nothing()), (intact, 3, intact == 3), "{report:#?}");
        let is_named = |what: &serde_json::Value| what.as_str().unwrap().contains("vidrec import mxnet --in-place");
        assert!(intact == 0 || report.lost.iter().all(|lost| is_named(&lost.what)), "{report:#?}");
    }
    // Nothing says how many clips there were, and that is no success either.
    fs::remove_file(dir.path().join("dataset.json")).unwrap();
    let report = saved();
    assert!(report.saved == 0 && !report.lost_nothing(), "{report:#?}");
    fs::write(&path, whole).unwrap();
    mxnet::import_in_place(std::slice::from_ref(&path), true, (1, 25), &four(2), &mut vidrec::no_progress).unwrap();
    assert_eq!(fs::read(&index_path).unwrap(), index);
}

#[test]
fn beside_other_record_files_only_the_index_is_written() {
    let dir = tempfile::tempdir().unwrap();
    for (name, n) in [("train.rec", 0), ("val.rec", 1)] {
        record_file(&dir.path().join(name), &[(&[0.0][..], 0, jpeg(n))]);
    }
    for name in ["train.rec", "val.rec"] {
        let path = dir.path().join(name);
        let report = mxnet::import_in_place(
            std::slice::from_ref(&path),
            false,
            (1, 1),
            &Default::default(),
            &mut vidrec::no_progress,
        )
        .unwrap();
        assert!(report.notes[0].contains("did not write dataset.json"));
        assert_eq!(Dataset::open(&path).unwrap().len(), 1);
    }
    assert!(!dir.path().join("dataset.json").exists());
}

#[test]
fn what_is_no_whole_clip_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("a.rec"), dir.path().join("out"));
    let records: Vec<_> = [0, 1, 2, 3, 5, 6, 7].map(|n| (&[1.0][..], n, jpeg(n))).into();
    record_file(&path, &records);
    let files = std::slice::from_ref(&path);
    let e = mxnet::import(files, &out, &ImportOptions::default(), &four(2), &mut vidrec::no_progress).unwrap_err();
    assert!(e.to_string().contains("found 5;"), "{e}");
    assert!(!out.join("dataset.json").exists());
    let salvage = ImportOptions { salvage: true, ..Default::default() };
    let report = mxnet::import(files, &out, &salvage, &four(2), &mut vidrec::no_progress).unwrap();
    assert_eq!((report.clips, report.left_out.len()), (3, 1));
    assert_whole(&out);
}

#[test]
fn labels_that_are_no_numbers_and_empty_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("a.rec"), dir.path().join("out"));
    record_file(&path, &[(&[f32::NAN][..], 0, jpeg(0))]);
    let import = |path: &PathBuf| {
        let files = std::slice::from_ref(path);
        mxnet::import(files, &out, &ImportOptions::default(), &Default::default(), &mut vidrec::no_progress)
            .unwrap_err()
            .to_string()
    };
    assert!(import(&path).contains("not a finite number"));
    fs::write(&path, b"").unwrap();
    assert!(import(&path).contains("nothing to import"));
    fs::write(&path, b"plainly not a record file").unwrap();
    assert!(import(&path).contains("not contain a complete record"));
}

#[test]
fn each_line_of_json_is_a_clip_without_frames() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.jsonl"), "{\"text\": \"跳\", \"label\": \"run\"}\n\n  {\"n\": [1, null], \"label\": null}\r\n")
        .unwrap();
    fs::write(at("b.jsonl"), "{\"label\":\"jump\"}").unwrap();
    let (files, options) = ([at("a.jsonl"), at("b.jsonl")], ImportOptions::default());
    let report = texts::import(&files, &at("texts"), &options, &mut vidrec::no_progress).unwrap();
    assert_eq!((report.clips, report.frames), (3, 0));
    let set = Dataset::open(at("texts")).unwrap();
    assert_eq!(set.classes(), ["jump", "run"]);
    let known = |clip: vidrec::Clip<'_>| (clip.label(), clip.source().unwrap(), clip.attributes_json().unwrap());
    let found: Vec<_> = set.clips().map(|clip| known(clip.unwrap())).collect();
    let expected = [
        (Some(1), "a.jsonl:1", r#"{"text":"跳"}"#),
        (None, "a.jsonl:3", r#"{"n":[1,null]}"#),
        (Some(0), "b.jsonl:1", ""),
    ];
    assert_eq!(found, expected.map(|(label, source, text)| (label, source.to_owned(), text.to_owned())));
    assert_whole(&at("texts"));
    texts::import(&files, &at("again"), &options, &mut vidrec::no_progress).unwrap();
    for name in fs::read_dir(at("texts")).unwrap().map(|entry| entry.unwrap().file_name()) {
        assert_eq!(fs::read(at("texts").join(&name)).unwrap(), fs::read(at("again").join(&name)).unwrap());
    }
}

#[test]
fn a_line_that_is_no_text_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let import = |lines: &str, salvage| {
        fs::write(at("a.jsonl"), lines).unwrap();
        let options = ImportOptions { salvage, overwrite: true, ..ImportOptions::default() };
        texts::import(&[at("a.jsonl")], &at("texts"), &options, &mut vidrec::no_progress)
    };
    for (lines, words) in [
        ("{}\n[1]\n{}", "not a JSON object"),
        ("{}\n{\"a\": }\n{}", "at character"),
        ("{\"label\": 3}\n{\"label\": -1}\n{\"label\": 4}", "a whole number"),
        ("{\"label\": \"run\"}\n{\"label\": 3}\n{}", "the name of a class"),
    ] {
        let e = import(lines, false).unwrap_err().to_string();
        assert!(e.contains("a.jsonl") && e.contains("line 2") && e.contains(words), "{e}");
        let report = import(lines, true).unwrap();
        assert_eq!((report.clips, report.left_out.len(), &report.left_out[0].source[..]), (2, 1, "a.jsonl:2"));
    }
    assert!(import("\n", false).unwrap_err().to_string().contains("nothing to import"));
    let long = format!("{{\"text\": \"{}\"}}\n{{}}", "a".repeat(17 << 20));
    assert!(import(&long, false).unwrap_err().to_string().contains("too long"));
    assert_eq!(import(&long, true).unwrap().clips, 1);
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
    let (set, options) = (Dataset::open(at("set")).unwrap(), ImportOptions::default());

    frames::export(&set, &at("frames"), &mut vidrec::no_progress).unwrap();
    frames::import(&at("frames"), &at("from frames"), &options, &mut vidrec::no_progress).unwrap();
    assert_eq!(content(&at("from frames")), content(&at("set")));
    // Its picture is lost, and nothing says that it had none.
    fs::remove_file(at("frames/000001/000.jpg")).unwrap();
    let e = frames::import(&at("frames"), &at("without"), &options, &mut vidrec::no_progress).unwrap_err();
    assert!(e.to_string().contains("images of the clip are missing"), "{e}");

    let mut reports = vec![mxnet::export(&set, &at("mxnet"), &mut vidrec::no_progress).unwrap()];
    reports.push(gulp::export(&set, &at("gulp"), 10, &mut vidrec::no_progress).unwrap());
    for report in reports {
        assert_eq!((report.clips, report.frames), (1, 1));
        assert!(report.notes[0].starts_with("2 clips without frames"), "{:?}", report.notes);
    }
    gulp::import(&at("gulp"), &at("from gulp"), &options, &mut vidrec::no_progress).unwrap();
    assert_eq!(content(&at("from gulp")), content(&at("set"))[1..2]);
}

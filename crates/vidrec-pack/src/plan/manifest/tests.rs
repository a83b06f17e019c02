use std::fs;

use serde_json::{Value, json};

use super::super::labels::{Label, Tag};
use super::super::segment::SegmentClock;
use super::*;

/// Makes a folder with some (empty) files and a manifest.
fn folder(files: &[&str], manifest: (&str, &str)) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files.iter().map(|f| dir.path().join(f)) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    fs::write(dir.path().join(manifest.0), manifest.1).unwrap();
    dir
}

fn read_in(dir: &Path, name: &str, options: &InputOptions) -> Result<Manifest> {
    Ok(read(&dir.join(name), None, options)?.expect("a manifest by its ending"))
}

fn parse(name: &str, text: &str) -> Result<Vec<FoundVideo>> {
    let dir = folder(&[], (name, text));
    Ok(read_in(dir.path(), name, &InputOptions::default())?.videos)
}

fn name(text: &str) -> Label {
    Label::name(text)
}

fn number(n: u32) -> Label {
    Label::One(Tag::Number(n))
}

fn numbers(n: &[u32]) -> Label {
    Label::Many(n.iter().map(|&n| Tag::Number(n)).collect())
}

fn short(found: &[FoundVideo]) -> Vec<(&str, Label)> {
    found.iter().map(|f| (f.source.as_str(), f.label.clone())).collect()
}

fn times(found: &FoundVideo) -> Option<(u64, Option<u64>)> {
    found.segment.map(|s| (s.start_us, s.end_us))
}

#[test]
fn files_of_other_endings_are_no_manifests() {
    assert!(read(Path::new("a.mp4"), None, &InputOptions::default()).unwrap().is_none());
    assert!(read(Path::new("csv"), None, &InputOptions::default()).unwrap().is_none());
}

#[test]
fn tables_have_names_numbers_or_no_labels() {
    let rows = parse("l.csv", "path,label\n a.mp4 , run\n\"b, c.mp4\",3\nd.mp4,\n").unwrap();
    assert_eq!(short(&rows), [("a.mp4", name("run")), ("b, c.mp4", name("3")), ("d.mp4", Label::None)]);
    let rows = parse("l.tsv", "\u{feff}label\tfile_name\n7\ta b.mp4\n\tb.mp4\n0\tc.mp4\n").unwrap();
    assert_eq!(short(&rows), [("a b.mp4", number(7)), ("b.mp4", Label::None), ("c.mp4", number(0))]);
    let floats = parse("l.csv", "path,label\na.mp4,3.0\nb.mp4,10.0\nc.mp4,\n").unwrap();
    assert_eq!(
        short(&floats),
        [("a.mp4", number(3)), ("b.mp4", number(10)), ("c.mp4", Label::None)],
        "as pandas writes"
    );
    let versions = parse("l.csv", "path,label\na.mp4,3.0\nb.mp4,beta\n").unwrap();
    assert_eq!(short(&versions), [("a.mp4", name("3.0")), ("b.mp4", name("beta"))]);
    let rows = parse("l.csv", ",Video,labels\n0,a.mp4,1;2\n1,b.mp4,\"[3]\"\n2,c.mp4,\n").unwrap();
    assert_eq!(short(&rows), [("a.mp4", numbers(&[1, 2])), ("b.mp4", numbers(&[3])), ("c.mp4", Label::None)]);
    assert!(rows.iter().all(|row| row.attributes.as_json().is_empty()), "a column without a name is none");
}

#[test]
fn tables_have_times_splits_and_attributes() {
    let text =
        "path,label,start,end,split,caption\na.mp4,x,1.5,3,train,\"a man, running\"\na.mp4,x,,0.25,,\nb.mp4,x,,,val,\n";
    let rows = parse("l.csv", text).unwrap();
    assert_eq!(times(&rows[0]), Some((1_500_000, Some(3_000_000))));
    assert_eq!(times(&rows[1]), Some((0, Some(250_000))));
    assert_eq!(times(&rows[2]), None);
    let attributes = json!({"start": 1.5, "end": 3, "split": "train", "caption": "a man, running"});
    assert_eq!(Value::Object(rows[0].attributes.to_map()), attributes);
    assert_eq!((rows[0].split.as_deref(), rows[1].split.as_deref()), (Some("train"), None));
    let dir = folder(&[], ("l.csv", text));
    let options =
        InputOptions { segments: SegmentClock::Ignore, root: Some("/data".into()), ..InputOptions::default() };
    let whole = read_in(dir.path(), "l.csv", &options).unwrap().videos;
    assert_eq!((times(&whole[0]), whole[0].path.as_path()), (None, Path::new("/data/a.mp4")));
}

#[test]
fn json_lines_have_what_tables_have() {
    let text = concat!(
        r#"{"file_name": "a.mp4", "label": 3, "start": 2, "end": 2.5, "boxes": [1, 2]}"#,
        "\n\n",
        r#"{"video": "b c.mp4", "label": null}"#,
        "\n",
    );
    let rows = parse("metadata.jsonl", text).unwrap();
    assert_eq!(short(&rows), [("a.mp4", number(3)), ("b c.mp4", Label::None)]);
    assert_eq!(times(&rows[0]), Some((2_000_000, Some(2_500_000))));
    assert_eq!(rows[0].attributes.to_map()["boxes"], json!([1, 2]));
    let rows =
        parse("l.ndjson", "{\"path\": \"a\", \"label\": [\"x\", \"y\"]}\n{\"path\": \"b\", \"labels\": []}\n").unwrap();
    let many = Label::Many(vec![Tag::Name("x".into()), Tag::Name("y".into())]);
    assert_eq!(short(&rows), [("a", many), ("b", Label::Many(vec![]))]);
}

#[test]
fn lists_have_a_path_and_labels() {
    let ucf = "ApplyEyeMakeup/v_ApplyEyeMakeup_g08_c01.avi 1\r\nArchery/v_Archery_g08_c01.avi 3\r\n";
    let rows = parse("trainlist01.txt", ucf).unwrap();
    assert_eq!(
        short(&rows),
        [("ApplyEyeMakeup/v_ApplyEyeMakeup_g08_c01.avi", number(1)), ("Archery/v_Archery_g08_c01.avi", number(3))]
    );
    let rows = parse("l.txt", "my video 2.mp4 5\nb.mp4 7\n").unwrap();
    assert_eq!(short(&rows), [("my video 2.mp4", number(5)), ("b.mp4", number(7))]);
    let rows = parse("l.txt", "a 1.mp4 3 4\nb.mp4 5\nc d.mp4\n").unwrap();
    assert_eq!(short(&rows), [("a 1.mp4", numbers(&[3, 4])), ("b.mp4", numbers(&[5])), ("c d.mp4", numbers(&[]))]);
    let rows = parse("l.txt", "a.mp4 run\nb c.mp4 jump\n").unwrap();
    assert_eq!(short(&rows), [("a.mp4", name("run")), ("b c.mp4", name("jump"))]);
    let rows = parse("l.txt", "clip 7 3\thigh jump\nx\ty z\n").unwrap();
    assert_eq!(short(&rows), [("clip 7 3", name("high jump")), ("x", name("y z"))]);
    // PyTorchVideo and SlowFast use the extension of a table, but no header.
    assert_eq!(
        short(&parse("train.csv", "a b.mp4 0\nc.mp4 1\n").unwrap()),
        [("a b.mp4", number(0)), ("c.mp4", number(1))]
    );
    assert_eq!(short(&parse("train.csv", "a b.mp4,2\nc.mp4,1\n").unwrap())[0], ("a b.mp4", number(2)));
}

#[test]
fn lists_of_folders_of_frames_say_how_many_there_are() {
    let dir = folder(&["some/clip/img_1.jpg"], ("rawframes.txt", "some/clip 163 1\nother.mp4 2\n"));
    let rows = read_in(dir.path(), "rawframes.txt", &InputOptions::default()).unwrap().videos;
    assert_eq!(short(&rows), [("some/clip", number(1)), ("other.mp4", number(2))]);
    assert_eq!(rows[0].attributes.to_map()["total_frames"], 163);
}

#[test]
fn a_list_without_labels_has_folders_for_classes_if_they_are_given() {
    let dir = folder(&[], ("testlist01.txt", "Archery/v_Archery_g01_c01.avi\nElse/x.avi\n"));
    fs::write(dir.path().join("classInd.txt"), "1 Apply\n2 Archery\n").unwrap();
    let read = |classes| {
        let options = InputOptions { classes, ..InputOptions::default() };
        read_in(dir.path(), "testlist01.txt", &options).unwrap().videos
    };
    assert!(read(None).iter().all(|row| row.label == Label::None));
    let rows = read(Some(dir.path().join("classInd.txt")));
    assert_eq!((&rows[0].label, &rows[1].label), (&name("Archery"), &Label::None));
}

#[test]
fn kinetics_finds_files_with_and_without_times() {
    let text = "label,youtube_id,time_start,time_end,split\n\
        playing harp,--abc_DEF-1,5,15,train\nhigh kick,whole_video,10,20,train\nhigh kick,gone,1,11,train\nplaying harp,twice,0,10,val\n";
    let files = [
        "playing harp/--abc_DEF-1_000005_000015.mp4",
        "whole_video.mkv",
        "gone.txt",
        "playing_harp/twice_000000_000010.mp4",
    ];
    let dir = folder(&files, ("kinetics.csv", text));
    let rows = read_in(dir.path(), "kinetics.csv", &InputOptions::default()).unwrap().videos;
    let found: Vec<_> = rows.iter().map(|r| (r.source.as_str(), times(r))).collect();
    assert_eq!(
        found,
        [
            ("playing harp/--abc_DEF-1_000005_000015.mp4", None),
            ("whole_video.mkv", Some((10_000_000, Some(20_000_000)))),
            ("gone_000001_000011.mp4", Some((1_000_000, Some(11_000_000)))),
            ("playing_harp/twice_000000_000010.mp4", None),
        ]
    );
    let attributes = json!({"youtube_id": "--abc_DEF-1", "time_start": 5, "time_end": 15, "split": "train"});
    assert_eq!(Value::Object(rows[0].attributes.to_map()), attributes);
    assert_eq!((&rows[1].label, rows[3].split.as_deref()), (&name("high kick"), Some("val")));
    assert!(rows[0].path.exists() && !rows[2].path.exists());
    let test_set = parse("test.csv", "youtube_id,time_start,time_end,split\nx,1,2,test\n").unwrap();
    assert_eq!(short(&test_set), [("x_000001_000002.mp4", Label::None)]);
}

#[test]
fn something_something_takes_its_own_classes() {
    let text = r#"[
        {"id": "78687", "label": "holding potato next to vicks", "template": "Holding [something] next to [something]", "placeholders": ["potato", "vicks"]},
        {"id": 3, "label": "pushing a cup", "template": "Pushing [something]"}]"#;
    let dir = folder(&["videos/78687.webm", "3/00001.jpg"], ("train.json", text));
    let read = || read_in(dir.path(), "train.json", &InputOptions::default());
    assert!(read().err().unwrap().to_string().contains("no labels.json"));
    fs::write(
        dir.path().join("labels.json"),
        r#"{"Pushing something": "1", "Holding something next to something": "0"}"#,
    )
    .unwrap();
    let Manifest { videos: found, classes, .. } = read().unwrap();
    assert_eq!(
        short(&found),
        [("videos/78687.webm", name("Holding something next to something")), ("3", name("Pushing something"))]
    );
    assert_eq!(classes.unwrap().names, ["Holding something next to something", "Pushing something"]);
    let attributes =
        json!({"id": "78687", "caption": "holding potato next to vicks", "placeholders": ["potato", "vicks"]});
    assert_eq!(Value::Object(found[0].attributes.to_map()), attributes);
    let test_set = parse("test.json", r#"[{"id": "1420"}]"#).unwrap();
    assert_eq!(short(&test_set), [("1420.webm", Label::None)]);
}

/// Returns what is wrong with the rows of a manifest.
fn faults(name: &str, text: impl AsRef<[u8]>) -> Vec<(String, String)> {
    let dir = folder(&[], (name, ""));
    fs::write(dir.path().join(name), text).unwrap();
    let videos = read_in(dir.path(), name, &InputOptions::default()).unwrap().videos;
    videos.into_iter().filter_map(|video| Some((video.source, video.fault?.into()))).collect()
}

#[test]
fn other_encodings_are_named_with_the_line() {
    for (file, text, line) in [
        ("l.csv", &b"path,label\r\na.mp4,x\r\nb.mp4,caf\xe9\r\n"[..], 3),
        ("l.txt", b"a.mp4 1\nb\xe9.mp4 2\n", 2),
        ("l.jsonl", b"{\"path\": \"a.mp4\"}\n{\"path\": \"caf\xe9\"}\n", 2),
    ] {
        let found = faults(file, text);
        let [(source, fault)] = &found[..] else { panic!("{file}: {found:?}") };
        assert_eq!(*source, format!("{file}:{line}"));
        assert!(
            fault.contains(&format!("line {line}")) && fault.contains("0xe9") && fault.contains("iconv -f CP1252"),
            "{fault}"
        );
    }
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = |text: &str| [b"\xff\xfe".to_vec(), wide(text)].concat();
    for (file, bytes, part) in [
        ("l.csv", marked("path,label\na.mp4,x\n"), "UTF-16"),
        ("l.txt", marked("a.mp4 1\n"), "iconv -f UTF-16 "),
        ("l.jsonl", wide("{\"path\": \"a\"}\n"), "UTF-16LE"),
        ("l.json", b"[\n{\"id\": \"caf\xe9\"}]".to_vec(), "line 2: the byte 0xe9"),
        ("l.csv", b"PK\x03\x04 xl".to_vec(), "office program"),
    ] {
        let dir = folder(&[], (file, ""));
        fs::write(dir.path().join(file), bytes).unwrap();
        let e = read_in(dir.path(), file, &InputOptions::default()).err().unwrap().to_string();
        assert!(e.contains(part) && e.contains(file), "{e}");
    }
}

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
fn lst_files_have_an_index_labels_and_a_path() {
    let rows = parse("train.lst", "0\t3.000000\ta/b c.mp4\n17\t0\td.mp4\n").unwrap();
    assert_eq!(short(&rows), [("a/b c.mp4", number(3)), ("d.mp4", number(0))]);
    assert_eq!(rows[1].attributes.to_map()["index"], 17);
    let rows = parse("train.lst", "0\t3\t4.0\ta.mp4\n1\t0\td.mp4\n").unwrap();
    assert_eq!(short(&rows), [("a.mp4", numbers(&[3, 4])), ("d.mp4", numbers(&[0]))]);
    let rows = parse("test.lst", "0\t-1.000000\ta.mp4\n1\t2\tb.mp4\n2\t-1\tc.mp4\n").unwrap();
    assert_eq!(short(&rows), [("a.mp4", Label::None), ("b.mp4", number(2)), ("c.mp4", Label::None)]);
}

#[test]
fn kinetics_finds_files_with_and_without_times() {
    let text = "label,youtube_id,time_start,time_end,split\n\
        playing harp,--abc_DEF-1,5,15,train\nhigh kick,whole_video,10,20,train\nhigh kick,gone,1,11,train\nplaying harp,twice,0,10,val\n";
    let files = [
        "playing harp/--abc_DEF-1_000005_000015.mp4",
        "whole_video.mkv",
        "gone.txt",
        "high_kick/twice_000000_000010.mp4",
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

#[test]
fn a_table_has_some_thousand_columns_at_most() {
    let table = |columns: usize| {
        let names: String = (0..columns).map(|i| format!(",c{i}")).collect();
        parse("l.csv", &format!("path{names}\na.mp4{}\n", ",1".repeat(columns)))
    };
    assert_eq!(table(4095).unwrap()[0].attributes.to_map().len(), 4095);
    let e = table(4096).err().unwrap();
    assert_eq!(e.kind(), vidrec_format::error::ErrorKind::Limit);
    assert!(e.to_string().contains("at most 4096") && e.to_string().contains("4097"), "{e}");
    let no_path: String = (0..4000).map(|i| format!("c{i},")).collect();
    let e = parse("l.csv", &format!("{no_path}\n")).err().unwrap().to_string();
    assert!(e.contains("\"c19\" and 3981 more") && !e.contains("c20"), "{e}");
}

#[test]
#[cfg(unix)]
fn lists_name_files_whose_names_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let dir = folder(&[], ("l.txt", "a/x\\xFF.mp4 1\na/x\\xFE.mp4 2\nplain\\x41.mp4 3\n"));
    let rows = read_in(dir.path(), "l.txt", &InputOptions::default()).unwrap().videos;
    let below = |i: usize| rows[i].path.strip_prefix(dir.path()).unwrap().as_os_str().as_bytes();
    assert_eq!([below(0), below(1), below(2)], [&b"a/x\xff.mp4"[..], b"a/x\xfe.mp4", br"plain\x41.mp4"]);
    let sources: Vec<&str> = rows.iter().map(|row| row.source.as_str()).collect();
    assert_eq!(sources, [r"a/x\xFF.mp4", r"a/x\xFE.mp4", r"plain\x41.mp4"]);
}

/// Returns what is wrong with the rows of a manifest.
fn faults(name: &str, text: impl AsRef<[u8]>) -> Vec<(String, String)> {
    let dir = folder(&[], (name, ""));
    fs::write(dir.path().join(name), text).unwrap();
    let videos = read_in(dir.path(), name, &InputOptions::default()).unwrap().videos;
    videos.into_iter().filter_map(|video| Some((video.source, video.fault?.into()))).collect()
}

#[test]
fn a_bad_row_costs_itself_and_names_file_line_and_column() {
    for (file, text, source, parts) in [
        ("l.csv", "path,label\na.mp4,1\n,2\n", "l.csv:3", &["line 3", "column \"path\"", "empty"][..]),
        ("l.csv", "path,label\r\na.mp4,1\r\n\r\nb.mp4\r\n", "b.mp4", &["line 4", "expected 2 cells, found 1"]),
        ("l.csv", "path,label\na.mp4,x,1\nb.mp4,x\n", "a.mp4", &["line 2", "expected 2 cells, found 3"]),
        ("l.csv", "path,note\na.mp4,\"x\nb.mp4,y\n", "a.mp4", &["line 2", "quote"]),
        ("l.csv", "path,label\na.mp4,1\na.mp4,99999999\n", "a.mp4", &["line 3", "\"label\"", "too large", "16777216"]),
        ("l.csv", "path,label\na.mp4,1\nb.mp4,-5\n", "b.mp4", &["line 3", "-5 is negative", "0 to"]),
        (
            "l.csv",
            "path,label\na.mp4,run\nb.mp4,-1\n",
            "b.mp4",
            &["line 3", "-1 is negative", "an empty cell means no label"],
        ),
        ("l.csv", "path,labels\na.mp4,3;-2\n", "a.mp4", &["line 2", "-2 is negative"]),
        ("l.csv", "path,label\na.mp4,1.0\nb.mp4,2.5\n", "b.mp4", &["line 3", "2.5 is not a whole number"]),
        ("l.txt", "a.mp4 1\nb.mp4 -1\n", "b.mp4", &["line 2", "-1 is negative"]),
        ("l.txt", "a.mp4 1\n# b.mp4 2\n", "# b.mp4", &["line 2", "comment"]),
        ("l.txt", "a.mp4 1\nb.mp4;2\n", "b.mp4;2", &["line 2", "a semicolon separates"]),
        ("l.txt", "a.mp4,1\n", "a.mp4,1", &["line 1", "a comma separates", ".csv"]),
        ("l.jsonl", "{\"path\": \"a\", \"label\": -5}\n", "a", &["line 1", "column \"label\"", "-5 is negative"]),
        ("l.jsonl", "{\"path\": \"a\", \"label\": 1e300}\n", "a", &["line 1", "not a whole number"]),
        ("l.lst", "0\t-2\ta.mp4\n", "a.mp4", &["line 1", "column \"label\"", "-1 for no label", "-2"]),
        ("l.csv", "path,start\na.mp4,1:80\n", "a.mp4", &["line 2", "column \"start\"", "12.5", "1:80"]),
        ("l.csv", "path,start\na.mp4,-3\n", "a.mp4", &["line 2", "column \"start\"", "-3"]),
        ("l.csv", "path,start,end\na.mp4,3,2\n", "a.mp4", &["line 2", "column \"end\"", "not after the start"]),
        ("l.csv", "path,video\na.mp4,b.mp4\n", "a.mp4", &["line 2", "column \"video\"", "another column"]),
        ("l.csv", "path,labels\na.mp4,[1\n", "a.mp4", &["line 2", "column \"labels\"", "JSON array"]),
        ("l.jsonl", "{\"path\": \"a\"}\n\n{\"path\": }\n", "l.jsonl:3", &["line 3, character 10", "not a JSON object"]),
        ("l.jsonl", "{\"path\": \"a\"}\n{\"label\": 3}\n", "l.jsonl:2", &["line 2", "column \"path\""]),
        ("l.jsonl", "{\"path\": 3}\n", "l.jsonl:1", &["line 1", "column \"path\"", "expected text"]),
        ("l.txt", "a.mp4 1\n\t2\n", "l.txt:2", &["line 2", "column \"path\""]),
        ("l.lst", "0\t1\ta.mp4\n1\t2.5\tb.mp4\n", "b.mp4", &["line 2", "column \"label\"", "2.5"]),
        ("l.lst", "0\ta.mp4\n", "l.lst:1", &["line 1", "2 columns"]),
        ("l.lst", "x\t1\ta.mp4\n", "a.mp4", &["line 1", "column \"index\""]),
        (
            "l.csv",
            "label,youtube_id,time_start,time_end\nx,y,a,5\n",
            "y_000000_000005.mp4",
            &["line 2", "time_start", "\"a\""],
        ),
        ("l.json", "[{\"id\": \"1\"}, 3]", "l.json:2", &["entry 2"]),
        ("l.json", "[{\"template\": \"x\"}]", "l.json:1", &["entry 1", "\"id\""]),
    ] {
        let found = faults(file, text);
        let [(of, fault)] = &found[..] else { panic!("{text:?}: {found:?}") };
        assert_eq!(of, source, "{text:?}");
        for part in parts.iter().chain([&file]) {
            assert!(fault.contains(part), "{text:?}: {fault:?} lacks {part:?}");
        }
    }
    let some = parse("l.csv", "path,label\na.mp4,1\nb.mp4,-1\n,,\nc.mp4,2\n").unwrap();
    assert_eq!(
        short(&some),
        [("a.mp4", number(1)), ("b.mp4", Label::None), ("c.mp4", number(2))],
        "the rest is intact"
    );
}

#[test]
fn other_encodings_are_named_with_the_line() {
    for (file, text, line) in [
        ("l.csv", &b"path,label\r\na.mp4,x\r\nb.mp4,caf\xe9\r\n"[..], 3),
        ("l.txt", b"a.mp4 1\nb\xe9.mp4 2\n", 2),
        ("l.jsonl", b"{\"path\": \"a.mp4\"}\n{\"path\": \"caf\xe9\"}\n", 2),
        ("l.lst", b"0\t1\ta.mp4\n1\t2\tb\xe9.mp4\n", 2),
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
        ("l.lst", b"version https://git-lfs.github.com/spec/v1\noid".to_vec(), "a Git LFS pointer"),
        ("l.json", b"[\n{\"id\": \"caf\xe9\"}]".to_vec(), "line 2: the byte 0xe9"),
        ("l.csv", b"PK\x03\x04 xl".to_vec(), "office program"),
    ] {
        let dir = folder(&[], (file, ""));
        fs::write(dir.path().join(file), bytes).unwrap();
        let e = read_in(dir.path(), file, &InputOptions::default()).err().unwrap().to_string();
        assert!(e.contains(part) && e.contains(file), "{e}");
    }
}

#[test]
fn files_that_are_no_manifests_say_what_they_are() {
    for (file, text, parts) in [
        ("l.csv", "clip,label\na.x,1\n", &["no column", "\"path\"", "\"clip\", \"label\""][..]),
        ("l.csv", "path;label;start\na.mp4;x;0,5\n", &["semicolons", "commas between columns and points in numbers"]),
        ("l.csv", "a.mp4;x\n", &["semicolons"]),
        ("l.csv", "sep=;\npath;label\na.mp4;x\n", &["sep=;", "remove it", "commas"]),
        ("l.csv", "sep=,\npath,label\na.mp4,x\n", &["sep=,", "remove it"]),
        ("l.csv", "path\tlabel\na.mp4\tx\n", &["tabs", ".tsv"]),
        ("l.tsv", "path,label\na.mp4,x\n", &["commas", ".csv"]),
        ("l.csv", "# my list\npath,label\na.mp4,x\n", &["comment", "remove it"]),
        ("l.jsonl", "{\"label\": 3}\n", &["no column", "\"label\""]),
        ("l.jsonl", "[{\"path\": \"a.mp4\"}]", &["array", "jq -c '.[]' l.jsonl"]),
        ("l.json", "[{\"path\": \"a.mp4\", \"label\": 1}]", &["Something-Something", "jq -c '.[]' l.json"]),
        ("l.json", "{}", &["expected an array"]),
        ("l.json", "[", &["not JSON"]),
        ("l.json", "{\"path\": \"a\"}\n{\"path\": \"b\"}\n", &["not JSON", ".jsonl"]),
    ] {
        let e = parse(file, text).err().unwrap_or_else(|| panic!("{text:?} was taken")).to_string();
        for part in parts.iter().chain([&file]) {
            assert!(e.contains(part), "{text:?}: {e:?} lacks {part:?}");
        }
    }
}

#[test]
fn columns_of_times_can_be_chosen_and_half_of_a_pair_is_refused() {
    let read = |text: &str, start: Option<&str>, end: Option<&str>, segments| {
        let dir = folder(&["a.mp4"], ("l.csv", text));
        let (start_column, end_column) = (start.map(str::to_owned), end.map(str::to_owned));
        let options = InputOptions { start_column, end_column, segments, ..InputOptions::default() };
        read_in(dir.path(), "l.csv", &options)
    };
    let (player, ignore) = (SegmentClock::Player, SegmentClock::Ignore);
    let epic = "path,narration_timestamp,start_timestamp,stop_timestamp,start_frame,stop_frame\n\
                a.mp4,00:01:00.2,00:01:00.5,01:00:01.25,6030,1\n";
    let whole = read(epic, None, None, player).unwrap();
    assert_eq!((times(&whole.videos[0]), whole.notes.len()), (None, 1));
    for part in ["whole videos", "start_column = \"start_timestamp\"", "end_column = \"stop_timestamp\""] {
        assert!(whole.notes[0].contains(part), "{:?}", whole.notes);
    }
    assert!(read(epic, None, None, ignore).unwrap().notes.is_empty());
    let chosen = read(epic, Some("start_timestamp"), Some("stop_timestamp"), player).unwrap();
    assert_eq!(times(&chosen.videos[0]), Some((60_500_000, Some(3_601_250_000))));
    assert_eq!((chosen.columns.start.len(), chosen.columns.end.len(), chosen.notes.len()), (1, 1, 0));
    let known = read("path,start,end,start_time\na.mp4,1,2,9\n", Some("start_time"), Some("end"), player);
    assert!(known.unwrap().videos[0].fault.as_ref().unwrap().contains("not after the start"), "another start is taken");
    for (text, start, parts) in [
        (epic, Some("start_timestamp"), &["\"stop_timestamp\" may be the end", "end_column = \"stop_timestamp\""][..]),
        (epic, Some("start_frame"), &["\"start_frame\"", "expected seconds", "in frames"]),
        ("path,begin,end\na.mp4,1,2\n", None, &["\"begin\" may be the start", "start_column = \"begin\""]),
        ("path,start,endTime\na.mp4,1,2\n", None, &["\"endTime\" may be the end"]),
        ("path,start,stop_frame\na.mp4,1,2\n", None, &["write a column \"end\" in seconds", "in frames"]),
        ("path,start,duration\na.mp4,1,2\n", None, &["\"duration\"", "write a column \"end\""]),
        ("path,x\na.mp4,1\n", Some("y"), &["no column \"y\"", "\"path\", \"x\""]),
    ] {
        let e = read(text, start, None, player).err().unwrap_or_else(|| panic!("{text:?} was taken")).to_string();
        assert!(parts.iter().all(|part| e.contains(part)), "{text:?}: {e}");
    }
    let open = read("path,start,fps,duration,end\na.mp4,1,2,3,\n", None, None, player).unwrap();
    assert_eq!((times(&open.videos[0]), open.notes.len()), (Some((1_000_000, None)), 0), "an open end is no half");
    let frames = read("path,start_frame,end_frame\na.mp4,1,2\n", None, None, player).unwrap().notes;
    assert!(frames[0].contains("write a column \"start\" in seconds"), "{frames:?}");
}

#[test]
fn a_manifest_says_where_it_looked_if_no_video_is_there() {
    let dir = folder(&["b.mp4"], ("l.csv", "path\na.mp4\nb.mp4\n"));
    assert!(read_in(dir.path(), "l.csv", &InputOptions::default()).unwrap().notes.is_empty());
    fs::write(dir.path().join("l.csv"), "path\nsub/a.mp4\nsub/b.mp4\n").unwrap();
    let notes = read_in(dir.path(), "l.csv", &InputOptions::default()).unwrap().notes;
    let there = dir.path().join("sub/a.mp4");
    assert!(
        notes[0].contains(there.to_str().unwrap()) && notes[0].contains("none of its videos is there"),
        "{notes:?}"
    );
    assert!(notes[0].ends_with("set root = \"DIR\""), "{notes:?}");
}

/// Returns what the columns were taken for: path, label, start, end, attributes.
fn columns(name: &str, text: &str) -> [String; 5] {
    let dir = folder(&["videos/c"], (name, text));
    let m = read_in(dir.path(), name, &InputOptions::default()).unwrap().columns;
    [m.path, m.label, m.start, m.end, m.attributes].map(|names| names.join("+"))
}

#[test]
fn every_format_says_what_its_columns_became() {
    let table = "video_path,action,start,end,fps,\na.mp4,run,1,2,25,x\n";
    assert_eq!(columns("l.csv", table), ["video_path", "", "start", "end", "action+fps"]);
    let lines = "{\"path\": \"a\", \"Label\": 1}\n{\"path\": \"b\", \"lable\": 2, \"Label\": 1}\n";
    assert_eq!(columns("l.jsonl", lines), ["path", "Label", "", "", "lable"]);
    assert_eq!(columns("l.csv", "a.mp4,run\nb.mp4,jump\n"), ["column 1", "column 2", "", "", ""]);
    assert_eq!(columns("l.txt", "a.mp4\n"), ["column 1", "", "", "", ""]);
    assert_eq!(columns("l.txt", "a.mp4 1 2\n"), ["column 1", "column 2+column 3", "", "", ""]);
    assert_eq!(columns("l.txt", "videos 30 2\n"), ["column 1", "column 3", "", "", "total_frames"]);
    assert_eq!(columns("l.lst", "0\t3\ta.mp4\n"), ["the last column", "column 2", "", "", "index"]);
    let kinetics = "label,youtube_id,time_start,time_end,split\nrun,abc,1,2,train\n";
    assert_eq!(columns("k.csv", kinetics), ["youtube_id", "label", "time_start", "time_end", ""]);
    assert_eq!(columns("s.json", "[{\"id\": \"1\", \"label\": \"a man\"}]"), ["id", "", "", "", "caption"]);
}

#[test]
fn a_missing_path_has_a_near_name() {
    for (name, text) in [("l.csv", "pth,label\na b,run\n"), ("l.jsonl", "{\"pth\": \"a.mp4\"}\n")] {
        let e = parse(name, text).unwrap_err().to_string();
        assert!(e.contains("if \"pth\" has the paths, set path_column = \"pth\""), "{e}");
    }
}

//! What `vidrec pack` says of the columns of manifests and of videos without a label, before it packs.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::common::program_runs::stderr;
use crate::pack::support::Room;

/// A folder with pictures as clips `x/1` and `y/1`, which need no `ffmpeg`.
fn folder() -> Room {
    let room = Room::new();
    for (clip, shade) in [("x/1", 40), ("y/1", 200)] {
        let picture = image::GrayImage::from_pixel(32, 32, image::Luma([shade]));
        picture.save(room.path(&format!("in/{clip}/1.png"))).unwrap();
    }
    room
}

fn pack(room: &Room, input: &str, more: &[&str]) -> Output {
    room.pack(input, &[more, &["-n", "1"]].concat())
}

/// What a pack says on standard error, and its report.
fn said(room: &Room, input: &str, more: &[&str]) -> (String, Value) {
    let run = pack(room, input, &[more, &["--json", "--progress", "none"]].concat());
    let said = stderr(&run);
    assert_eq!(run.status.code(), Some(0), "{said}");
    (said, serde_json::from_slice(&run.stdout).unwrap())
}

#[test]
fn a_column_that_may_be_the_label_is_asked_about() {
    let dir = folder();
    for (header, column) in [("path,lable", "lable"), ("path,class", "class"), ("video_path,action", "action")] {
        dir.write("in/list.csv", format!("{header},fps\nx/1,run,25\ny/1,jump,25\n"));
        let path = header.split(',').next().unwrap();
        for more in [&[][..], &["--dry-run"]] {
            let (said, report) = said(&dir, "in/list.csv", more);
            let asked = format!("did you mean \"label\"? If so, set label_column = \"{column}\"\n");
            assert!(said.contains(&asked) && said.contains("vidrec: warning: no video has a label; "), "{said}");
            let manifest = &report["manifests"][0];
            assert_eq!((&manifest["path"], &manifest["label"]), (&json!([path]), &json!([])));
            assert_eq!(manifest["attributes"], json!([column, "fps"]));
            assert_eq!(report["notes"].as_array().unwrap().len(), 2);
        }
    }
    dir.write("in/list.csv", "path,label,class\nx/1,0,run\ny/1,1,jump\n");
    let (said, report) = said(&dir, "in/list.csv", &[]);
    assert_eq!(said, "vidrec: in/list.csv: path from \"path\", label from \"label\", attributes \"class\"\n");
    assert_eq!(report["notes"], json!([]));
}

#[test]
fn videos_without_a_label_are_told() {
    let dir = folder();
    assert_eq!(said(&dir, "in", &[]).0, "", "folders are classes");
    let (all, report) = said(&dir, "in/x", &["in/y/1", "--dry-run"]);
    assert!(all.contains("warning: no video has a label") && report["labeled"] == 0, "{all}");
    dir.write("in/list.csv", "path,label\nx/1,run\ny/1,\n");
    let (some, _) = said(&dir, "in/list.csv", &[]);
    assert!(some.contains("warning: 1 of 2 videos has no label, such as y/1\n"), "{some}");
    let text = String::from_utf8(pack(&dir, "in/x/1", &[]).stdout).unwrap();
    assert!(text.contains("\n  no clip has a label\n"), "{text}");
}

#[test]
fn a_bad_row_is_told_before_the_work_and_listed_with_its_line() {
    let dir = folder();
    let rows = "x/1,run,\ny/1,run,soon\n,run,\nx/1,-3,\ny/1,jump,0\n";
    dir.write("in/list.csv", format!("path,label,start\n{rows}"));
    let run = pack(&dir, "in/list.csv", &["--json", "--progress", "none", "--picture-fps", "5"]);
    let said = stderr(&run);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["clips"], &report["failed"]), (&2.into(), &3.into()), "{said}");
    assert!(
        said.contains("warning: 3 of 5 rows of in/list.csv will be skipped, such as list.csv, line 3, column"),
        "{said}"
    );
    let listed = fs::read_to_string(dir.path("set").join(report["failures_file"].as_str().unwrap())).unwrap();
    for (line, source, why) in
        [(3, "y/1", "expected seconds"), (4, "list.csv:4", "the path is empty"), (5, "x/1", "-3 is negative")]
    {
        let told = format!("vidrec: {source}: skipped (stage open): list.csv, line {line}, column");
        assert!(said.contains(&told) && said.contains(why), "{said}");
        assert!(listed.contains(&format!("\"source\":\"{source}\"")) && listed.contains(why), "{listed}");
    }
}

#[test]
fn columns_of_times_are_named_by_options_and_never_half_taken() {
    let dir = folder();
    dir.write("in/list.csv", "path,label,start_timestamp,stop_timestamp\nx/1,a,0,1\n");
    let (asked, _) = said(&dir, "in/list.csv", &[]);
    assert!(asked.contains("whole videos are packed"), "{asked}");
    assert!(asked.contains(r#"set start_column = "start_timestamp", and end_column = "stop_timestamp""#), "{asked}");
    let chosen = ["--start-column", "start_timestamp", "--end-column", "stop_timestamp", "--picture-fps", "1"];
    let (told, report) = said(&dir, "in/list.csv", &chosen);
    assert!(told.contains("start from \"start_timestamp\", end from \"stop_timestamp\"\n"), "{told}");
    assert_eq!(report["notes"], json!([]));
    let refused = |list: &str, why: &str| {
        dir.write("in/list.csv", list);
        dir.says(1, "in/list.csv", &[], &[why]);
    };
    refused("path,begin,end\nx/1,0,1\n", r#"set start_column = "begin" if it has seconds"#);
    refused("video_file,label\nx/1,a\n", r#"if "video_file" has the paths, set path_column = "video_file""#);
    dir.write("list.csv", "path\nx/1\ny/1\n");
    let words = ["none of its videos is there", "to look elsewhere, set root"];
    dir.says(1, "list.csv", &[], &words);
}

#[test]
fn what_is_no_video_says_what_it_is() {
    let dir = folder();
    let put = |name: &str, bytes: &[u8]| drop(dir.write(&format!("in/{name}"), bytes));
    put("z/empty.mp4", b"");
    put("z/lfs.mp4", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n");
    put("z/page.mp4", b"\n <!DOCTYPE html>\n<html></html>");
    put("z/text.mp4", "Zugriff verweigert: bitte anmelden \u{e9}".as_bytes());
    put("z/record.mp4", b"\x0a\x23\xd7\xce\x10\0\0\0");
    // The head of a WebP file with the flag for animation.
    put(
        "z/moving.mp4",
        b"RIFF\x2c\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\0\0\0\0\0\0ANIM\x06\0\0\0\0\0\0\0\0\0ANMF\0\0\0\0",
    );
    // A path of another system, and an id without its ending.
    put("list.csv", b"path\nx/1\nz\\empty.mp4\nz/lfs\n");
    let failures = |input: &str, status: i32| {
        let report = dir.report(status, input, &["-n", "1"]);
        let failures = report["failures"].as_array().unwrap();
        failures.iter().map(|f| f["error"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let found = failures("in/z", 1);
    let expected =
        ["0 bytes", "a Git LFS pointer", "an animated WebP", "an HTML page", "a RecordIO file", "a text file"];
    assert!(found.len() == 6 && found.iter().zip(expected).all(|(found, what)| found.contains(what)), "{found:#?}");
    let found = failures("in/list.csv", 3);
    let expected = ["has backslashes", "the folder has \"lfs.mp4\""];
    assert!(found.len() == 2 && found.iter().zip(expected).all(|(found, what)| found.contains(what)), "{found:#?}");
}

#[test]
fn inputs_without_videos_say_what_they_have() {
    let dir = folder();
    assert_eq!(pack(&dir, "in", &[]).status.code(), Some(0));
    for name in ["none/notes.txt", "none/a/b.TXT", "none/a/c.zip", "none/.hidden.mp4"] {
        dir.write(name, "x");
    }
    fs::create_dir(dir.path("bare")).unwrap();
    for (input, why) in [
        ("none", "found 2 .txt files such as \"a/b.TXT\", 1 .zip files such as \"a/c.zip\""),
        ("bare", "hidden files aside"),
        ("set", "set: this is a data set, whose videos are packed already"),
        ("set/dataset.json", "this is a data set"),
    ] {
        let run = dir.vidrec(&["pack", input, "-o", "other"]);
        let said = stderr(&run);
        assert!(run.status.code() == Some(1) && said.contains(why), "{input}: {said}");
    }
}

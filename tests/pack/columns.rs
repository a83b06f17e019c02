//! What `vidrec pack` says of the columns of manifests and of videos without a label, before it packs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A folder with pictures as clips `x/1` and `y/1`, which need no `ffmpeg`.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (clip, shade) in [("x/1", 40), ("y/1", 200)] {
        let clip = dir.path().join("in").join(clip);
        fs::create_dir_all(&clip).unwrap();
        image::GrayImage::from_pixel(32, 32, image::Luma([shade])).save(clip.join("1.png")).unwrap();
    }
    dir
}

fn pack(dir: &Path, inputs: &[&str], more: &[&str]) -> Output {
    let mut vidrec = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    vidrec
        .current_dir(dir)
        .arg("pack")
        .args(inputs)
        .args(["-n", "1", "-o", "set", "--if-exists", "replace"])
        .args(more);
    vidrec.output().unwrap()
}

/// What a pack says on standard error, and its report.
fn said(dir: &Path, inputs: &[&str], more: &[&str]) -> (String, Value) {
    let run = pack(dir, inputs, &[&["--json", "--progress", "none"], more].concat());
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(0), "{said}");
    (said, serde_json::from_slice(&run.stdout).unwrap())
}

#[test]
fn a_column_that_may_be_the_label_is_asked_about() {
    let dir = folder();
    for (header, column) in [("path,lable", "lable"), ("path,class", "class"), ("video_path,action", "action")] {
        fs::write(dir.path().join("in/list.csv"), format!("{header},fps\nx/1,run,25\ny/1,jump,25\n")).unwrap();
        let path = header.split(',').next().unwrap();
        for more in [&[][..], &["--dry-run"]] {
            let (said, report) = said(dir.path(), &["in/list.csv"], more);
            let line =
                format!("vidrec: in/list.csv: path from \"{path}\", no label, attributes \"{column}\" \"fps\"\n");
            assert!(said.contains(&line), "{said}");
            let asked = format!(
                "vidrec: warning: in/list.csv: column \"{column}\" is only kept as an attribute; did you mean \"label\"? If so, set --label-column {column}\n"
            );
            assert!(said.contains(&asked) && said.contains("vidrec: warning: no video has a label; "), "{said}");
            let manifest = &report["manifests"][0];
            assert_eq!((&manifest["path"], &manifest["label"]), (&json!([path]), &json!([])));
            assert_eq!(manifest["attributes"], json!([column, "fps"]));
            assert_eq!(report["notes"].as_array().unwrap().len(), 2);
        }
    }
    fs::write(dir.path().join("in/list.csv"), "path,label,class\nx/1,0,run\ny/1,1,jump\n").unwrap();
    let (said, report) = said(dir.path(), &["in/list.csv"], &[]);
    assert_eq!(said, "vidrec: in/list.csv: path from \"path\", label from \"label\", attributes \"class\"\n");
    assert_eq!(report["notes"], json!([]));
}

#[test]
fn names_of_columns_do_not_reach_the_terminal_as_they_are() {
    let dir = folder();
    fs::write(dir.path().join("in/list.csv"), "path,label,\x1b[2Jx\nx/1,run,1\n").unwrap();
    let (said, _) = said(dir.path(), &["in/list.csv"], &[]);
    assert!(said.contains(r#"attributes "\u{1b}[2Jx""#) && !said.contains('\x1b'), "{said}");
}

#[test]
fn videos_without_a_label_are_told() {
    let dir = folder();
    assert_eq!(said(dir.path(), &["in"], &[]).0, "", "folders are classes");
    let (all, report) = said(dir.path(), &["in/x", "in/y/1"], &["--dry-run"]);
    assert!(all.contains("warning: no video has a label") && report["labeled"] == 0, "{all}");
    fs::write(dir.path().join("in/list.csv"), "path,label\nx/1,run\ny/1,\n").unwrap();
    let (some, _) = said(dir.path(), &["in/list.csv"], &[]);
    assert!(some.contains("warning: 1 of 2 videos has no label, such as y/1\n"), "{some}");
    let text = String::from_utf8(pack(dir.path(), &["in/x/1"], &[]).stdout).unwrap();
    assert!(text.contains("\n  no clip has a label\n"), "{text}");
}

#[test]
fn a_bad_row_is_told_before_the_work_and_listed_with_its_line() {
    let dir = folder();
    let rows = "x/1,run,\ny/1,run,soon\n,run,\nx/1,-3,\ny/1,jump,0\n";
    fs::write(dir.path().join("in/list.csv"), format!("path,label,start\n{rows}")).unwrap();
    let run = pack(dir.path(), &["in/list.csv"], &["--json", "--progress", "none", "--picture-fps", "5"]);
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(3), "{said}");
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["clips"], &report["failed"]), (&2.into(), &3.into()), "{said}");
    assert!(
        said.contains("warning: 3 of 5 rows of in/list.csv will be skipped, such as list.csv, line 3, column"),
        "{said}"
    );
    let listed = fs::read_to_string(dir.path().join("set").join(report["failures_file"].as_str().unwrap())).unwrap();
    for (line, source, why) in
        [(3, "y/1", "expected seconds"), (4, "list.csv:4", "the path is empty"), (5, "x/1", "-3 is negative")]
    {
        let told = format!("vidrec: {source}: skipped (stage open): list.csv, line {line}, column");
        assert!(said.contains(&told) && said.contains(why), "{said}");
        assert!(listed.contains(&format!("\"source\":\"{source}\"")) && listed.contains(why), "{listed}");
    }
    // What is mended is packed by a retry, and the rest is copied.
    fs::write(dir.path().join("in/list.csv"), format!("path,label,start\n{}", rows.replace("soon", "0"))).unwrap();
    let again =
        [&["pack", "in/list.csv", "-n", "1", "-o", "set", "--picture-fps", "5"][..], &["--if-exists", "retry-failed"]];
    let mut vidrec = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    let run = vidrec.current_dir(dir.path()).args(again.concat()).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.code() == Some(3) && text.contains("packed 3 clips"), "{text}");
}

#[test]
fn columns_of_times_are_named_by_options_and_never_half_taken() {
    let dir = folder();
    fs::write(dir.path().join("in/list.csv"), "path,label,start_timestamp,stop_timestamp\nx/1,a,0,1\n").unwrap();
    let (asked, _) = said(dir.path(), &["in/list.csv"], &[]);
    assert!(asked.contains("whole videos are packed"), "{asked}");
    assert!(asked.contains("set --start-column start_timestamp, and set --end-column stop_timestamp\n"), "{asked}");
    let chosen = ["--start-column", "start_timestamp", "--end-column", "stop_timestamp", "--picture-fps", "1"];
    let (told, report) = said(dir.path(), &["in/list.csv"], &chosen);
    assert!(told.contains("start from \"start_timestamp\", end from \"stop_timestamp\"\n"), "{told}");
    assert_eq!(report["notes"], json!([]));
    let refused = |list: &str, why: &str| {
        fs::write(dir.path().join("in/list.csv"), list).unwrap();
        let run = pack(dir.path(), &["in/list.csv"], &["--progress", "none"]);
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(1) && said.contains(why), "{list}: {said}");
    };
    refused("path,begin,end\nx/1,0,1\n", "set --start-column begin, or leave it out");
    refused("video_file,label\nx/1,a\n", "if \"video_file\" has the paths, set --path-column video_file");
    fs::write(dir.path().join("list.csv"), "path\nx/1\ny/1\n").unwrap();
    let run = pack(dir.path(), &["list.csv"], &["--progress", "none"]);
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("none of its videos is there") && said.contains("set --root DIR"), "{said}");
}

#[test]
fn what_is_no_video_says_what_it_is() {
    let dir = folder();
    let put = |name: &str, bytes: &[u8]| fs::write(dir.path().join("in").join(name), bytes).unwrap();
    fs::create_dir(dir.path().join("in/z")).unwrap();
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
    // The same letter in another normalization, and an id without its ending.
    put("z/cafe\u{301}.mp4", b"");
    put("list.csv", "path\nx/1\nz/caf\u{e9}.mp4\nz\\empty.mp4\nz/lfs\n".as_bytes());
    let failures = |input: &str, status: i32| {
        let run = pack(dir.path(), &[input], &["--json", "--progress", "none"]);
        assert_eq!(run.status.code(), Some(status), "{}", String::from_utf8_lossy(&run.stderr));
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        report["failures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["error"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let found = failures("in/z", 1);
    let expected = [
        "0 bytes",
        "0 bytes",
        "a Git LFS pointer",
        "an animated WebP",
        "an HTML page",
        "a RecordIO file",
        "a text file",
    ];
    assert!(found.len() == 7 && found.iter().zip(expected).all(|(found, what)| found.contains(what)), "{found:#?}");
    let found = failures("in/list.csv", 3);
    let expected = ["Unicode NFC and NFD", "has backslashes", "the folder has \"lfs.mp4\""];
    assert!(found.len() == 3 && found.iter().zip(expected).all(|(found, what)| found.contains(what)), "{found:#?}");
}

#[test]
fn inputs_without_videos_say_what_they_have() {
    let dir = folder();
    assert_eq!(pack(dir.path(), &["in"], &[]).status.code(), Some(0));
    fs::create_dir_all(dir.path().join("none/a")).unwrap();
    for name in ["none/notes.txt", "none/a/b.TXT", "none/a/c.zip", "none/.hidden.mp4"] {
        fs::write(dir.path().join(name), "x").unwrap();
    }
    fs::create_dir(dir.path().join("bare")).unwrap();
    for (input, why) in [
        (
            "none",
            "no videos in none: expected video files in folders that are named for their class, found 2 .txt files such as \"a/b.TXT\", \"a/c.zip\"",
        ),
        ("bare", "hidden files aside"),
        ("set", "set: this is a data set, whose videos are packed already"),
        ("set/dataset.json", "this is a data set"),
    ] {
        let run = Command::new(env!("CARGO_BIN_EXE_vidrec"))
            .current_dir(dir.path())
            .args(["pack", input, "-o", "other"])
            .output()
            .unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(1) && said.contains(why), "{input}: {said}");
    }
}

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

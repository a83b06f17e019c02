//! The subcommands that look at a data set, from outside, where names are long and classes have odd labels.

use std::path::Path;
use std::process::Command;

use crate::common;
use crate::common::program_runs::vidrec;
use serde_json::{Value, json};
use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};

/// A set in `dir/set` with a clip of one frame for each source, label and class.
fn write(dir: &Path, classes: &[&str], clips: &[(&str, Option<u32>, &str)]) {
    let mut options = WriterOptions::default();
    options.meta.classes = classes.iter().map(|c| (*c).to_owned()).collect();
    let mut writer = Writer::create(dir.join("set"), options).unwrap();
    let jpeg = common::jpeg((48, 32), 1);
    for &(source, label, class) in clips {
        let (source, class) = (source.to_owned(), class.to_owned());
        let info = ClipInfo { source, label, class, width: 48, height: 32, ..ClipInfo::default() };
        writer.append(&info, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn a_picture_has_a_row_for_each_clip_and_each_is_named() {
    let temp = tempfile::tempdir().unwrap();
    write(temp.path(), &["run"], &[("a.mp4", Some(0), "run"), ("b.mp4", None, "")]);
    let run = vidrec("view set -o sheet.PNG", temp.path());
    let said = "0 run · 48×32 · a.mp4\n1 no label · 48×32 · b.mp4\ndrew 2 frames of 2 clips to sheet.PNG\n";
    assert_eq!(String::from_utf8_lossy(&run.stdout), said);
    let bytes = std::fs::read(temp.path().join("sheet.PNG")).unwrap();
    assert_eq!(image::guess_format(&bytes).unwrap(), image::ImageFormat::Png);
    let sheet = image::load_from_memory(&bytes).unwrap().to_rgb8();
    assert_eq!(sheet.dimensions(), (48 + 8, 2 * 36 + 4));
    for name in ["e.gif", "sheet"] {
        let run = vidrec(&format!("view set -o {name}"), temp.path());
        let text = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(2) && text.contains("ends with .png"), "{text}");
        assert!(!temp.path().join(name).exists());
    }
}

#[test]
fn completions_name_every_subcommand() {
    let temp = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let text = String::from_utf8(vidrec(&format!("completions {shell}"), temp.path()).stdout).unwrap();
        assert!(["verify", "subset", "repair"].iter().all(|name| text.contains(name)), "{shell}");
    }
}

#[test]
fn classes_are_counted_by_label() {
    let class = |label: Value, class: &str, n: u64| json!({"label": label, "class": class, "clips": n, "frames": n});
    let of = |classes: &[&str], clips: &[(&str, Option<u32>, &str)], expected: Value| {
        let temp = tempfile::tempdir().unwrap();
        write(temp.path(), classes, clips);
        let run = vidrec("inspect set --stats --json", temp.path());
        assert_eq!(serde_json::from_slice::<Value>(&run.stdout).unwrap()["classes"], expected);
        String::from_utf8(vidrec("inspect set --stats", temp.path()).stdout).unwrap()
    };
    let clips = [("a", Some(2), "jump"), ("b", None, ""), ("c", Some(2), "jump")];
    let labels = [(Value::Null, "", 1), (0.into(), "run", 0), (1.into(), "walk", 0), (2.into(), "jump", 2)];
    let expected = labels.map(|(label, name, n)| class(label, name, n)).to_vec().into();
    let text = of(&["run", "walk", "jump"], &clips, expected);
    assert!(text.contains("\nclips by class\n  2  jump\n  1  (no label)\n  0  run\n"), "{text}");
    of(&[], &[("a", Some(7), ""), ("b", Some(3), "")], json!([class(3.into(), "", 1), class(7.into(), "", 1)]));
}

#[test]
fn a_table_of_changes_has_some_thousand_columns_at_most() {
    let temp = tempfile::tempdir().unwrap();
    write(temp.path(), &["run"], &[("a", Some(0), "run")]);
    let columns: String = (0..5000).map(|i| format!(",c{i}")).collect();
    std::fs::write(temp.path().join("wide.csv"), format!("source{columns}\na{}\n", ",1".repeat(5000))).unwrap();
    std::fs::write(temp.path().join("negative.csv"), "source,label\na,-1\n").unwrap();
    for (table, why) in [("wide", "expected at most 4096, found 5001"), ("negative", "label -1 is negative")] {
        let run = vidrec(&format!("subset set --changes {table}.csv -o out"), temp.path());
        let text = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(1) && text.contains(why), "{text}");
        assert!(!temp.path().join("out").exists());
    }
}

/// The system kills the program in the middle of a write, where a file gets longer than it may.
#[cfg(unix)]
#[test]
fn what_is_killed_in_a_write_leaves_no_half_of_a_file() {
    let temp = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(temp.path().join("set"), WriterOptions::default()).unwrap();
    let jpeg = common::jpeg((640, 480), 1);
    for _ in 0..2 {
        let info = ClipInfo { width: 640, height: 480, ..ClipInfo::default() };
        writer.append(&info, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).unwrap();
    }
    writer.finish().unwrap();
    for (line, made) in [("export frames set -o out", "out/000001/000.jpg"), ("view set -o sheet.png", "sheet.png")] {
        let limited = format!("ulimit -f 1; exec {} {line}", env!("CARGO_BIN_EXE_vidrec"));
        let run = Command::new("sh").args(["-c", &limited]).current_dir(temp.path()).output().unwrap();
        assert!(!run.status.success(), "{line}");
        assert!(!temp.path().join(made).exists(), "{line}: half of it is there");
        assert!(vidrec(line, temp.path()).status.success(), "{line}");
        let folder = temp.path().join(made).parent().unwrap().to_owned();
        let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let left: Vec<_> = names.filter(|name| name.ends_with(".tmp")).collect();
        assert!(temp.path().join(made).exists() && left.is_empty(), "{line}: {left:?}");
    }
}

#[test]
fn frames_are_exported_as_they_are_stored() {
    let temp = tempfile::tempdir().unwrap();
    write(temp.path(), &[], &[("a", None, ""), ("b", None, ""), ("c", None, "")]);
    let run = vidrec("export frames set --clips 2,1 -o files", temp.path());
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let set = vidrec::Dataset::open(temp.path().join("set")).unwrap();
    let stored = set.clip(2).unwrap().frame(0).unwrap();
    assert_eq!(std::fs::read(temp.path().join("files/000002/000.jpg")).unwrap(), stored.jpeg());
    assert_eq!(std::fs::read_dir(temp.path().join("files")).unwrap().count(), 3, "two clips and vidrec.json");
}

#[test]
fn what_is_damaged_or_interrupted_comes_with_the_next_command() {
    let temp = tempfile::tempdir().unwrap();
    write(temp.path(), &[], &[("a", None, ""), ("b", None, "")]);
    let said = |line: &str, status: i32| {
        let run = vidrec(line, temp.path());
        assert_eq!(run.status.code(), Some(status), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stderr).unwrap()
    };
    assert_eq!((said("inspect set", 0), said("verify set --progress none", 0)), (String::new(), String::new()));
    std::fs::create_dir(temp.path().join("set/.vidrec.pack")).unwrap();
    std::fs::write(temp.path().join("set/.vidrec.pack/plan.json"), "").unwrap();
    for command in ["inspect set", "verify set"] {
        let text = said(command, 0);
        assert!(
            text.contains("a pack that is not finished")
                && text.contains("\nvidrec: next: run the pack again with --if-exists resume"),
            "{text}"
        );
    }
    let record = common::names::file(temp.path().join("set"), "shard-00000.rec");
    let bytes = std::fs::read(&record).unwrap();
    std::fs::write(&record, &bytes[..bytes.len() - 4]).unwrap();
    for (command, status) in [("inspect set", 1), ("verify set", 3)] {
        let text = said(command, status);
        assert!(text.contains("`vidrec repair` saves"), "{text}");
    }
    // What cannot be read cannot be repaired either: a link that leads to itself.
    #[cfg(unix)]
    {
        std::fs::remove_file(&record).unwrap();
        std::os::unix::fs::symlink(record.file_name().unwrap(), &record).unwrap();
        let text = said("verify set", 3);
        assert!(!text.contains("repair"), "{text}");
    }
}

#[test]
fn a_file_where_a_folder_is_needed_is_named_as_one() {
    let temp = tempfile::tempdir().unwrap();
    write(temp.path(), &[], &[("a", Some(0), ""), ("b", Some(0), "")]);
    std::fs::write(temp.path().join("file.txt"), "").unwrap();
    for line in [
        "subset set --clips 0 -o file.txt",
        "subset set --clips 0 -o file.txt/below",
        "split set --ratio 0.5,0.5 -o file.txt",
        "export frames set -o file.txt",
        "repair set -o file.txt",
    ] {
        let run = vidrec(line, temp.path());
        let text = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(1), "{line}: {text}");
        assert!(
            text.contains("file.txt: a folder is needed, but this is a file; choose another folder"),
            "{line}: {text}"
        );
    }
}

#[test]
fn a_clip_that_is_no_number_is_refused_with_what_is_expected() {
    let temp = tempfile::tempdir().unwrap();
    for line in ["inspect set --clip foo", "view set foo -o out.png"] {
        let run = vidrec(line, temp.path());
        let text = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(2) && text.contains("'foo'") && text.contains("number"), "{line}: {text}");
    }
}

#[test]
fn a_clip_of_a_text_has_no_size() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    std::fs::write(dir.join("a.jsonl"), "{\"caption\": \"a man juggles\"}\n").unwrap();
    assert!(vidrec("import texts a.jsonl -o set", dir).status.success());
    let run = vidrec("view set -o sheet.png", dir);
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(text, "0 no label · no frames · a.jsonl:1\ndrew 0 frames of 1 clip to sheet.png\n");
}

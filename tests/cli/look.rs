//! The subcommands that look at a data set, from outside, where names are long and classes have odd labels.

use std::fs;

use vidrec::{ClipInfo, FrameData, Writer, WriterOptions};

use crate::common;
use crate::common::program_runs::{Place, stderr};

/// A folder with a data set `set`, with a clip of one frame for each source, label and class.
fn place(classes: &[&str], clips: &[(&str, Option<u32>, &str)]) -> Place {
    let place = Place::new();
    let mut options = WriterOptions::default();
    options.meta.classes = classes.iter().map(|c| (*c).to_owned()).collect();
    let mut writer = Writer::create(place.at("set"), options).unwrap();
    let jpeg = common::jpeg((48, 32), 1);
    for &(source, label, class) in clips {
        let (source, class) = (source.to_owned(), class.to_owned());
        let info = ClipInfo { source, label, class, width: 48, height: 32, ..ClipInfo::default() };
        writer.append(&info, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).unwrap();
    }
    writer.finish().unwrap();
    place
}

#[test]
fn a_picture_has_a_row_for_each_clip_and_each_is_named() {
    let place = place(&["run"], &[("a.mp4", Some(0), "run"), ("b.mp4", None, "")]);
    let said = "0 run · 48×32 · a.mp4\n1 no label · 48×32 · b.mp4\ndrew 2 frames of 2 clips to sheet.PNG\n";
    assert_eq!(place.text("view set -o sheet.PNG", 0), said);
    let bytes = fs::read(place.at("sheet.PNG")).unwrap();
    assert_eq!(image::guess_format(&bytes).unwrap(), image::ImageFormat::Png);
    let sheet = image::load_from_memory(&bytes).unwrap().to_rgb8();
    assert_eq!(sheet.dimensions(), (48 + 8, 2 * 36 + 4));
    for name in ["e.gif", "sheet"] {
        assert!(place.error(&format!("view set -o {name}"), 2).contains("ends with .png"));
        assert!(!place.at(name).exists());
    }
}

#[test]
fn completions_name_every_subcommand() {
    for shell in ["bash", "zsh", "fish"] {
        let text = Place::new().text(&format!("completions {shell}"), 0);
        assert!(["verify", "subset", "repair"].iter().all(|name| text.contains(name)), "{shell}");
    }
}

#[test]
fn a_table_of_changes_has_some_thousand_columns_at_most() {
    let place = place(&["run"], &[("a", Some(0), "run")]);
    let columns: String = (0..5000).map(|i| format!(",c{i}")).collect();
    fs::write(place.at("wide.csv"), format!("source{columns}\na{}\n", ",1".repeat(5000))).unwrap();
    fs::write(place.at("negative.csv"), "source,label\na,-1\n").unwrap();
    for (table, why) in [("wide", "expected at most 4096, found 5001"), ("negative", "label -1 is negative")] {
        assert!(place.error(&format!("subset set --changes {table}.csv -o out"), 1).contains(why), "{table}");
        assert!(!place.at("out").exists());
    }
}

#[test]
fn what_is_damaged_or_interrupted_comes_with_the_next_command() {
    let place = place(&[], &[("a", None, ""), ("b", None, "")]);
    let said = |line: &str, status: i32| stderr(&place.run(line, status));
    assert_eq!((said("inspect set", 0), said("verify set --progress none", 0)), (String::new(), String::new()));
    fs::create_dir(place.at("set/.vidrec.pack")).unwrap();
    fs::write(place.at("set/.vidrec.pack/plan.json"), "").unwrap();
    for command in ["inspect set", "verify set"] {
        let text = said(command, 0);
        assert!(
            text.contains("a pack that is not finished")
                && text.contains("\nvidrec: next: run the pack again with --if-exists resume"),
            "{text}"
        );
    }
    let record = common::names::file(place.at("set"), "shard-00000.rec");
    let bytes = fs::read(&record).unwrap();
    fs::write(&record, &bytes[..bytes.len() - 4]).unwrap();
    for (command, status) in [("inspect set", 1), ("verify set", 3)] {
        let text = said(command, status);
        assert!(text.contains("`vidrec repair` saves"), "{text}");
    }
    // What cannot be read cannot be repaired either: a link that leads to itself.
    #[cfg(unix)]
    {
        fs::remove_file(&record).unwrap();
        std::os::unix::fs::symlink(record.file_name().unwrap(), &record).unwrap();
        let text = said("verify set", 3);
        assert!(!text.contains("repair"), "{text}");
    }
}

#[test]
fn a_file_where_a_folder_is_needed_is_named_as_one() {
    let place = place(&[], &[("a", Some(0), ""), ("b", Some(0), "")]);
    fs::write(place.at("file.txt"), "").unwrap();
    for line in [
        "subset set --clips 0 -o file.txt",
        "subset set --clips 0 -o file.txt/below",
        "split set --ratio 0.5,0.5 -o file.txt",
        "export frames set -o file.txt",
        "repair set -o file.txt",
    ] {
        assert!(place.error(line, 1).contains("file.txt: a folder is needed, but this is a file"), "{line}");
    }
}

#[test]
fn a_clip_of_a_text_has_no_size() {
    let place = Place::new();
    let mut writer = Writer::create(place.at("set"), WriterOptions::default()).unwrap();
    writer.append(&ClipInfo { source: "a.txt".into(), ..ClipInfo::default() }, &[]).unwrap();
    writer.finish().unwrap();
    let text = place.text("view set -o sheet.png", 0);
    assert_eq!(text, "0 no label · no frames · a.txt\ndrew 0 frames of 1 clip to sheet.png\n");
}

//! Several inputs with videos of the same name: their sources stay apart, so edits by source touch the right one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use vidrec::Dataset;

/// A clip of one picture at `dir/clip`.
fn clip(dir: &Path, clip: &str, shade: u8) {
    let folder = dir.join(clip);
    fs::create_dir_all(&folder).unwrap();
    image::GrayImage::from_pixel(32, 32, image::Luma([shade])).save(folder.join("1.png")).unwrap();
}

/// Runs a command line and gives what it says on standard error.
fn vidrec(dir: &Path, line: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_vidrec")).current_dir(dir).args(line.split(' ')).output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success(), "{line}: {said}");
    said
}

fn sources(set: PathBuf) -> Vec<(String, String)> {
    let set = Dataset::open(set).unwrap();
    let of = |clip: vidrec::Clip<'_>| (clip.source().unwrap(), clip.class().unwrap());
    set.clips().map(|clip| of(clip.unwrap())).collect()
}

fn names(set: PathBuf) -> Vec<String> {
    sources(set).into_iter().map(|(source, _)| source).collect()
}

#[test]
fn the_same_source_in_two_folders_becomes_two() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    clip(dir, "dA/x/3", 40);
    clip(dir, "dA/x/4", 80);
    clip(dir, "dB/x/3", 120);
    clip(dir, "dC/x/5", 200);
    let said = vidrec(dir, "pack dA dB dC -n 1 -o set");
    assert!(said.contains("\"x/3\"") && said.contains("sources begin with \"dA\", \"dB\""), "{said}");
    assert_eq!(names(dir.join("set")), ["dA/x/3", "dA/x/4", "dB/x/3", "x/5"]);

    fs::write(dir.join("new.csv"), "source,label\ndB/x/3,y\n").unwrap();
    vidrec(dir, "subset set --changes new.csv -o relabeled");
    let classes: Vec<String> = sources(dir.join("relabeled")).into_iter().map(|(_, class)| class).collect();
    assert_eq!(classes, ["x", "x", "y", "x"]);

    let alone = vidrec(dir, "pack dA dC -n 1 -o alone --progress none");
    assert_eq!((alone.as_str(), names(dir.join("alone"))), ("", vec!["x/3".into(), "x/4".into(), "x/5".into()]));
}

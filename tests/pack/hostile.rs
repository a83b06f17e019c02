//! Folders of other people as inputs and as outputs: what lies outside them is not read, renamed or removed unasked.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::program_runs::stderr;
use crate::common::skip::has_decoder_faults;
use crate::common::tree;
use crate::common::until::until;
use crate::pack::support::Room;

/// A folder with `clip.mp4`, and room for more.
struct Bench(Room);

impl Deref for Bench {
    type Target = Room;

    fn deref(&self) -> &Room {
        &self.0
    }
}

impl Bench {
    fn new() -> Self {
        let bench = Bench(Room::new());
        bench.make("clip.mp4", "-f lavfi -i testsrc2=s=64x48:r=5:d=1 -c:v libx264");
        bench
    }

    /// Puts the clip there under some names.
    fn put(&self, names: &[&str]) {
        for name in names {
            fs::copy(self.path("clip.mp4"), self.path(name)).unwrap();
        }
    }

    fn link(&self, to: &str, from: &str) {
        symlink(to, self.path(from)).unwrap();
    }

    /// The report of a pack that ends with this status: of an input, and of options.
    #[track_caller]
    fn ends(&self, status: i32, line: &str) -> Value {
        let words: Vec<&str> = line.split(' ').collect();
        self.report(status, words[0], &[&words[1..], &["--frames", "2"]].concat())
    }

    fn sources(&self) -> Vec<String> {
        self.set().clips().map(|clip| clip.unwrap().source().unwrap()).collect()
    }

    #[track_caller]
    fn refusal(&self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let run = self.pack(words[0], &words[1..]);
        assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
        stderr(&run)
    }
}

#[test]
fn links_out_of_a_folder_are_followed_only_when_asked_for() {
    let bench = Bench::new();
    bench.put(&["in/a/1.mp4", "elsewhere/b/2.mp4"]);
    bench.link("1.mp4", "in/a/again.mp4");
    for (to, from) in [("../../clip.mp4", "in/a/out.mp4"), ("../elsewhere/b", "in/c"), ("/dev/zero", "in/a/zero.mp4")] {
        bench.link(to, from);
    }
    let report = bench.ends(3, "in");
    assert_eq!(bench.sources(), ["a/1.mp4", "a/again.mp4"]);
    let failed: Vec<&str> =
        report["failures"].as_array().unwrap().iter().map(|f| f["source"].as_str().unwrap()).collect();
    assert_eq!(failed, ["a/out.mp4", "a/zero.mp4", "c"]);
    let why = "leads out of the input folder; to follow it, set outside = true";
    assert!(report["failures"][0]["error"].as_str().unwrap().contains(why), "{report}");
    fs::remove_file(bench.path("in/a/zero.mp4")).unwrap();
    bench.ends(0, "in --outside");
    assert_eq!(bench.sources(), ["a/1.mp4", "a/again.mp4", "a/out.mp4", "c/2.mp4"]);
    // What is named may be a link.
    bench.link("elsewhere", "named");
    bench.ends(0, "named");
}

#[test]
fn a_list_that_was_found_leads_nowhere_else() {
    let bench = Bench::new();
    bench.put(&["in/a.mp4", "in/deep/b.mp4", "elsewhere/c.mp4"]);
    bench.link("../clip.mp4", "in/link.mp4");
    bench.link("deep/b.mp4", "in/inside.mp4");
    bench.link("../elsewhere", "in/folder");
    bench.link("../../secret.jpg", "in/frames/1.jpg");
    bench.write("secret.jpg", crate::common::jpeg((64, 48), 1));
    let list = |names: &[&str]| {
        let rows: String = names.iter().map(|name| format!("{name},x\n")).collect();
        bench.write("in/metadata.csv", format!("file_name,label\n{rows}"));
    };
    list(&["a.mp4", "deep/b.mp4", "inside.mp4"]);
    bench.ends(0, "in");
    assert_eq!(bench.sources(), ["a.mp4", "deep/b.mp4", "inside.mp4"]);
    let whole = bench.path("clip.mp4").display().to_string();
    for name in ["../clip.mp4", "deep/../../clip.mp4", &whole, "link.mp4", "folder/c.mp4", "frames"] {
        list(&["a.mp4", name]);
        let text = bench.refusal("in");
        assert!(text.contains("metadata.csv: line 3") && text.contains("--outside"), "{name}: {text}");
    }
    // Asked for, or named by itself, it is read.
    for line in ["in --outside", "in/metadata.csv"] {
        assert_eq!(bench.ends(0, line)["clips"], 2, "{line}");
    }
    for name in ["http://127.0.0.1:9/a.mp4", "s3://bucket/a.mp4", "file:///etc/passwd"] {
        list(&["a.mp4", name]);
        let text = bench.refusal("in");
        assert!(text.contains("line 3") && text.contains(name), "{name}: {text}");
    }
    // Whoever names a root may name any, and the list still leads nowhere else.
    list(&["c.mp4"]);
    bench.ends(0, "in --root elsewhere");
    list(&["../clip.mp4"]);
    assert!(bench.refusal("in --root elsewhere").contains("line 2"));
    // The list itself is no link to another file.
    fs::rename(bench.path("in/metadata.csv"), bench.path("metadata.csv")).unwrap();
    bench.link("../metadata.csv", "in/metadata.csv");
    assert!(bench.refusal("in").contains("leads out of the input folder"));
}

#[test]
fn values_beside_the_videos_of_a_found_list_are_in_the_folder() {
    let bench = Bench::new();
    bench.put(&["in/a.mp4"]);
    for name in ["secret.json", "in/values.json"] {
        bench.write(name, "[1, 2, 3, 4, 5]");
    }
    bench.link("../secret.json", "in/link.json");
    let list = |name: &str| bench.write("in/metadata.csv", format!("file_name,v\na.mp4,{name}\n"));
    list("values.json");
    bench.ends(0, "in --track v=v,frames");
    for name in ["../secret.json", "link.json"] {
        list(name);
        assert!(bench.refusal("in --track v=v,frames").contains("leads out"), "{name}");
        bench.ends(0, "in --track v=v,frames --outside");
    }
}

#[test]
fn pictures_that_are_links_out_are_no_clip() {
    let bench = Bench::new();
    for name in ["in/c/clip/1.jpg", "secret.jpg"] {
        bench.write(name, crate::common::jpeg((64, 48), 1));
    }
    bench.link("../../../secret.jpg", "in/c/clip/2.jpg");
    let report = bench.ends(1, "in");
    let error = report["failures"][0]["error"].as_str().unwrap();
    assert!(error.contains("c/clip/2.jpg") && error.contains("leads out"), "{error}");
    bench.ends(0, "in --outside");
}

/// An interrupted pack in a folder from elsewhere, whose plan and receipts say anything.
#[test]
fn the_work_of_somebody_else_removes_and_renames_nothing_outside_of_it() {
    if !has_decoder_faults() {
        return;
    }
    let bench = Bench::new();
    bench.put(&["in/a.mp4", "in/b.mp4"]);
    for name in
        ["precious.txt", "precious.rec", "elsewhere/shard-00000-0123456789ab.rec", "out/thesis.txt", "out/train.rec"]
    {
        bench.write(name, "kept");
    }
    let pack = "pack in -o out --frames 2 --shards 2 --json -j 1";
    let command = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.args(pack.split(' ')).args(more).current_dir(bench.path(""));
        command
    };
    let work = bench.path("out/.vidrec.pack");
    let kept = || {
        let mut files = tree(&bench.path(""));
        files.retain(|path, bytes| bytes == b"kept" && !path.starts_with("out/.vidrec.pack/"));
        files.into_keys().collect::<Vec<_>>()
    };
    let before = kept();
    let whole = bench.path("precious.rec").display().to_string();
    let receipt = "parts/00000.json";
    // What a value is in a file, or where a name leads.
    let harms = [
        (receipt, "/shard/record_file", "../../precious.rec".into()),
        (receipt, "/shard/record_file", json!(whole)),
        (receipt, "/shard/record_file", "train.rec".into()),
        (receipt, "/shard/index_file", "thesis.txt".into()),
        (receipt, "/shard/index_file", "shard-00001-0123456789ab.vidx".into()),
        ("plan.json", "/classes", json!(["../../precious.txt"])),
        ("", "elsewhere", Value::Null),
        ("parts", "elsewhere", Value::Null),
        ("attempts", "elsewhere", Value::Null),
        (receipt, "precious.txt", Value::Null),
        ("attempts/1/shard", "elsewhere", Value::Null),
    ];
    let harm = |(name, place, value): &(&str, &str, Value)| {
        let path = if name.is_empty() { work.clone() } else { work.join(name) };
        if !value.is_null() {
            let mut json: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            *json.pointer_mut(place).unwrap() = value.clone();
            return fs::write(&path, json.to_string()).unwrap();
        }
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(bench.path(place), path).unwrap();
    };
    for what in &harms {
        for how in ["resume", "replace"] {
            fs::remove_dir_all(bench.path("out")).unwrap();
            fs::create_dir(bench.path("out")).unwrap();
            ["out/thesis.txt", "out/train.rec"].iter().for_each(|name| fs::write(bench.path(name), "kept").unwrap());
            let mut killed = command(&[]).env("VIDREC_DECODER_FAULT", "hang:b.mp4").spawn().unwrap();
            until("a shard is finished", || work.join(receipt).exists());
            killed.kill().unwrap();
            killed.wait().unwrap();
            harm(what);
            let run = command(&["--if-exists", how]).output().unwrap();
            let text = String::from_utf8_lossy(&run.stderr);
            assert!(matches!(run.status.code(), Some(0 | 1)), "{what:?}, {how}: {text}");
            assert_eq!(kept(), before, "{what:?}, {how}: {text}");
            if run.status.code() == Some(0) {
                assert!(vidrec::verify(bench.path("out"), Default::default(), &mut vidrec::no_progress).unwrap().ok);
            } else {
                assert!(!bench.path("out/dataset.json").exists(), "{what:?}, {how}: {text}");
            }
        }
    }
}

//! Folders of other people as inputs and as outputs: what lies outside them is not read, renamed or removed unasked.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use vidrec::Dataset;

use crate::common::skip::has_decoder_faults;
use crate::common::until::until;
use crate::common::{ffmpeg_videos, tree};

/// A folder with `clip.mp4`, and room for more.
struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        let bench = Bench(tempfile::tempdir().unwrap());
        ffmpeg_videos::make("-f lavfi -i testsrc2=s=64x48:r=5:d=1 -c:v libx264", bench.at("clip.mp4"));
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Puts the clip there under some names.
    fn put(&self, names: &[&str]) {
        for name in names {
            fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
            fs::copy(self.at("clip.mp4"), self.at(name)).unwrap();
        }
    }

    fn run(&self, line: &str) -> Output {
        let words = line.split(' ').filter(|word| !word.is_empty());
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.args(words).args(["--frames", "2", "--json"]).current_dir(self.0.path()).output().unwrap()
    }

    /// The report of a pack into `out`, and its status.
    fn pack(&self, line: &str) -> (Value, Option<i32>) {
        let run = self.run(&format!("pack {line} -o out --if-exists replace"));
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        (serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {said}")), run.status.code())
    }

    fn sources(&self) -> Vec<String> {
        let set = Dataset::open(self.at("out")).unwrap();
        set.clips().map(|clip| clip.unwrap().source().unwrap().to_owned()).collect()
    }

    fn refusal(&self, line: &str) -> String {
        let run = self.run(&format!("pack {line} -o out --if-exists replace"));
        let text = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(1), "{text}");
        text
    }
}

#[test]
fn links_out_of_a_folder_are_followed_only_when_asked_for() {
    let bench = Bench::new();
    bench.put(&["in/a/1.mp4", "elsewhere/b/2.mp4"]);
    symlink("1.mp4", bench.at("in/a/again.mp4")).unwrap();
    for (to, from) in [("../../clip.mp4", "in/a/out.mp4"), ("../elsewhere/b", "in/c"), ("/dev/zero", "in/a/zero.mp4")] {
        symlink(to, bench.at(from)).unwrap();
    }
    let (report, status) = bench.pack("in");
    assert_eq!((bench.sources(), status), (vec!["a/1.mp4".into(), "a/again.mp4".into()], Some(3)), "{report}");
    let failed: Vec<&str> =
        report["failures"].as_array().unwrap().iter().map(|f| f["source"].as_str().unwrap()).collect();
    assert_eq!(failed, ["a/out.mp4", "a/zero.mp4", "c"]);
    let why = "leads out of the input folder; to follow it, set outside = true";
    assert!(report["failures"][0]["error"].as_str().unwrap().contains(why), "{report}");
    fs::remove_file(bench.at("in/a/zero.mp4")).unwrap();
    assert_eq!(bench.pack("in --outside").1, Some(0));
    assert_eq!(bench.sources(), ["a/1.mp4", "a/again.mp4", "a/out.mp4", "c/2.mp4"]);
    // What is named may be a link.
    symlink("elsewhere", bench.at("named")).unwrap();
    assert_eq!(bench.pack("named").1, Some(0));
}

#[test]
fn a_list_that_was_found_leads_nowhere_else() {
    let bench = Bench::new();
    bench.put(&["in/a.mp4", "in/deep/b.mp4", "elsewhere/c.mp4"]);
    symlink("../clip.mp4", bench.at("in/link.mp4")).unwrap();
    symlink("deep/b.mp4", bench.at("in/inside.mp4")).unwrap();
    symlink("../elsewhere", bench.at("in/folder")).unwrap();
    fs::create_dir(bench.at("in/frames")).unwrap();
    symlink("../../secret.jpg", bench.at("in/frames/1.jpg")).unwrap();
    fs::write(bench.at("secret.jpg"), crate::common::jpeg((64, 48), 1)).unwrap();
    let list = |names: &[&str]| {
        let rows: String = names.iter().map(|name| format!("{name},x\n")).collect();
        fs::write(bench.at("in/metadata.csv"), format!("file_name,label\n{rows}")).unwrap();
    };
    list(&["a.mp4", "deep/b.mp4", "inside.mp4"]);
    assert_eq!(bench.pack("in").1, Some(0));
    assert_eq!(bench.sources(), ["a.mp4", "deep/b.mp4", "inside.mp4"]);
    let whole = bench.at("clip.mp4").display().to_string();
    for name in ["../clip.mp4", "deep/../../clip.mp4", &whole, "link.mp4", "folder/c.mp4", "frames"] {
        list(&["a.mp4", name]);
        let text = bench.refusal("in");
        assert!(text.contains("metadata.csv: line 3") && text.contains("--outside"), "{name}: {text}");
    }
    // Asked for, or named by itself, it is read.
    for line in ["in --outside", "in/metadata.csv"] {
        let (report, status) = bench.pack(line);
        assert_eq!((report["clips"].as_u64(), status), (Some(2), Some(0)), "{line}: {report}");
    }
    for name in ["http://127.0.0.1:9/a.mp4", "s3://bucket/a.mp4", "file:///etc/passwd"] {
        list(&["a.mp4", name]);
        let text = bench.refusal("in");
        assert!(text.contains("line 3") && text.contains(name), "{name}: {text}");
    }
    // Whoever names a root may name any, and the list still leads nowhere else.
    list(&["c.mp4"]);
    assert_eq!(bench.pack("in --root elsewhere").1, Some(0));
    list(&["../clip.mp4"]);
    assert!(bench.refusal("in --root elsewhere").contains("line 2"));
    // The list itself is no link to another file.
    fs::rename(bench.at("in/metadata.csv"), bench.at("metadata.csv")).unwrap();
    symlink("../metadata.csv", bench.at("in/metadata.csv")).unwrap();
    assert!(bench.refusal("in").contains("leads out of the input folder"));
}

#[test]
fn values_beside_the_videos_of_a_found_list_are_in_the_folder() {
    let bench = Bench::new();
    bench.put(&["in/a.mp4"]);
    fs::write(bench.at("secret.json"), "[1, 2, 3, 4, 5]").unwrap();
    fs::write(bench.at("in/values.json"), "[1, 2, 3, 4, 5]").unwrap();
    symlink("../secret.json", bench.at("in/link.json")).unwrap();
    let list = |name: &str| fs::write(bench.at("in/metadata.csv"), format!("file_name,v\na.mp4,{name}\n")).unwrap();
    list("values.json");
    assert_eq!(bench.pack("in --track v=v,frames").1, Some(0));
    for name in ["../secret.json", "link.json"] {
        list(name);
        assert!(bench.refusal("in --track v=v,frames").contains("leads out"), "{name}");
        assert_eq!(bench.pack("in --track v=v,frames --outside").1, Some(0), "{name}");
    }
}

#[test]
fn pictures_that_are_links_out_are_no_clip() {
    let bench = Bench::new();
    fs::create_dir_all(bench.at("in/c/clip")).unwrap();
    for name in ["in/c/clip/1.jpg", "secret.jpg"] {
        fs::write(bench.at(name), crate::common::jpeg((64, 48), 1)).unwrap();
    }
    symlink("../../../secret.jpg", bench.at("in/c/clip/2.jpg")).unwrap();
    let run = bench.run("pack in -o out");
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let error = report["failures"][0]["error"].as_str().unwrap();
    assert!(error.contains("c/clip/2.jpg") && error.contains("leads out"), "{error}");
    assert_eq!(bench.pack("in --outside").1, Some(0));
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
        fs::create_dir_all(bench.at(name).parent().unwrap()).unwrap();
        fs::write(bench.at(name), "kept").unwrap();
    }
    let pack = "pack in -o out --frames 2 --shards 2 --json -j 1";
    let command = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.args(pack.split(' ')).args(more).current_dir(bench.0.path());
        command
    };
    let work = bench.at("out/.vidrec.pack");
    let kept = || {
        let mut files = tree(bench.0.path());
        files.retain(|path, bytes| bytes == b"kept" && !path.starts_with("out/.vidrec.pack/"));
        files.into_keys().collect::<Vec<_>>()
    };
    let before = kept();
    let whole = bench.at("precious.rec").display().to_string();
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
        symlink(bench.at(place), path).unwrap();
    };
    for what in &harms {
        for how in ["resume", "replace"] {
            fs::remove_dir_all(bench.at("out")).unwrap();
            fs::create_dir(bench.at("out")).unwrap();
            ["out/thesis.txt", "out/train.rec"].iter().for_each(|name| fs::write(bench.at(name), "kept").unwrap());
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
                assert!(vidrec::verify(bench.at("out"), Default::default(), &mut vidrec::no_progress).unwrap().ok);
            } else {
                assert!(!bench.at("out/dataset.json").exists(), "{what:?}, {how}: {text}");
            }
        }
    }
}

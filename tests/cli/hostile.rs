//! Data sets, servers and leftovers of other people: what they name is not written, replaced, removed or waited for.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cli::remote::Served;
use crate::common::names::file;
use crate::common::rich::Rich;
use crate::common::{self, tree};

/// Changes the `dataset.json` of a data set.
fn edit(set: &Path, change: impl FnOnce(&mut Value)) {
    let path = set.join("dataset.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut json);
    fs::write(&path, json.to_string()).unwrap();
}

/// A list of failures of these bytes, as `dataset.json` has it.
fn failures(name: &str, count: u64, bytes: &[u8]) -> Value {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"file": name, "count": count, "sha256": digits})
}

/// Runs a command that must come to an end.
fn ends(line: &str, dir: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    command.args(line.split(' ')).current_dir(dir).stdin(Stdio::null());
    common::data_set_server::ends(line, move || command.output().unwrap())
}

fn refusal(line: &str, dir: &Path) -> String {
    let run = ends(line, dir);
    let text = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(1), "{line}: {text}");
    text
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_server_chooses_no_name() {
    let served = Served::new();
    let profile = "rm -rf /";
    fs::write(served.path("set/.bashrc"), profile).unwrap();
    fs::write(served.path("set/notes.txt"), profile).unwrap();
    let home = served.path("home");
    fs::create_dir(&home).unwrap();
    let outside = [".bashrc", "notes.txt", "../notes.txt", "/etc/passwd", "failures.jsonl/..", "x\u{0}.rec"];
    for name in outside.into_iter().chain(["-rf.rec", "$(touch x).rec", "a b.rec", "é.rec"]) {
        fs::write(home.join(".bashrc"), "mine").unwrap();
        edit(&served.path("set"), |json| json["failures"] = failures(name, 1, profile.as_bytes()));
        for force in ["", " --overwrite"] {
            let text = served.refusal(&format!("fetch U/set -o home{force}"), 1);
            assert!(
                text.contains("dataset.json") && text.contains("a data set cannot have a file of this name"),
                "{text}"
            );
        }
        assert_eq!(tree(&home).len(), 1, "nothing was created");
        assert_eq!(fs::read(home.join(".bashrc")).unwrap(), b"mine");
    }
}

#[test]
fn a_file_that_is_not_listed_is_replaced_only_when_told() {
    let served = Served::new();
    let record = file(served.path("set"), "shard-00000.rec");
    let name = record.file_name().unwrap().to_str().unwrap().to_owned();
    fs::rename(&record, served.path("set/train.rec")).unwrap();
    edit(&served.path("set"), |json| json["shards"][0]["record_file"] = "train.rec".into());
    fs::create_dir(served.path("copy")).unwrap();
    fs::write(served.path("copy/train.rec"), "my own records").unwrap();
    served.server.reset_counts();
    let text = served.refusal("fetch U/set -o copy", 1);
    assert!(text.contains("train.rec") && text.contains("does not list it") && text.contains("--overwrite"), "{text}");
    assert_eq!(served.server.counts().requests, 1, "nothing is fetched in vain");
    assert_eq!(tree(&served.path("copy")).len(), 1);
    assert_eq!(fs::read(served.path("copy/train.rec")).unwrap(), b"my own records");
    served.text("fetch U/set -o copy --overwrite");
    assert_eq!(tree(&served.path("copy")), tree(&served.path("set")));
    // A second time, the file is listed.
    fs::write(served.path("copy/train.rec"), "damaged").unwrap();
    served.text("fetch U/set -o copy");
    assert_eq!(tree(&served.path("copy")), tree(&served.path("set")));
    // Where the data set has another name for it, it goes; the record file of another program stays.
    fs::rename(served.path("set/train.rec"), served.path("set").join(&name)).unwrap();
    edit(&served.path("set"), |json| json["shards"][0]["record_file"] = name.into());
    served.text("fetch U/set -o copy --overwrite");
    assert!(served.path("copy/train.rec").exists());
}

#[test]
fn lists_of_failures_that_are_not_listed_stay() {
    let served = Served::new();
    fs::create_dir(served.path("videos")).unwrap();
    fs::write(served.path("videos/broken.mp4"), "nonsense").unwrap();
    // What a pack of this video writes, as somebody else may have named another text.
    served.refusal("pack videos -o first", 1);
    let list = fs::read_dir(served.path("first")).unwrap().next().unwrap().unwrap().file_name();
    let names = [list.to_str().unwrap(), "failures-0123456789ab.jsonl", "failures.jsonl"];
    let lay_out = |out: &Path| {
        let _ = fs::remove_dir_all(out);
        fs::create_dir(out).unwrap();
        names.iter().for_each(|name| fs::write(out.join(name), "mine").unwrap());
    };
    let out = served.path("out");
    for line in ["fetch U/set -o out", "subset set -o out --class run", "merge set set -o out", "pack videos -o out"] {
        lay_out(&out);
        let run = served.run(line);
        assert_eq!(run.status.success(), !line.starts_with("pack"), "{line}: {}", String::from_utf8_lossy(&run.stderr));
        names.iter().for_each(|name| assert_eq!(fs::read(out.join(name)).unwrap(), b"mine", "{line}: {name}"));
    }
    lay_out(&out);
    // Where a data set is replaced, its own list goes, and no other.
    served.text("subset set -o out --class run");
    let own = b"{}\n";
    fs::write(out.join("failures-abababababab.jsonl"), own).unwrap();
    edit(&out, |json| json["failures"] = failures("failures-abababababab.jsonl", 1, own));
    served.text("subset set -o out --class run --overwrite");
    assert!(!out.join("failures-abababababab.jsonl").exists());
    names.iter().for_each(|name| assert_eq!(fs::read(out.join(name)).unwrap(), b"mine", "{name}"));
}

#[test]
fn a_server_does_not_fill_the_disk() {
    let served = Served::new();
    let set = served.path("small");
    Rich { shards: &[1], ..Rich::default() }.write(&set);
    let index = file(&set, "shard-00000.vidx");
    let length = fs::metadata(&index).unwrap().len();
    fs::File::options().write(true).open(&index).unwrap().set_len(300 << 20).unwrap();
    let text = served.refusal("fetch U/small -o copy", 1);
    assert!(text.contains(".vidx") && text.contains("too long for the clips"), "{text}");
    fs::File::options().write(true).open(&index).unwrap().set_len(length).unwrap();
    let list = vec![b'x'; 3 << 20];
    fs::write(set.join("failures-0123456789ab.jsonl"), &list).unwrap();
    edit(&set, |json| json["failures"] = failures("failures-0123456789ab.jsonl", 1, &list));
    let text = served.refusal("fetch U/small -o copy", 1);
    assert!(text.contains(".jsonl") && text.contains("too long for the clips"), "{text}");
    // More records than there is room for are not begun.
    edit(&set, |json| {
        (json["bytes"], json["shards"][0]["bytes"]) = ((1u64 << 60).into(), (1u64 << 60).into());
    });
    let text = served.refusal("fetch U/small -o copy", 1);
    assert!(text.contains("room for") && text.contains("free some space"), "{text}");
}

#[test]
fn a_list_of_changes_of_somebody_else_removes_nothing_that_vidrec_did_not_name() {
    let temp = tempfile::tempdir().unwrap();
    let set = temp.path().join("vp");
    [&set, &temp.path().join("same")].into_iter().for_each(|set| Rich { shards: &[2], ..Rich::default() }.write(set));
    fs::write(set.join("thesis.txt"), "years").unwrap();
    fs::write(set.join("thesis.rec"), "of work").unwrap();
    fs::write(temp.path().join("elsewhere.vidx"), "").unwrap();
    let before = tree(temp.path());
    let list = set.join(".vidrec.changes");
    for name in
        ["thesis.txt", "../elsewhere.vidx", "/etc/passwd", "..", "", "vp/thesis.rec", "dataset.json", ".vidrec.lock"]
    {
        fs::write(&list, json!({"files": [name]}).to_string()).unwrap();
        let text = refusal("merge same --append -o vp", temp.path());
        assert!(text.contains(".vidrec.changes") && text.contains("remove the file"), "{name}: {text}");
        assert!(ends("inspect vp", temp.path()).status.success(), "a reader does not look");
        fs::remove_file(&list).unwrap();
        assert_eq!(tree(temp.path()), before, "{name}");
    }
    // Another program may have named it, or the data set lists it.
    let own = tree(&set).into_keys().filter(|path| path.contains("shard-"));
    let names: Vec<_> = own.chain(["thesis.rec".into()]).collect();
    assert_eq!(names.len(), 3);
    fs::write(&list, json!({"files": names}).to_string()).unwrap();
    // It has these clips already, so nothing is added.
    assert!(ends("merge same --append -o vp", temp.path()).status.success());
    assert_eq!(tree(temp.path()), before);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let temp = tempfile::tempdir().unwrap();
    let set = temp.path().join("set");
    let original = temp.path().join("original");
    Rich { shards: &[2], ..Rich::default() }.write(&original);
    let put = |name: &str, how: &dyn Fn(&Path)| {
        let _ = fs::remove_dir_all(&set);
        fs::create_dir(&set).unwrap();
        tree(&original).iter().for_each(|(name, bytes)| fs::write(set.join(name), bytes).unwrap());
        let path = if name.starts_with("shard") { file(&set, name) } else { set.join(name) };
        let _ = fs::remove_file(&path);
        how(&path);
    };
    for name in ["shard-00000.rec", "shard-00000.vidx", "dataset.json"] {
        let zero = |path: &Path| symlink("/dev/zero", path).unwrap();
        for lines in [["inspect set", "repair set"], ["verify set", "merge set original -o merged"]] {
            put(name, if lines[0] == "inspect set" { &pipe } else { &zero });
            for line in lines {
                let run = ends(line, temp.path());
                let text = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
                // A repair does without the list.
                let can_be = line == "repair set" && name == "dataset.json";
                assert!(can_be || !run.status.success(), "{name}: {line}: {text}");
                let said = text.contains("not a regular file") || text.contains("a symbolic link");
                let said = said || line == "repair set";
                assert!(said, "{name}: {line}: {text}");
            }
        }
    }
    for name in [".vidrec.lock", ".vidrec.changes", ".vidrec.pack", ".dataset.json.tmp", ".shard-00001.rec.tmp"] {
        put(name, &pipe);
        for line in ["inspect set", "merge original --append -o set"] {
            ends(line, temp.path());
        }
        // What only vidrec writes is no link either.
        fs::write(temp.path().join("victim"), "kept").unwrap();
        put(name, &|path| symlink(temp.path().join("victim"), path).unwrap());
        let run = ends("merge original --append -o set", temp.path());
        let text = String::from_utf8_lossy(&run.stderr);
        assert!(name != ".vidrec.lock" || text.contains("set/.vidrec.lock: this is a symbolic link"), "{text}");
        assert_eq!(fs::read(temp.path().join("victim")).unwrap(), b"kept");
    }
}

#[test]
fn an_output_replaces_no_pipe() {
    let temp = tempfile::tempdir().unwrap();
    Rich { shards: &[2], ..Rich::default() }.write(&temp.path().join("set"));
    pipe(&temp.path().join("page.html"));
    let text = refusal("browse set --export page.html", temp.path());
    assert!(text.contains("page.html: this is not a regular file: found a named pipe"), "{text}");
}

#[test]
fn record_files_may_be_links_to_another_disk() {
    let temp = tempfile::tempdir().unwrap();
    let (set, disk) = (temp.path().join("set"), temp.path().join("disk"));
    Rich { shards: &[2, 1], ..Rich::default() }.write(&set);
    fs::create_dir(&disk).unwrap();
    for name in tree(&set).keys() {
        fs::rename(set.join(name), disk.join(name)).unwrap();
        symlink(disk.join(name), set.join(name)).unwrap();
    }
    for line in ["inspect set", "verify set --deep", "merge set -o copy", "verify copy --deep"] {
        let run = ends(line, temp.path());
        assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

#[test]
fn a_large_list_takes_a_few_times_its_size() {
    let temp = tempfile::tempdir().unwrap();
    let set = temp.path().join("set");
    Rich { shards: &[1], ..Rich::default() }.write(&set);
    let limited = |line: &str| {
        let mut command = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_vidrec");
        command.args(["-c", &format!("ulimit -v 2000000; exec {program} {line}")]).current_dir(temp.path());
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let listing = fs::read_to_string(set.join("dataset.json")).unwrap();
    let long = |bytes: usize| format!("{}{}\n", " ".repeat(bytes), listing);
    fs::write(set.join("dataset.json"), long(65 << 20)).unwrap();
    let text = limited("inspect set");
    assert!(text.contains("too long") && text.contains("67108864"), "{text}");
    fs::write(set.join("dataset.json"), long(60 << 20)).unwrap();
    assert_eq!(limited("inspect set"), "");
}

#[test]
fn frames_are_imported_from_the_folder_alone() {
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| temp.path().join(name);
    for folder in ["frames/a", "elsewhere/b"] {
        fs::create_dir_all(at(folder)).unwrap();
        fs::write(at(folder).join("1.jpg"), crate::common::jpeg((32, 32), 1)).unwrap();
    }
    symlink("a", at("frames/inside")).unwrap();
    assert!(ends("import frames frames -o one", temp.path()).status.success());
    for (to, from) in [("../elsewhere/b", "frames/out"), ("../../elsewhere/b/1.jpg", "frames/a/2.jpg")] {
        symlink(to, at(from)).unwrap();
        let text = refusal("import frames frames -o two", temp.path());
        assert!(text.contains("leads out") && text.contains("--outside"), "{text}");
        assert!(ends("import frames frames -o two --overwrite --outside", temp.path()).status.success());
        fs::remove_file(at(from)).unwrap();
    }
}

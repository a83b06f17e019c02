//! The subcommands that make data sets out of data sets, from outside: exit status, standard output, files.

use std::fs;

use crate::common;
use crate::common::program_runs::Place;
use crate::common::rich::{Rich, clips, files};

/// A folder with a set of seven clips, in which commands run.
fn shell() -> Place {
    let shell = Place::new();
    Rich::default().write(&shell.at("set"));
    shell
}

#[test]
fn a_set_goes_through_all_of_them() {
    let shell = shell();
    let parts = shell.json("split set -o parts --ratio 0.6,0.4 --seed 5", 0);
    assert_eq!((&parts[0]["output"], &parts[1]["output"]), (&"parts/train".into(), &"parts/val".into()));
    let merged = shell.json("merge parts/train parts/val -o merged --shards 2", 0);
    assert_eq!((&merged["clips"], &merged["shards"], &merged["left_out"]), (&7.into(), &2.into(), &0.into()));
    let (mut all, mut original) = (clips(&shell.at("merged")), clips(&shell.at("set")));
    all.sort();
    original.sort();
    assert_eq!(all, original);
    shell.run("merge parts/val --append -o parts/train", 0);
    assert_eq!(clips(&shell.at("parts/train")), clips(&shell.at("merged")));
    shell.run("subset set -o one --shards 1GiB", 0);
    shell.run("subset set -o all", 0);
    assert_eq!(files(&shell.at("all")), files(&shell.at("set")));
    let some = shell.json("subset set -o some --class walk --class jump --where split=train --clips 0-3,5", 0);
    assert_eq!((&some["clips"], &some["left_out"]), (&3.into(), &4.into()));
    Rich { settings: serde_json::json!({"quality": 30}), ..Rich::default() }.write(&shell.at("first"));
    fs::write(shell.at("labels.csv"), "clip,label\n0,jump\n").unwrap();
    shell.run("subset first --changes labels.csv -o other", 0);
    let both = shell.text("merge set other -o both", 0);
    let differ = "the data sets differ in quality";
    assert!(both.contains(differ), "{both}");
    fs::rename(shell.at("both"), shell.at("grown")).unwrap();
    shell.run("subset set -o grown --overwrite", 0);
    let grown = shell.text("merge other --append -o grown", 0);
    assert!(grown.contains(differ), "{grown}");
    let seen = shell.text("inspect grown", 0);
    assert!(seen.contains("settings of some clips: quality"), "{seen}");
    for set in ["merged", "parts/train", "parts/val", "one", "all", "some"] {
        shell.run(&format!("verify --deep {set}"), 0);
    }
}

#[test]
fn tables_and_lists_are_read_and_what_is_not_found_is_told() {
    let shell = shell();
    fs::write(shell.at("table.csv"), "source, clip,label,note\ndir/é0.mp4,,swim,\"a, b\"\n,1,run,\nno.mp4,,run,\n")
        .unwrap();
    let report = shell.json("subset set --changes table.csv -o out", 3);
    assert_eq!(report["not_found"], serde_json::json!(["no.mp4"]));
    let clip = shell.json("inspect out --clip 0", 0);
    assert_eq!(
        (&clip["class"], &clip["label"], &clip["attributes"]["note"]),
        (&"swim".into(), &3.into(), &"a, b".into())
    );
    assert_eq!(shell.json("inspect out --clip 1", 0)["class"], "run");
    shell.run("verify out", 0);
    shell.run("subset set -o renamed --rename-class run=sprint", 0);
    assert_eq!(shell.json("inspect renamed", 0)["classes"][0], "sprint");

    for (table, why) in [
        ("label\nrun\n", "line 1: the header needs a column"),
        ("source,label\ndir/é0.mp4,run\n,walk\n", "line 3, neither"),
        ("clip,label\nx,run\n", "line 2, column \"clip\": \"x\" is not a number"),
        ("clip,source,label\n1,dir/é0.mp4,run\n", "clip 1 comes from \"dir/é1.mp4\""),
        ("source,label\ndir/é0.mp4,run,more\n", "cannot read the table"),
    ] {
        fs::write(shell.at("bad.csv"), table).unwrap();
        let error = shell.error("subset set --changes bad.csv -o bad", 1);
        assert!(error.contains(why) && error.contains("bad.csv"), "{error}");
        assert!(!shell.at("bad").exists());
    }

    fs::write(shell.at("list.txt"), "\u{feff}dir/é0.mp4\r\n\r\nno.mp4\n").unwrap();
    let before = files(&shell.at("set"));
    for line in ["subset set -o listed --list list.txt", "subset set -o set --overwrite --exclude list.txt"] {
        let e = shell.error(line, 1);
        assert!(e.contains("comes from \"no.mp4\""), "{line}: {e}");
    }
    assert!(!shell.at("listed").exists() && files(&shell.at("set")) == before);
    fs::write(shell.at("list.csv"), "source\nno.mp4\nno2.mp4\n").unwrap();
    let e = shell.error("subset set -o listed --exclude list.csv", 1);
    assert!(e.contains("comes from \"no.mp4\": found 2 such sources"), "{e}");
    fs::write(shell.at("list.txt"), "\u{feff}dir/é0.mp4\r\n\r\n").unwrap();
    shell.run("subset set -o listed --list list.txt", 0);
    assert_eq!(sources(&shell, "listed"), ["dir/é0.mp4"]);
    assert!(shell.error("subset set -o x --list no.txt", 1).contains("no.txt: cannot read the list"));
}

#[test]
fn wrong_usage_is_told_and_nothing_is_made() {
    let shell = shell();
    Rich { from: 40, ..Rich::default() }.write(&shell.at("other"));
    let before = ["set", "other"].map(|set| files(&shell.at(set)));
    for (line, status, why) in [
        ("merge -o out", 2, "required"),
        ("split set -o out", 2, "--ratio"),
        ("split set -o out --ratio 0.5,0.4", 1, "add up to 1"),
        ("split set -o out --ratio 0.5,0.5 --names a", 1, "--ratio has 2 shares, and --names 1"),
        ("split set -o out --ratio 0.5,0.5 --names a,../b", 1, "cannot be the name of a part"),
        ("subset set -o out --class no", 1, "there is no class \"no\""),
        ("subset set -o out --clips 7", 1, "there is no clip 7"),
        ("subset set -o out --where split", 2, "expected NAME=VALUE"),
        ("subset set -o out --shards 0", 2, "--shards"),
        ("subset set -o out --shards 1XB", 2, "such as 16, each:1000 for 1,000 videos"),
        ("subset set -o set --shards 1", 1, "the output is an input"),
        ("subset set -o set --shards 1 --overwrite", 1, "the output is an input"),
        ("merge set other -o set/../set --overwrite", 1, "the output is an input"),
        ("subset set -o set --rename-class run=x --overwrite", 1, "the output is an input"),
        ("subset set -o other --shards 1", 1, "--overwrite"),
        ("subset set -o other --rename-class run=x", 1, "--overwrite"),
        ("merge set --append -o set", 1, "the output is an input"),
        ("merge no --append -o set", 1, "could not open the data set"),
        ("merge set --append -o other --overwrite", 2, "cannot be used with"),
        ("subset set -o out --clips 1 --list list.txt", 2, "cannot be used with"),
        ("subset set -o out --rename-class run=walk", 1, "class \"walk\" already exists"),
        ("repair no", 1, "could not"),
        ("repair set/dataset.json", 1, "Not a directory"),
        ("repair set -o set", 1, "the output is the same folder as the data set to repair"),
    ] {
        let error = shell.error(line, status);
        assert!(error.contains(why), "{line}: {error}");
        assert!(!shell.at("out").exists(), "{line}");
    }
    assert_eq!(["set", "other"].map(|set| files(&shell.at(set))), before);
    shell.run("subset set -o other --rename-class run=x --overwrite", 0);
    assert_eq!(shell.json("inspect other", 0)["classes"][0], "x");
}

#[test]
fn repair_tells_what_is_lost_and_saves_the_rest() {
    let shell = shell();
    assert_eq!(shell.text("repair set", 0), "7 of 7 clips can be saved, 0 lost\nnothing was written\n");
    common::damage(&shell.at("set"), 1, 1);
    let told = shell.text("repair set", 3);
    assert!(told.contains("clip 1 (dir/é1.mp4): "), "{told}");
    assert!(told.ends_with("6 of 7 clips can be saved, 1 lost\nnothing was written\n"), "{told}");
    let report = shell.json("repair set -o saved", 3);
    assert_eq!((&report["saved"], &report["lost"][0]["clip"]), (&6.into(), &1.into()));
    shell.run("verify saved --deep", 0);
    assert!(shell.error("repair set -o saved", 1).contains("--overwrite"));
    shell.run("repair set -o saved --overwrite", 3);
    fs::remove_file(common::names::file(shell.at("saved"), "shard-00000.vidx")).unwrap();
    let told = shell.text("repair saved -o again", 3);
    assert!(told.contains(".rec, clips 0 to 2: saved/shard-00000-"), "{told}");
    assert!(told.ends_with("3 of 6 clips saved, 3 lost\nwrote again\n"), "{told}");
    shell.run("verify again --deep", 0);
}

/// What a command prints with `--json`, in a file.
fn save(shell: &Place, line: &str, status: i32, file: &str) {
    fs::write(shell.at(file), shell.json(line, status).to_string()).unwrap();
}

fn sources(shell: &Place, set: &str) -> Vec<String> {
    let set = vidrec::Dataset::open(shell.at(set)).unwrap();
    set.clips().map(|clip| clip.unwrap().source().unwrap()).collect()
}

#[test]
fn a_table_of_clips_is_a_list_and_says_what_changes() {
    let shell = shell();
    let csv = "clip,source,label\n0,dir/é0.mp4,jump\n1,dir/é1.mp4,swim\n2,dir/é2.mp4,jump\n";
    fs::write(shell.at("table.csv"), csv).unwrap();
    shell.run("subset set -o listed --list table.csv", 0);
    assert_eq!(clips(&shell.at("listed")), clips(&shell.at("set"))[..3]);
    shell.run("subset set --changes table.csv -o changed", 0);
    let class = |clip: u32| shell.json(&format!("inspect changed --clip {clip}"), 0)["class"].clone();
    assert_eq!([class(0), class(1), class(2)], ["jump", "swim", "jump"]);
    fs::write(shell.at("paths.jsonl"), "{\"path\": \"dir/é3.mp4\", \"label\": 1, \"score\": 0.5}\n").unwrap();
    shell.run("subset set --changes paths.jsonl -o by-path", 0);
    let clip = shell.json("inspect by-path --clip 3", 0);
    assert_eq!((&clip["class"], &clip["attributes"]["score"]), (&"walk".into(), &0.5.into()));
}

#[test]
fn what_is_found_wrong_can_be_left_out() {
    let shell = shell();
    // In the middle of the second shard, out of reach of what is proven at open.
    Rich { shards: &[4, 40], ..Rich::default() }.write(&shell.at("big"));
    common::damage(&shell.at("big"), 24, 0);
    save(&shell, "verify big", 3, "verify.json");
    let all = sources(&shell, "big");
    shell.run("subset big -o clean --exclude verify.json", 0);
    shell.run("verify clean --deep", 0);
    let expected: Vec<_> = all.iter().filter(|source| *source != "dir/é24.mp4").cloned().collect();
    assert_eq!(sources(&shell, "clean"), expected);
    fs::write(shell.at("numbers.txt"), "#6\n#0 dir/é0.mp4\n").unwrap();
    shell.run("subset set -o parts --list numbers.txt", 0);
    assert_eq!(sources(&shell, "parts"), ["dir/é0.mp4", "dir/é6.mp4"]);

    save(&shell, "inspect set", 0, "overview.json");
    fs::write(shell.at("other.csv"), "clip,source\n1,dir/é2.mp4\n").unwrap();
    fs::write(shell.at("far.txt"), "#7\n").unwrap();
    for (file, why) in [
        ("overview.json", "this JSON names no clips"),
        ("other.csv", "line 2, clip 1 comes from \"dir/é1.mp4\", not from \"dir/é2.mp4\""),
        ("far.txt", "there is no clip 7"),
    ] {
        for option in ["--list", "--exclude"] {
            let error = shell.error(&format!("subset set -o no {option} {file}"), 1);
            assert!(error.contains(why), "{file}: {error}");
        }
    }
    let error = shell.error("subset set -o no --exclude verify.json", 1);
    assert!(error.contains("is not a file of this data set"), "{error}");
}

/// A set in `name` with a clip of one frame for each label.
fn labeled(shell: &Place, name: &str, labels: &[Option<u32>]) {
    let mut writer = vidrec::Writer::create(shell.at(name), vidrec::WriterOptions::default()).unwrap();
    let jpeg = common::jpeg((48, 32), 1);
    for &label in labels {
        let info = vidrec::ClipInfo { label, width: 48, height: 32, ..vidrec::ClipInfo::default() };
        writer.append(&info, &[vidrec::FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).unwrap();
    }
    writer.finish().unwrap();
}

/// A command that ended before it said that it was done is repeated.
#[test]
fn what_is_appended_twice_is_added_once() {
    let shell = shell();
    labeled(&shell, "grows", &[Some(0), Some(1)]);
    labeled(&shell, "one", &[Some(1), Some(1)]);
    labeled(&shell, "two", &[Some(0)]);
    let text = shell.text("merge one two --append -o grows", 0);
    assert!(text.contains("grows: 3 clips,"), "{text}");
    let report = shell.json("merge one two --append -o grows", 0);
    assert_eq!((&report["clips"], &report["shards"]), (&0.into(), &0.into()));
    assert!(report["notes"][0].as_str().unwrap().contains("already has these clips"), "{report}");
    // Another label makes it another clip.
    labeled(&shell, "three", &[Some(1)]);
    shell.run("merge three --append -o grows", 0);
    assert_eq!(sources(&shell, "grows").len(), 6);
    shell.run("verify grows", 0);
}

/// A folder that has the name of an old file cannot be removed as a file.
#[test]
fn what_cannot_be_removed_after_the_commit_is_no_error_but_said() {
    let shell = shell();
    labeled(&shell, "old", &[Some(0)]);
    labeled(&shell, "new", &[Some(0), Some(1)]);
    for (line, cleans) in [
        ("subset new -o out --shards 1 --overwrite", "subset new -o out --shards 1 --overwrite"),
        ("merge new new -o out --overwrite", "merge new --append -o out"),
        ("subset new --clips 0-1 -o out --overwrite", "merge old --append -o out"),
    ] {
        shell.run("subset old -o out --shards 1 --overwrite", 0);
        let listing = fs::read_to_string(shell.at("out/dataset.json")).unwrap();
        let index = listing.split('"').find(|word| word.ends_with(".vidx")).unwrap();
        let old = shell.at("out").join(index);
        fs::remove_file(&old).unwrap();
        fs::create_dir(&old).unwrap();
        let said = String::from_utf8(shell.run(line, 3).stderr).unwrap();
        assert!(said.contains("the data set is complete, but") && said.contains(index), "{line}: {said}");
        let set = vidrec::Dataset::open(shell.at("out")).unwrap();
        assert!(set.len() >= 2, "{line}");
        assert!(shell.at("out/.vidrec.changes").exists(), "{line}");
        fs::remove_dir(&old).unwrap();
        shell.run(cleans, 0);
        assert!(!shell.at("out/.vidrec.changes").exists(), "{line}");
        shell.run("verify out", 0);
        fs::remove_dir_all(shell.at("out")).unwrap();
    }
}

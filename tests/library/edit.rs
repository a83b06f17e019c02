//! Data sets made of data sets: what goes in comes out, byte for byte, and what makes no sense is refused.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::common;
use crate::common::program_runs::Place;
use crate::common::rich::{Rich, assert_verifies, clips, describe, files};
use serde_json::json;
use vidrec::edit::{self, Change, Changes, ClipList, EditOptions, EditReport, Key, RatioSplit, Selection};
use vidrec::{
    ClipInfo, Dataset, ErrorKind, FrameData, Hint, JsonObject, Result, Sharding, Writer, WriterOptions, no_progress,
};

/// A set of seven clips in two shards.
fn set(place: &Place) -> Dataset {
    set_of(&place.at("set"), Rich::default())
}

fn keep() -> EditOptions {
    EditOptions::default()
}

fn shards(shards: Sharding) -> EditOptions {
    EditOptions { shards: Some(shards), overwrite: false }
}

/// All clips of a data set in other shards.
fn reshard(set: &Dataset, out: PathBuf, options: &EditOptions) -> Result<EditReport> {
    edit::merge(std::slice::from_ref(set), out, options, &mut no_progress)
}

/// All clips of a data set with changes.
fn with_changes(set: &Dataset, changes: &Changes, out: PathBuf) -> Result<EditReport> {
    edit::subset(set, &Selection::default(), changes, out, &keep(), &mut no_progress)
}

fn subset(set: &Dataset, selection: &Selection, out: PathBuf) -> Result<EditReport> {
    edit::subset(set, selection, &Changes::default(), out, &keep(), &mut no_progress)
}

fn merge(sets: &[&Dataset], out: PathBuf) -> Result<EditReport> {
    edit::merge(&sets.iter().map(|&set| set.clone()).collect::<Vec<_>>(), out, &keep(), &mut no_progress)
}

fn append(to: PathBuf, more: &Dataset) -> Result<EditReport> {
    edit::append(to, std::slice::from_ref(more), &keep(), &mut no_progress)
}

/// Two parts, of half of the clips each.
fn halves() -> RatioSplit {
    RatioSplit { parts: vec![("a".into(), 0.5), ("b".into(), 0.5)], ..RatioSplit::default() }
}

fn set_of(dir: &Path, rich: Rich<'_>) -> Dataset {
    rich.write(dir);
    Dataset::open(dir).unwrap()
}

#[test]
fn resharding_and_back_gives_the_original_bytes() {
    let place = Place::new();
    let set = set_of(&place.at("set"), Rich { shards: &[3, 3, 3], ..Rich::default() });
    let mut seen = Vec::new();
    let mut see = |p: &vidrec::Progress| {
        seen.push((p.done, p.total, p.frames, p.bytes));
        ControlFlow::Continue(())
    };
    edit::merge(std::slice::from_ref(&set), place.at("one"), &shards(Sharding::Count(1)), &mut see).unwrap();
    assert!(seen.iter().map(|p| (p.0, p.1)).eq((1..=9).map(|n| (n, Some(9)))));
    let one = Dataset::open(place.at("one")).unwrap();
    assert_eq!((seen[8].2, seen[8].3), (one.frame_count(), one.to_json().bytes));
    assert_eq!(one.record_files().count(), 1);
    assert_eq!(clips(&place.at("one")), clips(&place.at("set")));
    assert_verifies(&place.at("one"));
    reshard(&one, place.at("back"), &shards(Sharding::Count(3))).unwrap();
    assert_eq!(files(&place.at("back")), files(&place.at("set")));
}

/// `clips` clips of one frame each, of the class and source that `of` gives.
fn plain_set(dir: &Path, count: u32, meta: serde_json::Value, of: impl Fn(u32) -> (Option<u32>, String)) -> Dataset {
    let jpeg = common::jpeg((16, 16), 1);
    let meta = serde_json::from_value::<vidrec::Meta>(meta).unwrap();
    let mut writer = Writer::create(dir, WriterOptions { meta, overwrite: false }).unwrap();
    for i in 0..count {
        let (label, source) = of(i);
        let info = ClipInfo { label, source, width: 16, height: 16, ..ClipInfo::default() };
        writer.append(&info, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }]).unwrap();
    }
    writer.finish().unwrap();
    Dataset::open(dir).unwrap()
}

fn counts(dir: &Path) -> BTreeMap<Option<u32>, u32> {
    let mut counts = BTreeMap::new();
    for label in Dataset::open(dir).unwrap().labels().unwrap() {
        *counts.entry(label).or_insert(0) += 1;
    }
    counts
}

#[test]
fn merged_classes_go_by_name() {
    let place = Place::new();
    let a = set_of(&place.at("a"), Rich { settings: json!({"quality": 90, "frames": 8}), ..Rich::default() });
    let b = Rich {
        classes: &["swim", "walk", "run"],
        from: 20,
        settings: json!({"quality": 80, "frames": 8}),
        ..Rich::default()
    };
    let b = set_of(&place.at("b"), b);
    let report = merge(&[&a, &b], place.at("out")).unwrap();
    assert_verifies(&place.at("out"));
    let out = Dataset::open(place.at("out")).unwrap();
    assert_eq!(out.classes(), ["run", "walk", "jump", "swim"]);
    assert_eq!((out.len(), report.shards), (14, 4));
    for (i, old) in a.clips().chain(b.clips()).enumerate() {
        let (old, new) = (old.unwrap(), out.clip(i as u64).unwrap());
        assert_eq!((old.source().unwrap(), old.class().unwrap()), (new.source().unwrap(), new.class().unwrap()));
        assert_eq!(old.label().is_some(), new.label().is_some());
        let (old, new) = (old.frame(0).unwrap(), new.frame(0).unwrap());
        assert_eq!((old.jpeg(), old.pts()), (new.jpeg(), new.pts()));
    }
    let settings = json!(out.meta().settings);
    assert_eq!(settings["merged"], json!([{"quality": 90}, {"quality": 80}]));
    assert_eq!(settings["frames"], 8);
    assert!(report.notes[0].contains("quality"), "{:?}", report.notes);

    let integers = plain_set(&place.at("integers"), 3, json!({}), |i| (Some(i), format!("{i}")));
    let e = merge(&[&a, &integers], place.at("no")).unwrap_err();
    assert!(e.to_string().contains("have no class names") && !place.at("no").exists(), "{e}");
    merge(&[&integers, &integers], place.at("six")).unwrap();
    assert_eq!(counts(&place.at("six")).into_values().collect::<Vec<_>>(), [2, 2, 2]);
    let unlabeled = plain_set(&place.at("unlabeled"), 3, json!({}), |i| (None, format!("{i}")));
    merge(&[&a, &unlabeled], place.at("ten")).unwrap();
    assert_verifies(&place.at("ten"));
}

#[test]
fn appending_leaves_the_shards_alone_and_is_seen_at_once() {
    let place = Place::new();
    let before = set(&place);
    let old = files(&place.at("set"));
    let more = Rich { classes: &["walk", "run"], shards: &[2, 1], from: 30, ..Rich::default() };
    let more = set_of(&place.at("more"), more);
    let report = append(place.at("set"), &more).unwrap();
    assert_eq!((report.clips, report.shards), (3, 2));
    assert_verifies(&place.at("set"));
    let after = Dataset::open(place.at("set")).unwrap();
    assert_eq!((before.len(), after.len()), (7, 10));
    for (i, clip) in before.clips().enumerate() {
        assert_eq!(describe(&clip.unwrap()), describe(&after.clip(i as u64).unwrap()));
    }
    assert_eq!(after.clip(7).unwrap().class().unwrap(), more.clip(0).unwrap().class().unwrap());
    let new = files(&place.at("set"));
    let shard = |name: &&(String, Vec<u8>)| name.0.starts_with("shard-");
    assert!(old.iter().filter(shard).all(|file| new.contains(file)));
    assert_eq!(new.len(), old.len() + 4, "{:?}", new.iter().map(|f| &f.0).collect::<Vec<_>>());

    let again = |more: &Dataset| append(place.at("set"), more).unwrap_err().to_string();
    let stranger = set_of(&place.at("stranger"), Rich { classes: &["swim"], from: 50, ..Rich::default() });
    append(place.at("set"), &stranger).unwrap();
    assert_verifies(&place.at("set"));
    let grown = Dataset::open(place.at("set")).unwrap();
    assert_eq!(grown.classes(), [after.classes(), &["swim".to_owned()]].concat(), "new classes are the last");
    assert_eq!(grown.labels().unwrap()[..10], after.labels().unwrap());
    assert!(grown.clips().skip(10).all(|clip| ["swim", ""].contains(&&*clip.unwrap().class().unwrap())));
    assert!(again(&after).contains("the output is an input"), "{}", again(&after));
    fs::remove_file(place.at("set/dataset.json")).unwrap();
    assert!(again(&more).contains("no data set in this folder"), "{}", again(&more));
}

#[cfg(unix)]
#[test]
fn an_input_behind_symbolic_links_is_still_an_input() {
    let place = Place::new();
    let set = set(&place);
    fs::create_dir(place.at("links")).unwrap();
    for (name, _) in files(&place.at("set")) {
        std::os::unix::fs::symlink(place.at("set").join(&name), place.at("links").join(&name)).unwrap();
    }
    std::os::unix::fs::symlink(place.at("set"), place.at("link")).unwrap();
    let before = files(&place.at("set"));
    let links = Dataset::open(place.at("links")).unwrap();
    for (input, out) in [(&links, "set"), (&links, "links"), (&links, "link"), (&set, "link")] {
        let e = reshard(input, place.at(out), &EditOptions { overwrite: true, ..keep() }).unwrap_err();
        assert!(e.to_string().contains("the output is an input"), "{out}: {e}");
    }
    assert_eq!(files(&place.at("set")), before);
}

#[test]
fn what_a_change_does_not_name_stays() {
    let place = Place::new();
    let set = set(&place);
    let attributes = JsonObject::of(json!({"split": "val", "new": "x"})).unwrap();
    let changes = Changes {
        clips: vec![Change { key: Key::Source("dir/é1.mp4".into()), label: Some("walk".into()), attributes }],
        renamed_classes: vec![("run".into(), "sprint".into())],
        align_clocks: false,
    };
    with_changes(&set, &changes, place.at("out")).unwrap();
    assert_verifies(&place.at("out"));
    let out = Dataset::open(place.at("out")).unwrap();
    assert!(
        out.record_files().zip(set.record_files()).all(|(new, old)| fs::read(new).unwrap() == fs::read(old).unwrap())
    );
    assert_eq!(out.classes(), ["sprint", "walk", "jump"]);
    assert_eq!(out.clip(0).unwrap().class().unwrap(), "sprint");
    let attributes = json!(out.clip(1).unwrap().attributes().unwrap());
    assert_eq!((&attributes["split"], &attributes["video"]["codec"]), (&json!("val"), &json!("h264")));
    assert_eq!(describe(&out.clip(2).unwrap()), describe(&set.clip(2).unwrap()));
}

#[test]
fn relabeling_with_new_numbers_writes_them_into_the_records_too() {
    let place = Place::new();
    let set = set(&place);
    let change = |key, label: &str| Change { key, label: Some(label.into()), attributes: JsonObject::default() };
    let relabel = |changes: Vec<Change>, out: &str| {
        with_changes(&set, &Changes { clips: changes, ..Changes::default() }, place.at(out))
    };
    let swim = change(Key::Clip(0), "swim");
    let jump = change(Key::Source("dir/é4.mp4".into()), "jump");
    let missing = change(Key::Source("dir/no.mp4".into()), "swim");
    let report = relabel(vec![swim.clone(), jump, missing], "out").unwrap();
    assert_eq!(report.not_found, ["dir/no.mp4"]);
    // Proves that index and records agree.
    assert_verifies(&place.at("out"));
    let out = Dataset::open(place.at("out")).unwrap();
    assert_eq!(out.classes(), ["run", "walk", "jump", "swim"]);
    let label = |i| out.clip(i).map(|c| (c.label(), c.class().unwrap())).unwrap();
    assert_eq!(label(0), (Some(3), "swim".into()));
    assert_eq!(label(4), (Some(2), "jump".into()));
    assert_eq!(out.clip(0).unwrap().frame(0).unwrap().jpeg(), set.clip(0).unwrap().frame(0).unwrap().jpeg());

    relabel(vec![change(Key::Clip(0), "1")], "numbers").unwrap();
    assert_eq!(Dataset::open(place.at("numbers")).unwrap().clip(0).unwrap().class().unwrap(), "walk");
    let no = |changes: Vec<Change>, why: &str| {
        let e = relabel(changes, "no").unwrap_err().to_string();
        assert!(e.contains(why) && !place.at("no").exists(), "{e}");
    };
    no(vec![change(Key::Clip(0), "3")], "out of range");
    no(vec![change(Key::Clip(0), "-1")], "label -1 is negative");
    no(vec![change(Key::Clip(0), "-1"), change(Key::Clip(1), "swim")], "label -1 is negative");
    no(vec![swim.clone(), change(Key::Source("dir/é0.mp4".into()), "run")], "clip 0 is named as");
    no(vec![swim.clone(), swim], "named twice");
}

#[test]
fn draws_of_a_video_stay_together() {
    let place = Place::new();
    let set = plain_set(&place.at("set"), 12, json!({"draws": 3}), |i| (Some(0), format!("{}", i / 3)));
    let selection = |clips: &[u64]| Selection {
        list: Some(ClipList { clips: clips.to_vec(), ..ClipList::default() }),
        ..Selection::default()
    };
    let e = subset(&set, &selection(&[0, 1, 2, 3]), place.at("no")).unwrap_err();
    assert!(e.to_string().contains("draws of one video") && !place.at("no").exists(), "{e}");
    subset(&set, &selection(&[3, 4, 5]), place.at("one")).unwrap();
    let sample = Selection { sample: Some(2), ..Selection::default() };
    assert_eq!(subset(&set, &sample, place.at("two")).unwrap().clips, 6);
    reshard(&set, place.at("shards"), &shards(Sharding::Count(3))).unwrap();
    let made = Dataset::open(place.at("shards")).unwrap().to_json();
    assert_eq!(made.shards.iter().map(|s| s.clips).collect::<Vec<_>>(), [6, 3, 3]);
    let parts = edit::split(&set, &halves(), place.at("parts"), &keep(), &mut no_progress).unwrap();
    assert_eq!(parts.iter().map(|p| p.clips).collect::<Vec<_>>(), [6, 6]);
    let others = plain_set(&place.at("others"), 12, json!({}), |_| (Some(0), String::new()));
    let e = merge(&[&set, &others], place.at("no")).unwrap_err();
    assert!(e.to_string().contains("draws"), "{e}");
}

#[test]
fn damage_on_the_way_stops_the_work_and_nothing_appears() {
    let place = Place::new();
    let whole = set(&place);
    let (first, second) = (set_of(&place.at("first"), Rich::default()), place.at("second"));
    // Long enough for the middle to be out of reach of what is proven at open.
    Rich { shards: &[40], from: 60, ..Rich::default() }.write(&second);
    common::damage(&second, 20, 0);
    let damaged = Dataset::open(&second).unwrap();
    let fails = |result: Result<EditReport>| {
        let e = result.unwrap_err();
        assert_eq!((e.rule(), e.clip()), (Some("jpeg-crc"), Some(20)), "{e}");
        assert_eq!(e.hints(), [Hint::Verify, Hint::Repair], "{e}");
    };
    fails(merge(&[&first, &damaged], place.at("out")));
    fails(reshard(&damaged, place.at("out"), &shards(Sharding::Count(2))));
    let left = |dir: PathBuf| fs::read_dir(dir).map_or(0, Iterator::count);
    assert_eq!(left(place.at("out")), 0);
    let before = files(&place.at("set"));
    fails(append(place.at("set"), &damaged));
    let after: Vec<_> =
        fs::read_dir(place.at("set")).unwrap().map(|e| e.unwrap()).filter(|e| e.path().is_file()).collect();
    assert_eq!((after.len(), whole.len()), (before.len(), Dataset::open(place.at("set")).unwrap().len()));
    assert!(edit::split(&damaged, &halves(), place.at("parts"), &keep(), &mut no_progress).is_err());
    assert_eq!(left(place.at("parts/a")) + left(place.at("parts/b")), 0, "no part without the others");
}

#[test]
fn a_callback_that_stops_an_edit_leaves_what_was_there() {
    let place = Place::new();
    let (set, other) = (set(&place), set_of(&place.at("other"), Rich { from: 40, ..Rich::default() }));
    let before = [files(&place.at("set")), files(&place.at("other"))];
    let options = EditOptions { overwrite: true, ..keep() };
    let renamed = Changes { renamed_classes: vec![("run".into(), "x".into())], ..Changes::default() };
    let parts = halves();
    for last in [1, 7] {
        let stop = || {
            move |p: &vidrec::Progress| if p.done == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let ends = |result: Result<()>| assert_eq!(result.unwrap_err().kind(), ErrorKind::Interrupted);
        ends(edit::merge(std::slice::from_ref(&set), place.at("other"), &options, &mut stop()).map(drop));
        ends(edit::subset(&set, &Selection::default(), &renamed, place.at("other"), &options, &mut stop()).map(drop));
        ends(edit::append(place.at("other"), std::slice::from_ref(&set), &keep(), &mut stop()).map(drop));
        ends(edit::split(&set, &parts, place.at("parts"), &keep(), &mut stop()).map(drop));
    }
    assert_eq!([files(&place.at("set")), files(&place.at("other"))], before);
    assert!(Dataset::open(place.at("parts/a")).is_err());
    assert_eq!(other.len(), 7);
}

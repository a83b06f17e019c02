//! Plans of the videos below a location in object storage.

use std::fs;
use std::path::PathBuf;

use fault_proxy::{Fault, Origin, Rule};
use vidrec::pack::{InputOptions, PackOptions, PackPlan, write_plan};

use crate::common::{s3_storage, tree};
use crate::shards::buckets::Store;
use crate::shards::support::{Files, SHARDS, Videos, show, stderr, stdout};

const VIDEOS: &str = "s3://b/videos/";

/// A store whose bucket has the videos, and lists two objects at a time.
fn store(count: u32) -> Store {
    let videos = Videos::make(count);
    fs::create_dir_all(videos.path("store/b")).unwrap();
    fs::rename(videos.path("in"), videos.path("store/b/videos")).unwrap();
    Store::of(videos, |origin: Origin| origin.writable().page(2))
}

fn plan(store: &Store, input: &str, plan: &str) {
    store.ends(0, &["plan", input, "-o", plan, "--shards", &SHARDS.to_string(), "-n", "4"]);
}

/// The files of a data set that say nothing about where its videos were.
fn shards(store: &Store, set: &str) -> Files {
    store.videos.files(set).into_iter().filter(|(name, _)| name.ends_with(".rec")).collect()
}

#[test]
fn videos_of_a_bucket_become_the_clips_of_a_folder() {
    let store = store(8);
    store.ends(3, &["pack", VIDEOS, "-o", "listed", "-n", "4", "--shards", "2"]);
    store.ends(3, &["pack", "store/b/videos", "-o", "local", "-n", "4", "--shards", "2"]);
    assert!(!shards(&store, "listed").is_empty() && shards(&store, "listed") == shards(&store, "local"));
}

#[test]
fn a_list_takes_a_request_for_each_page_and_none_for_a_video() {
    let store = store(8);
    store.server.reset_counts();
    plan(&store, VIDEOS, "listed");
    assert_eq!(store.server.counts().requests, 5, "9 objects, two at a time");
    assert_eq!(fs::read_dir(store.videos.path("tmp")).unwrap().count(), 0, "the list is removed");
}

#[test]
fn videos_on_disk_and_in_memory_give_the_same_plan() {
    let store = store(8);
    let options = InputOptions { storage: s3_storage::storage(&store.server), ..InputOptions::default() };
    let pack = PackOptions { input: options.clone(), ..PackOptions::from_json(r#"{"shards": 3}"#).unwrap() };
    let write = |plan: PackPlan, name: &str| {
        write_plan(&plan, store.videos.path(name), &pack).unwrap();
        tree(&store.videos.path(name)).into_values().collect::<Vec<_>>()
    };
    let memory = PackPlan::from_inputs(&[VIDEOS], &options).unwrap();
    assert_eq!(memory.jobs.len(), 9);
    let disk = PackPlan::for_parts(&[VIDEOS], &options).unwrap();
    assert!(disk.jobs.is_empty());
    let out = store.videos.path("out");
    let e = vidrec::pack::pack_plan(&disk, &out, &pack, &mut vidrec::no_progress).unwrap_err().to_string();
    assert!(e.contains("only write_plan"), "{e}");
    assert_eq!(write(disk, "disk"), write(memory, "memory"));
}

#[test]
fn other_objects_are_counted_or_ignored() {
    let store = store(2);
    let put = |name: &str, bytes: &[u8]| {
        let path: PathBuf = store.file("videos").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let video = fs::read(store.videos.path("0.mp4")).unwrap();
    for name in ["even/100% & more?.mp4", "loose", ".hidden/a.mp4"] {
        put(name, &video);
    }
    for name in ["even/notes.txt", "even/a.jpg", "folder", "even/.DS_Store"] {
        put(name, b"");
    }
    let run = store.ends(0, &["plan", VIDEOS, "-o", "listed", "--shards", "1", "-n", "4"]);
    assert!(stdout(&run).starts_with("planned 5 videos"), "{}", show(&run));
    let said = stderr(&run);
    assert!([".txt", ".jpg", "1 of 5 videos has no label, such as loose"].iter().all(|w| said.contains(w)), "{said}");
    let lines = fs::read_to_string(store.videos.jobs("listed")).unwrap();
    assert!(lines.contains(r#""even/100% & more?.mp4""#), "{lines}");
    let run = store.ends(0, &["pack", "listed", "--part", "0"]);
    assert!(stdout(&run).contains("4 clips"), "{}", show(&run));
}

#[test]
fn an_interrupted_list_begins_again() {
    let store = store(8);
    plan(&store, VIDEOS, "whole");
    store.server.rules().add(Rule::new(Fault::Forbidden).path("list-type").nth(4));
    store.fails(&["plan", VIDEOS, "-o", "listed", "--shards", "4", "-n", "4"], &["s3://b/videos", "403"]);
    plan(&store, VIDEOS, "listed");
    let files = |out: &str| tree(&store.videos.path(out)).into_values().collect::<Vec<_>>();
    assert!(files("whole").len() == 2 && files("whole") == files("listed"));
}

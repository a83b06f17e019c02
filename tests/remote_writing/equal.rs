//! What is written to a store is what is written to a folder.

use std::fs;

use vidrec::Dataset;
use vidrec::edit::{self, EditOptions};

use crate::common::rich::Rich;
use crate::remote_writing::store::{Store, same};

#[test]
fn a_push_copies_all_files_and_nothing_else() {
    let store = Store::new();
    let report = store.push("set", "train").unwrap();
    let files = store.files("set");
    same("push", &store.objects(""), &files.iter().map(|(n, b)| (format!("train/{n}"), b.clone())).collect());
    let bytes: usize = files.iter().filter(|(name, _)| *name != "dataset.json").map(|(_, bytes)| bytes.len()).sum();
    assert_eq!((report.clips, report.shards, report.bytes), (7, 2, bytes as u64));
    assert_eq!((report.kept_bytes, report.found, report.removed), (0, false, 0));
    assert!(report.notes.is_empty() && report.output == "s3://bucket/train" && report.remote.requests > 4);

    let location = "s3://bucket/train";
    let set = Dataset::open_with(location, store.storage()).unwrap();
    assert_eq!(set.fingerprint(), Dataset::open(store.path("set")).unwrap().fingerprint());

    store.server.reset_counts();
    let again = store.push("set", "train").unwrap();
    assert!(again.found && again.kept_bytes == again.bytes && again.clips == 7);
    assert_eq!(store.server.counts().requests, 3, "looks show that all is there, and that nothing is to be removed");
}

#[test]
fn the_root_of_a_bucket_holds_a_data_set_too() {
    let store = Store::new();
    vidrec::push(store.path("set/dataset.json"), "s3://bucket", &store.push_options(), &mut vidrec::no_progress)
        .unwrap();
    same("root", &store.objects(""), &store.files("set"));
}

#[test]
fn every_command_writes_to_a_store_what_it_writes_to_a_folder() {
    let store = Store::new();
    Rich { from: 50, ..Rich::default() }.write(&store.path("more"));
    fs::write(store.path("labels.csv"), "clip,label\n0,jump\n").unwrap();
    store.ends(0, "export frames set --clips 0-3 -o pictures");
    for (number, line) in [
        "merge set more",
        "subset set --clips 1-3",
        "subset set --shards 3",
        "subset set --changes labels.csv",
        "subset set --rename-class run=ran",
        "import frames pictures",
        "import frames pictures --json",
    ]
    .into_iter()
    .enumerate()
    {
        store.ends(0, &format!("{line} -o local-{number}"));
        store.ends(0, &format!("{line} -o s3://bucket/remote-{number}"));
        same(line, &store.objects(&format!("remote-{number}")), &store.files(&format!("local-{number}")));
        store.has_no_scratch(line);
    }
    store.ends(0, "push set s3://bucket/pushed");
    same("push", &store.objects("pushed"), &store.files("set"));
}

#[test]
fn remote_data_sets_are_edited_to_remote_ones() {
    let store = Store::new();
    store.push("set", "train").unwrap();
    store.ends(0, "subset set --shards 3 -o local");
    store.ends(0, "subset s3://bucket/train --shards 3 -o s3://bucket/other");
    same("reshard", &store.objects("other"), &store.files("local"));
    // Also in place of itself.
    store.ends(0, "subset s3://bucket/train --shards 3 -o s3://bucket/train --overwrite");
    same("in place", &store.objects("train"), &store.files("local"));
}

#[test]
fn the_library_writes_to_a_store_by_way_of_a_scratch_folder() {
    let store = Store::new();
    let set = Dataset::open(store.path("set")).unwrap();
    let mut options = vidrec::PushOptions::default();
    (options.storage, options.scratch) = (store.storage(), Some(store.path("here")));
    let mut seen = None;
    let write = |out: &std::path::Path| {
        seen = Some(out.to_owned());
        edit::merge(std::slice::from_ref(&set), out, &EditOptions::default(), &mut vidrec::no_progress)
    };
    let e = vidrec::write_remote("here", &options, |_| Ok(()), &mut vidrec::no_progress).unwrap_err();
    assert!(e.to_string().contains("local folder"), "{e}");
    let (edited, pushed) = vidrec::write_remote("s3://bucket/x", &options, write, &mut vidrec::no_progress).unwrap();
    assert_eq!((edited.clips, pushed.clips), (7, 7));
    assert!(seen.unwrap().starts_with(store.path("here")) && store.files("here").is_empty());
    assert_eq!(store.objects("x").len(), store.files("set").len());
    // What makes no data set publishes none.
    let ((), pushed) = vidrec::write_remote("s3://bucket/y", &options, |_| Ok(()), &mut vidrec::no_progress).unwrap();
    assert!(pushed.clips == 0 && store.objects("y").is_empty());
}

//! Several who publish at one location, stores that cannot keep them apart, and replaced data sets.

use std::ops::ControlFlow;

use fault_proxy::{Fault, Origin, Rule};

use crate::common::says;
use crate::remote_writing::store::{Store, same};

/// A store with the data sets `set` and `other`, which have no file in common.
fn two() -> Store {
    let store = Store::new();
    store.ends(0, "subset set --shards 1 -o other");
    store
}

#[test]
fn one_of_two_publishers_wins() {
    let store = two();
    for round in 0..10 {
        let ended = std::thread::scope(|scope| {
            let pushes = ["set", "other"].map(|set| scope.spawn(|| store.push(set, "train")));
            pushes.map(|push| push.join().unwrap())
        });
        assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1, "round {round}: {ended:?}");
        let winner = if ended[0].is_ok() { "set" } else { "other" };
        let (objects, files) = (store.objects("train"), store.files(winner));
        assert!(files.iter().all(|(name, bytes)| objects.get(name) == Some(bytes)), "round {round}");
        store.clear();
    }
}

/// Between the first look and the commit, so that the commit decides.
#[test]
fn whoever_comes_second_does_not_replace() {
    let store = two();
    for overwrite in [false, true] {
        let mut options = store.push_options();
        options.overwrite = overwrite;
        if overwrite {
            store.clear();
            store.ends(0, "subset set --clips 1 -o first");
            store.push("first", "train").unwrap();
        }
        let mut is_begun = false;
        let meanwhile = &mut |_: &vidrec::Progress| {
            if !std::mem::replace(&mut is_begun, true) {
                store.push_with("other", "train", &options).unwrap();
            }
            ControlFlow::Continue(())
        };
        let e = vidrec::push(store.path("set"), "s3://bucket/train", &options, meanwhile).unwrap_err();
        says("second", &e, &["published here in the meantime", "s3://bucket/train"]);
        let (objects, files) = (store.objects("train"), store.files("other"));
        assert!(files.iter().all(|(name, bytes)| objects.get(name) == Some(bytes)), "overwrite: {overwrite}");
    }
}

#[test]
fn a_data_set_is_replaced_only_if_told() {
    let store = two();
    store.push("set", "train").unwrap();
    let e = store.push("other", "train").unwrap_err();
    says("there", &e, &["there is another data set here", "allow it to be replaced"]);
    let said = store.ends(1, "push other s3://bucket/train");
    assert!(said.contains("replace it with --overwrite"), "{said}");
    same("refused", &store.objects("train"), &store.files("set"));
    let said = store.ends(1, "merge set other -o s3://bucket/train");
    assert!(said.contains("replace it with --overwrite"), "{said}");
    store.ends(0, "push other s3://bucket/train --overwrite");
    same("replaced", &store.objects("train"), &store.files("other"));
}

/// Until the commit the old data set is whole; what only it had goes after that.
#[test]
fn old_files_go_after_the_commit_and_what_is_not_ours_stays() {
    let store = two();
    store.push("set", "train").unwrap();
    std::fs::write(store.path("store/bucket/train/notes.txt"), "mine").unwrap();
    store.server.take_log();
    let mut options = store.push_options();
    options.overwrite = true;
    let report = store.push_with("other", "train", &options).unwrap();
    let log = store.server.take_log();
    let is_listing = |path: &str| path.ends_with("dataset.json");
    let commit = log.iter().position(|e| e.method == "PUT" && is_listing(&e.path)).unwrap();
    let removals: Vec<usize> =
        (0..log.len()).filter(|&i| log[i].method == "DELETE" && log[i].path.contains("shard-")).collect();
    assert!(report.removed == 4 && removals.len() == 4 && removals.iter().all(|&i| i > commit), "{removals:?}");
    let mut objects = store.objects("train");
    assert_eq!(objects.remove("notes.txt").unwrap(), b"mine");
    same("replaced", &objects, &store.files("other"));

    // What cannot be removed does not undo the publication.
    store.server.rules().add(Rule::new(Fault::Forbidden).method("DELETE").path("shard-"));
    let report = store.push_with("set", "train", &options).unwrap();
    assert!(report.notes.len() == 1 && report.notes[0].contains("remains until the next push"), "{:?}", report.notes);
    assert!(store.ends(3, "push set s3://bucket/train").contains("remains until the next push"));
    store.server.rules().clear();
    let report = store.push("set", "train").unwrap();
    assert!(report.found && report.removed == 2 && report.notes.is_empty(), "{report:?}");
    let mut objects = store.objects("train");
    objects.remove("notes.txt").unwrap();
    same("tidied", &objects, &store.files("set"));
}

#[test]
fn a_store_without_conditions_is_refused_unless_nobody_else_publishes() {
    let store = Store::by(Origin::writable_without_conditions);
    let e = store.push("set", "train").unwrap_err();
    says("no conditions", &e, &["does not support conditional writes", "conditional_put=disabled"]);
    assert!(store.objects("train").is_empty(), "not even the probe");
    let said = store.ends(1, "push set s3://bucket/train");
    assert!(said.contains("conditional_put=disabled"), "{said}");
    let said = store.ends(1, "subset set --shards 3 -o s3://bucket/train");
    assert!(said.contains("conditional_put=disabled"), "{said}");
    store.ends(0, "push set s3://bucket/train --storage conditional_put=disabled");
    same("only publisher", &store.objects("train"), &store.files("set"));
    store.ends(0, "subset set --shards 3 -o local");
    store.ends(0, "subset set --shards 3 -o s3://bucket/train --storage conditional_put=disabled --overwrite");
    same("replaced", &store.objects("train"), &store.files("local"));
}

/// As of stores that know the header and say so.
#[test]
fn a_store_that_says_that_it_has_no_conditions_is_refused_at_once() {
    let store = Store::new();
    store.server.rules().add(Rule::new(Fault::Status(501)).path(".vidrec-probe").method("PUT"));
    let e = store.push("set", "train").unwrap_err();
    says("501", &e, &["does not support conditional writes"]);
}

//! Each request of a push fails once; and from each request on, nothing works any more. With `VIDREC_SOAK=1`, in each way.

use std::ops::RangeInclusive;
use std::time::Duration;

use fault_proxy::{Fault, Rule};

use crate::remote_writing::store::{Store, same};

/// The requests of a push to which nothing happens.
fn requests(store: &Store) -> u64 {
    store.push("set", "train").unwrap();
    let requests = store.server.counts().requests;
    store.clear();
    assert!(requests > 10, "{requests}");
    requests
}

/// Each request with one of these, in turn. `VIDREC_SOAK=1` takes all of them.
fn at_each<T: Clone>(requests: RangeInclusive<u64>, all: &[T]) -> Vec<(u64, T)> {
    let is_soak = std::env::var_os("VIDREC_SOAK").is_some();
    let is_its = |n: u64, i: usize| is_soak || n % all.len() as u64 == i as u64;
    let of = |n| all.iter().enumerate().filter(move |(i, _)| is_its(n, *i)).map(move |(_, one)| (n, one.clone()));
    requests.flat_map(of).collect()
}

#[test]
fn a_fault_at_any_request_changes_nothing() {
    let store = Store::new();
    let (files, requests) = (store.files("set"), requests(&store));
    for (n, fault) in at_each(
        1..=requests,
        &[
            Fault::Lost,
            Fault::SlowDown,
            Fault::Conflict,
            Fault::Status(500),
            Fault::ResetUpload { after: 50 },
            Fault::Reset { after: 0 },
            Fault::Short { after: 0 },
            Fault::NotHttp,
        ],
    ) {
        store.server.rules().add(Rule::new(fault.clone()).nth(n));
        let what = format!("{} at request {n}", fault.name());
        let report = store.push("set", "train").unwrap_or_else(|e| panic!("{what}: {e:#}"));
        assert!(!report.found, "{what}");
        same(&what, &store.objects("train"), &files);
        assert!(store.server.counts().faults == 1, "{what}");
        store.clear();
    }
}

/// What is there after the error is completed by the next push.
#[test]
fn what_ends_at_any_request_is_continued() {
    let store = Store::new();
    let (files, requests) = (store.files("set"), requests(&store));
    let mut options = store.push_options();
    options.storage.timeout = Duration::from_millis(200);
    for (n, fault) in at_each(0..=requests - 1, &[Fault::Lost, Fault::Forbidden, Fault::Status(500)]) {
        store.server.rules().add(Rule::new(fault.clone()).after(n));
        let what = format!("{} after request {n}", fault.name());
        let ended = store.push_with("set", "train", &options);
        let is_there = store.objects("train").contains_key("dataset.json");
        match (&ended, &fault) {
            // The commit took effect, but no answer says so.
            (Err(_), Fault::Lost) => {}
            (Err(_), _) => assert!(!is_there, "{what}"),
            (Ok(_), _) => assert!(is_there, "{what}"),
        }
        if let Err(e) = &ended {
            let text = format!("{e:#}");
            assert!(text.contains("s3://bucket/train") && !text.contains("hunter2"), "{what}: {text}");
        }
        store.server.rules().clear();
        store.push("set", "train").unwrap_or_else(|e| panic!("{what}: {e:#}"));
        same(&what, &store.objects("train"), &files);
        store.clear();
    }
}

/// From each request on nothing works any more, as for a process that is killed there.
#[test]
fn what_a_replacement_left_is_removed_by_the_next_push() {
    let store = Store::new();
    store.ends(0, "reshard set --shards 1 -o other");
    store.ends(0, "reshard set --shards 3 -o third");
    let mut options = store.push_options();
    (options.overwrite, options.storage.timeout) = (true, Duration::from_millis(200));
    store.push("set", "train").unwrap();
    store.server.reset_counts();
    store.push_with("other", "train", &options).unwrap();
    let requests = store.server.counts().requests;
    for (n, next) in at_each(0..=requests - 1, &["other", "third", "set"]) {
        store.clear();
        store.push("set", "train").unwrap();
        store.server.reset_counts();
        store.server.rules().add(Rule::new(Fault::Forbidden).after(n));
        let _ = store.push_with("other", "train", &options);
        store.server.rules().clear();
        let what = format!("killed after request {n}, then {next}");
        let report = store.push_with(next, "train", &options).unwrap_or_else(|e| panic!("{what}: {e:#}"));
        assert!(report.notes.is_empty(), "{what}: {:?}", report.notes);
        // What was uploaded and never published is of no data set that was replaced.
        let mut objects = store.objects("train");
        if next != "other" {
            let files = store.files("other");
            objects.retain(|name, _| store.files(next).contains_key(name) || !files.contains_key(name));
        }
        same(&what, &objects, &store.files(next));
    }
}

#[test]
#[ignore = "full: a fault at each request"]
fn a_replacement_survives_a_fault_at_any_request() {
    let store = Store::new();
    store.ends(0, "reshard set --shards 1 -o other");
    let other = store.files("other");
    let mut options = store.push_options();
    options.overwrite = true;
    store.push("set", "train").unwrap();
    store.server.reset_counts();
    store.push_with("other", "train", &options).unwrap();
    let requests = store.server.counts().requests;
    let faults = [Fault::Lost, Fault::Conflict, Fault::SlowDown, Fault::ResetUpload { after: 50 }];
    for (n, fault) in at_each(1..=requests, &faults) {
        store.clear();
        store.push("set", "train").unwrap();
        store.server.rules().add(Rule::new(fault.clone()).nth(n));
        let what = format!("{} at request {n}", fault.name());
        let report = store.push_with("other", "train", &options).unwrap_or_else(|e| panic!("{what}: {e:#}"));
        assert!(report.notes.is_empty(), "{what}: {:?}", report.notes);
        same(&what, &store.objects("train"), &other);
    }
}

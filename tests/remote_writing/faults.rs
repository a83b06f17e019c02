//! Each request of a push fails once; and from each request on, nothing works any more. With `VIDREC_SOAK=1`, in each way.

use std::ops::RangeInclusive;
use std::time::Duration;

use fault_proxy::{Fault, Rule};
use vidrec::{PushOptions, Storage};

use crate::remote_writing::store::{Store, same};

/// A store in which `set` is to be pushed: where nothing is, or over another data set. And the requests that this takes.
fn store(replaces: bool) -> (Store, u64) {
    let store = Store::new();
    store.ends(0, "subset set --shards 1 -o other");
    begin(&store, replaces);
    store.push_with("set", "train", &overwriting(&store)).unwrap();
    let requests = store.server.counts().requests;
    assert!(requests > 10, "{requests}");
    begin(&store, replaces);
    (store, requests)
}

/// As it is before the push.
fn begin(store: &Store, replaces: bool) {
    store.clear();
    if replaces {
        store.push("other", "train").unwrap();
    }
    store.server.reset_counts();
}

fn overwriting(store: &Store) -> PushOptions {
    PushOptions { overwrite: true, ..store.push_options() }
}

/// Each request with one of these, in turn. `VIDREC_SOAK=1` takes all of them.
fn at_each<T: Clone>(requests: RangeInclusive<u64>, all: &[T]) -> Vec<(u64, T)> {
    let is_soak = std::env::var_os("VIDREC_SOAK").is_some();
    let is_its = |n: u64, i: usize| is_soak || n % all.len() as u64 == i as u64;
    let of = |n| all.iter().enumerate().filter(move |(i, _)| is_its(n, *i)).map(move |(_, one)| (n, one.clone()));
    requests.flat_map(of).collect()
}

fn survives_a_fault_at_any_request(replaces: bool) {
    let (store, requests) = store(replaces);
    let files = store.files("set");
    let upload = Fault::ResetUpload { after: 50 };
    let faults = match replaces {
        true => vec![Fault::Lost, Fault::Conflict, Fault::SlowDown, upload],
        false => {
            let breaks_off = [Fault::Reset { after: 0 }, Fault::Short { after: 0 }, Fault::NotHttp];
            [&[Fault::Lost, Fault::SlowDown, Fault::Conflict, Fault::Status(500), upload][..], &breaks_off].concat()
        }
    };
    for (n, fault) in at_each(1..=requests, &faults) {
        begin(&store, replaces);
        store.server.rules().add(Rule::new(fault.clone()).nth(n));
        let what = format!("{fault:?} at request {n}");
        let report = store.push_with("set", "train", &overwriting(&store)).unwrap_or_else(|e| panic!("{what}: {e:#}"));
        assert!(!report.found && report.notes.is_empty(), "{what}: {:?}", report.notes);
        same(&what, &store.objects("train"), &files);
        assert!(store.server.counts().faults == 1, "{what}");
    }
}

#[test]
fn a_fault_at_any_request_changes_nothing() {
    survives_a_fault_at_any_request(false);
}

#[test]
#[ignore = "full: a fault at each request"]
fn a_replacement_survives_a_fault_at_any_request() {
    survives_a_fault_at_any_request(true);
}

/// What is there after the error is completed by the next push.
#[test]
fn what_ends_at_any_request_is_continued() {
    let (store, requests) = store(false);
    let files = store.files("set");
    let mut options = store.push_options();
    options.storage.timeout = Duration::from_millis(200);
    for (n, fault) in at_each(0..=requests - 1, &[Fault::Lost, Fault::Forbidden, Fault::Status(500)]) {
        store.server.rules().add(Rule::new(fault.clone()).after(n));
        let what = format!("{fault:?} after request {n}");
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
    let (store, requests) = store(true);
    store.ends(0, "subset set --shards 3 -o third");
    let options = PushOptions {
        storage: Storage { timeout: Duration::from_millis(200), ..store.storage() },
        ..overwriting(&store)
    };
    for (n, next) in at_each(0..=requests - 1, &["set", "third", "other"]) {
        begin(&store, true);
        store.server.rules().add(Rule::new(Fault::Forbidden).after(n));
        let _ = store.push_with("set", "train", &options);
        store.server.rules().clear();
        let what = format!("killed after request {n}, then {next}");
        let report = store.push_with(next, "train", &overwriting(&store)).unwrap_or_else(|e| panic!("{what}: {e:#}"));
        assert!(report.notes.is_empty(), "{what}: {:?}", report.notes);
        // What was uploaded and never published is of no data set that was replaced.
        let mut objects = store.objects("train");
        if next != "set" {
            let files = store.files("set");
            objects.retain(|name, _| store.files(next).contains_key(name) || !files.contains_key(name));
        }
        same(&what, &objects, &store.files(next));
    }
}

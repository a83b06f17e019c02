//! What was interrupted goes on where it ended.

use std::collections::HashSet;
use std::ops::ControlFlow;

use fault_proxy::{Fault, Rule};

use crate::common::rich::Rich;
use crate::remote_writing::store::{Store, same};

#[test]
fn nothing_that_is_complete_is_uploaded_twice() {
    let store = Store::new();
    Rich { shards: &[2, 3, 4, 5, 6, 7], ..Rich::default() }.write(&store.path("many"));
    let files = store.files("many");
    let mut interrupted = 0;
    for n in 1..12 {
        let mut calls = 0;
        let stop = &mut |_: &vidrec::Progress| {
            calls += 1;
            if calls > n { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let ended = vidrec::push(store.path("many"), "s3://bucket/train", &store.push_options(), stop);
        if let Err(e) = &ended {
            assert!(format!("{e:#}").contains("the uploaded files remain"), "{e:#}");
            interrupted += 1;
        }
        let complete: HashSet<String> = store.objects("train").into_keys().collect();
        assert_eq!(complete.contains("dataset.json"), ended.is_ok());
        store.server.take_log();
        let report = store.push("many", "train").unwrap();
        assert!(report.kept_bytes > 0);
        let uploaded = store.server.take_log().into_iter().filter(|exchange| exchange.method == "PUT");
        let again: Vec<_> =
            uploaded.filter(|e| complete.contains(e.path.rsplit('/').next().unwrap())).map(|e| e.path).collect();
        assert!(again.is_empty(), "stopped at call {n}: {again:?}");
        same("continued", &store.objects("train"), &files);
        store.clear();
    }
    assert!(interrupted > 5, "{interrupted}");
}

#[test]
fn the_scratch_folder_stays_after_an_error_and_the_same_command_goes_on() {
    let store = Store::new();
    store.ends(0, "subset set --shards 3 -o local");
    let line = "subset set --shards 3 -o s3://bucket/x";
    // The probes pass.
    store.server.rules().add(Rule::new(Fault::Forbidden).method("PUT").path("shard-"));
    let said = store.ends(1, line);
    assert!(said.contains("run the same command again") && said.contains("vidrec-scratch-"), "{said}");
    assert!(store.files("scratch").keys().any(|name| name.ends_with("set/dataset.json")));
    store.server.rules().clear();
    store.ends(0, line);
    same("continued", &store.objects("x"), &store.files("local"));
    store.has_no_scratch("continued");
}

//! Servers that cannot serve a data set, or mean harm: one clear error, in time, and in bounded memory.

use fault_proxy::{Fault, Rule};
use vidrec::order::Order;
use vidrec::{Dataset, OnBadFrame};

use crate::common::data_set_server::{Served, ends, epoch, storage};
use crate::common::sample_data_sets;
use crate::common::{allocations, options, own_process, says};
use crate::remote_reading::equal::of_order;

/// What a data set may allocate at a time, whatever a server says. Pictures of other tests are smaller.
const MOST_AT_ONCE: usize = 64 << 20;
/// What a server can send before it is cut off: what is in sockets and buffers.
const MOST_SENT: u64 = 64 << 20;

/// Opens, and reads an epoch, with a fault for all requests from then on whose path has `path` in it.
fn error_of(what: &str, fault: Fault, path: &str, is_open: bool) -> vidrec::Error {
    let (fault, path) = (fault, path.to_owned());
    let (e, sent) = ends(what, move || {
        let served = Served::new(sample_data_sets::small(&[12, 4]));
        let rule = Rule::new(fault).path(&path);
        let opened = is_open.then(|| served.open().unwrap());
        served.server.rules().add(rule);
        let o = of_order(Order::Shuffled, options(4, (32, 24)));
        let found = opened.map_or_else(|| served.open(), Ok).and_then(|set| epoch(&set, &o, 0));
        (found.map(drop), served.server.counts().body_bytes)
    });
    let e = e.expect_err(what);
    assert!(sent < MOST_SENT, "{what}: {sent} bytes were sent");
    e
}

/// For `dataset.json`, an index, a record file at open, and a record file of an open data set.
fn everywhere(fault: &Fault, words: &[&str]) {
    let places = [("dataset.json", false), (".vidx", false), (".rec", false), (".rec", true)];
    std::thread::scope(|scope| {
        for (path, is_open) in places {
            scope.spawn(move || {
                let what = format!("{fault:?} of {path}, open: {is_open}");
                says(&what, &error_of(&what, fault.clone(), path, is_open), &[&[path], words].concat());
            });
        }
    });
}

#[test]
fn what_no_retry_helps_against_is_said() {
    everywhere(&Fault::Forbidden, &["access was refused (HTTP 403)", "AccessDenied", "check the credentials"]);
    everywhere(&Fault::RedirectLoop, &["redirects too many times", "check the location"]);
    everywhere(&Fault::Gzipped, &["compressed (gzip)"]);
    everywhere(&Fault::GzipGarbage, &[]);
    everywhere(&Fault::Status(451), &["HTTP 451"]);
}

#[test]
fn servers_that_always_fail_are_given_up_in_time() {
    std::thread::scope(|scope| {
        for (fault, word) in [
            (Fault::Status(500), "the server failed (HTTP 500)"),
            (Fault::SlowDown, "the server is overloaded (HTTP 503)"),
            (Fault::Unavailable { retry_after_seconds: 1_000_000_000_000 }, "(HTTP 503)"),
            (Fault::NotHttp, "the request failed"),
            (Fault::Lost, "the request failed"),
            // In 3 s, or once others have waited so long, in 2.
            (Fault::NoAnswer, "answer"),
        ] {
            scope.spawn(move || everywhere(&fault, &["could not fetch", word]));
        }
    });
}

#[test]
fn answers_without_ranges_or_with_wrong_ones_are_refused() {
    for (path, is_open) in [(".vidx", false), (".rec", false), (".rec", true)] {
        let e = error_of("whole", Fault::WholeObject, path, is_open);
        says("whole", &e, &[path, "does not support requests for ranges", "local copy"]);
        let e = error_of("range", Fault::WrongContentRange, path, is_open);
        says("range", &e, &[path, "a different range of the file"]);
    }
    let served = Served::by(sample_data_sets::small(&[12, 4]), |origin| origin.without_ranges());
    says("no ranges", &served.open().unwrap_err(), &[".vidx", "does not support requests for ranges"]);
}

#[test]
fn pages_in_place_of_files_are_named() {
    let e = error_of("page", Fault::Html, "dataset.json", false);
    says("page", &e, &["dataset.json", "a web page", "check the location"]);
    for path in [".vidx", ".rec"] {
        says("page", &error_of("page", Fault::Html, path, false), &[path, "ranges"]);
    }
    // From a server that makes ranges of everything.
    let served = Served::new(sample_data_sets::small(&[12, 4]));
    for file in std::fs::read_dir(served.dir()).unwrap().map(|file| file.unwrap().path()) {
        let page = "<!DOCTYPE html><html><body>Please sign in.</body></html>\n".repeat(200);
        if file.extension().is_some_and(|ending| ending == "vidx") {
            std::fs::write(file, page).unwrap();
        }
    }
    says("page in ranges", &served.open().unwrap_err(), &[".vidx", "a web page", "check the location"]);
}

#[test]
fn bodies_without_end_and_huge_lengths_fill_no_memory() {
    own_process::run(module_path!(), "bodies_without_end_and_huge_lengths_fill_no_memory", no_memory_is_filled);
}

fn no_memory_is_filled() {
    for (path, is_open) in [("dataset.json", false), (".vidx", false), (".rec", true)] {
        error_of("endless", Fault::Endless, path, is_open);
    }
    for path in ["dataset.json", ".vidx", ".rec"] {
        // Where all that was asked for comes first, it may as well be used.
        let found = ends("huge", move || {
            let served = Served::new(sample_data_sets::small(&[12, 4]));
            served.server.rules().add(Rule::new(Fault::HugeLength(1 << 60)).path(path));
            let o = of_order(Order::Shuffled, options(4, (32, 24)));
            let expected = epoch(&served.local(), &o, 0).unwrap();
            let found = served.open().and_then(|set| epoch(&set, &o, 0));
            (found.map(|found| found == expected), served.server.counts().body_bytes)
        });
        assert!(found.0.unwrap_or(true), "{path}: other batches");
        assert!(found.1 < 2 * MOST_SENT, "{path}: {} bytes", found.1);
    }
    for (more, path) in [(1 << 40, ".vidx"), (1 << 62, ".rec"), (i64::MAX, ".vidx"), (-5, ".rec")] {
        error_of("another length", Fault::OtherLength { more }, path, false);
    }
    assert!(allocations::largest() < MOST_AT_ONCE);
}

/// A clip that cannot be fetched is no damaged clip: replacing it would hide that the network is down.
#[test]
fn clips_that_cannot_be_fetched_are_not_substituted() {
    let served = Served::new(sample_data_sets::small(&[12]));
    let set = served.open().unwrap();
    served.server.rules().add(Rule::new(Fault::Forbidden).path(".rec"));
    let o = vidrec::LoaderOptions { on_bad_frame: OnBadFrame::Substitute, ..options(4, (32, 24)) };
    says("refused", &epoch(&set, &o, 0).unwrap_err(), &["access was refused", "clip "]);
}

#[test]
fn words_in_a_path_are_not_taken_for_reasons() {
    for word in ["metadata", "token", "redirect", "certificates", "credentials"] {
        let location = format!("http://127.0.0.1:1/{word}/set");
        let e = Dataset::open_with(location, storage()).unwrap_err();
        says(word, &e, &["connection was refused"]);
    }
}

//! Data sets on a server that answers as the Hugging Face Hub does: signed URLs, commits, tokens.

use vidrec::{Dataset, ErrorKind, PushOptions, Storage, no_progress, order::Order, push};

use crate::common::data_set_server::{epoch, storage};
use crate::common::fake_hugging_face_hub::{Hub, TOKEN};
use crate::common::sample_data_sets;
use crate::common::{options, says};
use crate::remote_reading::equal::of_order;

const SET: &str = "hf://datasets/me/set";

fn hub() -> (tempfile::TempDir, Hub) {
    let folder = tempfile::tempdir().unwrap();
    sample_data_sets::small(&[6, 4])(&folder.path().join("first"));
    let hub = Hub::new(&folder.path().join("first"));
    (folder, hub)
}

fn open(hub: &Hub, location: &str, token: &str) -> vidrec::Result<Dataset> {
    Dataset::open_with(location, Storage { options: hub.options(token), ..storage() })
}

#[test]
fn a_data_set_is_read_from_where_the_hub_redirects_to_without_the_token() {
    let (folder, hub) = hub();
    hub.state().is_private = true;
    let o = of_order(Order::Shuffled, options(3, (32, 24)));
    let local = Dataset::open(folder.path().join("first")).unwrap();
    let set = open(&hub, SET, TOKEN).unwrap();
    for round in 0..2 {
        assert!(epoch(&set, &o, round).unwrap() == epoch(&local, &o, round).unwrap());
    }
    let state = hub.state();
    assert!(state.asked.iter().all(|head| head.to_ascii_lowercase().contains("authorization: bearer")));
    let fetched = state.fetched.concat().to_ascii_lowercase();
    assert!(fetched.contains("range: bytes="), "{fetched}");
    for word in ["authorization", "hunter2", "if-match", "referer"] {
        assert!(!fetched.contains(word), "{word} in {fetched}");
    }
    assert!(state.asked.len() < 10 && state.fetched.len() > 5, "{} {}", state.asked.len(), state.fetched.len());
}

#[test]
fn a_url_that_expires_is_asked_for_again() {
    let (folder, hub) = hub();
    let o = of_order(Order::Sequential, options(3, (32, 24)));
    let local = Dataset::open(folder.path().join("first")).unwrap();
    let set = open(&hub, SET, "").unwrap();
    for round in 0..3 {
        hub.state().signature += 1;
        assert!(epoch(&set, &o, round).unwrap() == epoch(&local, &o, round).unwrap());
    }
}

#[test]
fn all_reads_are_of_the_commit_that_the_revision_was_when_it_was_opened() {
    let (folder, hub) = hub();
    let first = open(&hub, SET, "").unwrap();
    sample_data_sets::small(&[3])(&folder.path().join("second"));
    let second = hub.commit(&folder.path().join("second"));
    let o = of_order(Order::Sequential, options(3, (32, 24)));
    let local = Dataset::open(folder.path().join("first")).unwrap();
    assert!(epoch(&first, &o, 0).unwrap() == epoch(&local, &o, 0).unwrap());
    let now = open(&hub, SET, "").unwrap();
    assert_eq!((now.len(), open(&hub, &format!("{SET}@{second}"), "").unwrap().len()), (3, 3));
    let storage = Storage { options: hub.options(""), ..storage() };
    assert_eq!(vidrec::pinned(SET.as_ref(), &storage).unwrap().to_str().unwrap(), format!("{SET}@{second}"));
    assert_eq!(
        vidrec::pinned("hf://datasets/me/set@main/a b".as_ref(), &storage).unwrap().to_str().unwrap(),
        format!("{SET}@{second}/a b")
    );
}

#[test]
fn refusals_say_what_to_do_and_show_no_token() {
    let (folder, hub) = hub();
    says("revision", &open(&hub, &format!("{SET}@gone"), "").unwrap_err(), &["no such revision", "follows the @"]);
    says("path", &open(&hub, &format!("{SET}/gone"), "").unwrap_err(), &["no data set"]);
    says("name", &open(&hub, "hf://datasets/me/other", "").unwrap_err(), &["no such data set", "owner and name"]);
    says("model", &open(&hub, "hf://me/set", "").unwrap_err(), &["hf://datasets/OWNER/NAME"]);
    hub.state().is_private = true;
    for token in ["", "hf_hunter3"] {
        let e = open(&hub, SET, token).unwrap_err();
        says("private", &e, &["hf://datasets/me/set", "is private", "HF_TOKEN"]);
        assert!(!format!("{e:#} {e:?}").contains("hunter"), "{e:?}");
    }
    let e = push(folder.path().join("first"), SET, &PushOptions::default(), &mut no_progress).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Usage);
    says("push", &e, &["does not write", "hf upload"]);
}

#[test]
fn a_host_that_gives_other_sizes_than_the_hub_names_is_an_error() {
    let (_folder, hub) = hub();
    hub.state().cut = 100;
    let o = of_order(Order::Sequential, options(3, (32, 24)));
    let read = open(&hub, SET, "").and_then(|set| epoch(&set, &o, 0));
    assert!(read.is_err());
}

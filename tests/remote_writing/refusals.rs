//! What is not pushed, and what is not written elsewhere.

use std::fs;

use fault_proxy::{Fault, Rule};

use crate::common::{names, says};
use crate::remote_writing::store::Store;

#[test]
fn a_damaged_file_is_named_and_nothing_is_published() {
    for (name, words) in [
        ("shard-00001.rec", &["shard-00001-", ".rec", "not the one that dataset.json lists", "verify"][..]),
        ("shard-00000.vidx", &["shard-00000-", ".vidx"]),
    ] {
        let store = Store::new();
        let path = names::file(store.path("set"), name);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let e = store.push("set", "train").unwrap_err();
        says(name, &e, words);
        let damaged = path.file_name().unwrap().to_str().unwrap();
        assert!(!store.objects("train").keys().any(|name| name == "dataset.json" || name == damaged), "{name}");

        bytes.pop();
        fs::write(&path, &bytes).unwrap();
        store.push("set", "train").unwrap_err();
        fs::remove_file(&path).unwrap();
        let e = store.push("set", "train").unwrap_err();
        says(name, &e, &[damaged]);
        assert!(!store.objects("train").contains_key("dataset.json"), "{name}");
    }
}

#[test]
fn wrong_locations_and_sources_are_refused_with_what_to_do() {
    let store = Store::new();
    let shard = names::file(store.path("set"), "shard-00000.rec");
    fs::create_dir(store.path("in")).unwrap();
    fs::write(store.path("in/a.mp4"), "").unwrap();
    let web = format!("push set {}/bucket/train", store.server.url());
    for (line, words) in [
        (&*web, &["web servers are read-only", "s3://"][..]),
        ("push set elsewhere", &["local folder"]),
        ("push s3://bucket/a s3://bucket/b", &["only data sets on this machine", "fetch"]),
        ("push nothing s3://bucket/b", &["nothing"]),
        (&format!("push {} s3://bucket/b", shard.display()), &["whole data sets"]),
        ("push set s3://bucket/b/dataset.json", &["a data set is a folder"]),
        ("push set ftp://bucket/b", &["unknown kind of storage"]),
        ("merge set --append -o s3://bucket/a", &["fetch it", "push"]),
        ("repair s3://bucket/a", &["local folder"]),
        ("repair set -o s3://bucket/a", &["local folder", "push"]),
        ("fetch s3://bucket/a -o s3://bucket/b", &["local folder"]),
        ("export mxnet set -o s3://bucket/a", &["local folder"]),
    ] {
        let said = store.ends(1, line);
        assert!(words.iter().all(|word| said.contains(word)), "{line}: {said}");
        assert!(!store.path("s3:").exists() && store.objects("").is_empty(), "{line}");
    }
    for line in ["view set -o s3://bucket/x.png", "browse set --export s3://bucket/x.html"] {
        assert!(store.ends(2, line).contains("local folders"), "{line}");
    }
}

/// Before hours of work.
#[test]
fn a_location_that_cannot_be_written_to_is_refused_before_the_work() {
    let store = Store::new();
    for fault in [Fault::Forbidden, Fault::Status(404)] {
        store.server.rules().clear();
        store.server.rules().add(Rule::new(fault.clone()).method("PUT"));
        let mut options = vidrec::PushOptions::default();
        (options.storage, options.scratch) = (store.storage(), Some(store.path("here")));
        let write = |_: &std::path::Path| -> vidrec::Result<()> { panic!("the work began") };
        let e = vidrec::write_remote("s3://bucket/x", &options, write, &mut vidrec::no_progress).unwrap_err();
        let words = if fault == Fault::Forbidden {
            ["s3:PutObject", "s3://bucket/x"]
        } else {
            ["bucket", "not create buckets"]
        };
        says(&format!("{fault:?}"), &e, &words);
        assert!(store.files("here").is_empty());
    }
    store.server.rules().clear();
    store.push("set", "x").unwrap();
    let said = store.ends(1, "merge set -o s3://bucket/x");
    assert!(said.contains("there is another data set here"), "{said}");
    store.has_no_scratch("refused");
}

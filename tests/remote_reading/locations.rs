//! Locations that are wrong, and secrets in them.

use vidrec::{Dataset, Error, Loader, LoaderOptions, OpenOptions, Storage};

use crate::common::data_set_server::{Served, ends, storage};
use crate::common::sample_data_sets;
use crate::common::{names, options, says, sources};

fn refused(location: &str, storage: Storage) -> Error {
    let at = location.to_owned();
    ends(location, move || Dataset::open_with(at, storage).map(drop)).unwrap_err()
}

fn with(options: &[(&str, &str)]) -> Storage {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Storage { options, ..storage() }
}

#[test]
fn each_wrong_location_is_an_error_that_says_what_to_do() {
    let served = Served::new(sample_data_sets::tiny(&[3]));
    let url = served.server.url();
    let host = url.strip_prefix("http://").unwrap();
    for (location, words) in [
        ("ftp://host/set".to_owned(), &["unknown kind of storage", "s3://"][..]),
        ("s3:///set".to_owned(), &["no bucket"]),
        (format!("http://me:hunter2@{host}/set"), &["user name or password", "storage options"]),
        (format!("{url}/set?signature=hunter2"), &["query", "storage options"]),
        (format!("{url}/set/../set"), &["not a valid location"]),
        ("http://no-such-host.invalid/set".to_owned(), &["the host name cannot be resolved", "check"]),
        (format!("{url}/other"), &["there is no data set here", "dataset.json", "check the location"]),
        (format!("{url}/set/shard-7.vidx"), &["there is no such object", "shard-7.vidx", "check the location"]),
        ("http://127.0.0.1:1/set".to_owned(), &["connection was refused", "127.0.0.1:1"]),
    ] {
        let e = refused(&location, storage());
        says(&location, &e, words);
        assert!(!format!("{e:#} {e:?}").contains("hunter2"), "{e:#}");
    }
}

#[test]
fn options_that_do_not_exist_are_refused_without_their_values() {
    for location in ["s3://bucket/set", "gs://bucket/set", "az://container/set", "http://127.0.0.1:1/set"] {
        let e = refused(location, with(&[("colour", "hunter2")]));
        says(location, &e, &["no storage option \"colour\"", "object_store"]);
        assert!(!format!("{e:#} {e:?}").contains("hunter2"), "{e:#}");
    }
}

#[test]
fn a_missing_file_of_a_set_is_named() {
    let served = Served::new(sample_data_sets::tiny(&[3]));
    let record = names::file(served.dir(), "shard-00000.rec");
    std::fs::rename(&record, served.folder.path().join("elsewhere")).unwrap();
    let e = refused(&served.url(), storage());
    says("no record file", &e, &["there is no such object", ".rec"]);
    let index = names::file(served.dir(), "shard-00000.vidx");
    std::fs::rename(&index, served.folder.path().join("elsewhere")).unwrap();
    let e = refused(&served.url(), storage());
    says("no index", &e, &["there is no such object", ".vidx"]);
}

#[test]
fn single_files_of_a_set_can_be_named() {
    let served = Served::new(sample_data_sets::small(&[3, 2]));
    let local = served.local();
    let url = |name: &str| {
        let file = names::file(served.dir(), name);
        format!("{}/{}", served.url(), file.file_name().unwrap().to_str().unwrap())
    };
    let of = |location: &str| sources(&Dataset::open_with(location, storage()).unwrap());
    let all = sources(&local);
    assert_eq!(of(&url("dataset.json")), all);
    assert_eq!(of(&format!("{}/", served.url())), all);
    assert_eq!(of(&url("shard-00000.vidx")), all[..3]);
    assert_eq!(of(&url("shard-00001.rec")), all[3..]);
}

/// With the credentials of each kind of store, all of which the server refuses.
#[test]
fn secrets_are_in_no_error_and_no_debug_print() {
    let served = Served::new(sample_data_sets::small(&[3]));
    served.server.rules().add(fault_proxy::Rule::new(fault_proxy::Fault::Forbidden));
    let url = served.server.url();
    // The key is "hunter2hunter2hunter2hu" in base64, the token's signature is of our making.
    let (key, token) = ("aHVudGVyMmh1bnRlcjJodW50ZXIyaHU=", "sv=2024-01-01&sp=r&sig=hunter2");
    for (location, options) in [
        (
            "s3://bucket/set",
            &[
                ("endpoint", &*url),
                ("access_key_id", "me"),
                ("secret_access_key", "hunter2"),
                ("session_token", "hunter2"),
            ][..],
        ),
        ("az://container/set", &[("endpoint", &url), ("account_name", "me"), ("account_key", key)]),
        ("az://container/set", &[("endpoint", &url), ("account_name", "me"), ("sas_token", token)]),
        ("gs://bucket/set", &[("google_base_url", &url), ("google_skip_signature", "true")]),
    ] {
        for fault in [fault_proxy::Fault::Forbidden, fault_proxy::Fault::NotHttp, fault_proxy::Fault::RedirectLoop] {
            served.server.rules().clear();
            served.server.rules().add(fault_proxy::Rule::new(fault));
            let storage = Storage { timeout: std::time::Duration::from_millis(300), ..with(options) };
            assert!(!format!("{storage:?} {:?}", OpenOptions::from(storage.clone())).contains("hunter2"));
            let e = refused(location, storage);
            let text = format!("{e} {e:#} {e:?}");
            assert!(!text.contains("hunter2") && !text.contains(key), "{location}: {text}");
        }
    }
}

#[test]
fn secrets_are_in_no_debug_print_of_what_is_open() {
    let served = Served::new(sample_data_sets::small(&[3]));
    let url = served.server.url();
    let options_of_s3 =
        with(&[("endpoint", &url), ("access_key_id", "me"), ("secret_access_key", "hunter2"), ("region", "us-east-1")]);
    // In path style, the folder is a bucket of the server.
    let set = Dataset::open_with("s3://set", options_of_s3).unwrap();
    assert_eq!(set.len(), 3);
    let o = LoaderOptions { ..options(2, (16, 16)) };
    let loader = Loader::new(&set, o).unwrap();
    let batches = loader.iter(0).unwrap();
    let state = serde_json::to_string(&loader.state(0, 1)).unwrap();
    let stats = serde_json::to_string(&loader.stats()).unwrap();
    let clip = set.clip(1).unwrap();
    let printed = format!("{set:?} {loader:?} {batches:?} {clip:?} {state} {stats} {:?}", loader.stats());
    assert!(!printed.contains("hunter2"), "{printed}");
    assert_eq!(batches.map(Result::unwrap).count(), 2);
}

//! `vidrec fetch` from outside: a copy that is whole or not there, through damage and interruptions.

use std::fs;
use std::process::{Command, Stdio};

use fault_proxy::{Fault, Rule};
use vidrec::dataset_json::FILE_NAME;

use crate::cli::remote::Served;
use crate::common::rich::Rich;
use crate::common::tree;
use crate::common::until::until;

#[test]
fn a_copy_has_the_same_bytes_and_is_fetched_once() {
    let served = Served::new();
    let report = served.json("fetch U/set -o copy --json");
    assert_eq!((&report["clips"], &report["shards"], &report["kept_bytes"]), (&24.into(), &7.into(), &0.into()));
    let original = tree(&served.path("set"));
    assert_eq!(tree(&served.path("copy")), original);
    let sizes: usize = original.iter().filter(|(name, _)| *name != FILE_NAME).map(|(_, b)| b.len()).sum();
    assert_eq!(report["bytes"], sizes);

    // Once more: the list is read, and the copy is proven.
    served.server.reset_counts();
    let report = served.json("fetch U/set -o copy --json");
    assert_eq!((served.server.counts().requests, &report["kept_bytes"]), (1, &report["bytes"]));

    // What is damaged in the copy is fetched.
    let record = served.path("copy").join(original.keys().find(|name| name.ends_with(".rec")).unwrap());
    let mut bytes = fs::read(&record).unwrap();
    bytes[30] ^= 1;
    fs::write(&record, bytes).unwrap();
    served.text("fetch U/set -o copy");
    assert_eq!(tree(&served.path("copy")), original);
}

#[test]
fn another_data_set_is_replaced_only_when_told_and_an_old_copy_takes_what_is_new() {
    let served = Served::new();
    served.text("fetch U/set -o copy");
    Rich { shards: &[2], from: 100, ..Rich::default() }.write(&served.path("more"));
    served.text("merge more --append -o set");
    let text = served.refusal("fetch U/set -o copy", 1);
    assert!(text.contains("already a data set") && text.contains("--overwrite"), "{text}");
    served.server.reset_counts();
    served.text("fetch U/set -o copy --overwrite");
    let counts = served.server.counts();
    assert!(
        counts.paths.keys().filter(|path| path.contains("shard-")).all(|path| path.contains("shard-00007")),
        "{counts:?}"
    );
    assert_eq!(tree(&served.path("copy")), tree(&served.path("set")));
    // Also the other way round, and what only the old one had is gone.
    served.text("fetch U/more -o copy --overwrite");
    assert_eq!(tree(&served.path("copy")), tree(&served.path("more")));
}

#[test]
fn damage_on_the_way_is_fetched_again_and_a_damaged_object_gives_no_copy() {
    let served = Served::new();
    for name in tree(&served.path("set")).keys().filter(|name| name.ends_with(".rec") || name.ends_with(".vidx")) {
        served.server.rules().add(Rule::new(Fault::FlippedByte { at: 40 }).path(name).first(1));
    }
    served.text("fetch U/set -o copy");
    assert!(served.server.counts().faults > 0);
    assert_eq!(tree(&served.path("copy")), tree(&served.path("set")));

    served.server.rules().add(Rule::new(Fault::FlippedByte { at: 40 }).path("shard-00003"));
    let text = served.refusal("fetch U/set -o other", 1);
    assert!(text.contains("shard-00003") && text.contains("fetched twice"), "{text}");
    assert!(!served.path("other").exists(), "a refused fetch leaves nothing");
    // Nor does it in a folder that was there, whoever named the files.
    let record = tree(&served.path("set")).into_keys().find(|name| name.ends_with(".rec")).unwrap();
    fs::rename(served.path("set").join(&record), served.path("set/train.rec")).unwrap();
    let json = fs::read_to_string(served.path("set").join(FILE_NAME)).unwrap();
    fs::write(served.path("set").join(FILE_NAME), json.replace(&record, "train.rec")).unwrap();
    fs::create_dir(served.path("mine")).unwrap();
    fs::write(served.path("mine/notes.txt"), "mine").unwrap();
    served.refusal("fetch U/set -o mine", 1);
    assert_eq!(tree(&served.path("mine")).into_keys().collect::<Vec<_>>(), ["notes.txt"]);
    served.server.rules().clear();
    served.text("fetch U/set -o other");
    assert_eq!(tree(&served.path("other")), tree(&served.path("set")));
}

#[test]
fn after_a_kill_it_goes_on_and_trusts_nothing() {
    let served = Served::new();
    served.server.rules().add(Rule::new(Fault::NoAnswer).path("shard-00004"));
    let location = served.server.url() + "/set";
    let mut fetch = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    let fetch = fetch.args(["fetch", &location, "-o"]).arg(served.path("copy")).stderr(Stdio::null());
    let mut running = fetch.spawn().unwrap();
    let set = tree(&served.path("set"));
    let temporary = |name: &str| served.path("copy").join(format!(".{}.tmp", name));
    let third: Vec<_> = set.keys().filter(|name| name.starts_with("shard-00003")).collect();
    until("the fourth shard is fetched", || {
        third.iter().all(|name| fs::metadata(temporary(name)).is_ok_and(|meta| meta.len() == set[*name].len() as u64))
    });
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(!served.path("copy").join(FILE_NAME).exists());

    // One part has a wrong byte, one was cut, one is of something else.
    let names: Vec<_> = set.keys().filter(|name| name.ends_with(".rec")).collect();
    let mut bytes = set[names[0]].clone();
    bytes[50] ^= 1;
    fs::write(temporary(names[0]), bytes).unwrap();
    fs::write(temporary(names[1]), &set[names[1]][..100]).unwrap();
    fs::write(temporary(names[2]), vec![7; 1 << 20]).unwrap();
    served.server.rules().clear();
    served.server.reset_counts();
    let report = served.json("fetch U/set -o copy --json");
    assert_eq!(tree(&served.path("copy")), set);
    let kept = report["kept_bytes"].as_u64().unwrap();
    let whole = set[names[3]].len() as u64 + 100;
    assert!(kept >= whole && kept < report["bytes"].as_u64().unwrap(), "{report}");
    let path = format!("/set/{}", names[1]);
    let requests: Vec<_> = served.server.take_log().into_iter().filter(|e| e.path == path).collect();
    assert!(requests.iter().any(|e| e.range.as_deref().is_some_and(|r| r.starts_with("bytes=100-"))), "{requests:?}");
}

#[test]
#[cfg(unix)]
fn ctrl_c_stops_it_and_says_so() {
    let served = Served::new();
    served.server.rules().add(Rule::new(Fault::NoAnswer).path("shard-00006"));
    let location = served.server.url() + "/set";
    let mut fetch = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    let mut running = fetch.args(["fetch", &location, "-o"]).arg(served.path("copy")).spawn().unwrap();
    let is_asked = || served.server.counts().paths.keys().any(|path| path.contains("shard-00006"));
    until("it waits for the last shard", is_asked);
    // Until then, the first shards have come.
    let first = || tree(&served.path("copy")).keys().any(|name| name.contains("shard-00000"));
    until("a part is there", || served.path("copy").exists() && first());
    let pid = running.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    served.server.rules().clear();
    served.text("fetch U/set -o copy");
    assert_eq!(tree(&served.path("copy")), tree(&served.path("set")));
}

#[test]
fn only_whole_remote_data_sets_are_fetched() {
    let served = Served::new();
    assert!(served.refusal("fetch set -o copy", 1).contains("on this machine"));
    assert!(served.refusal("fetch U/nothing -o copy", 1).contains("there is no data set here"));
    assert!(served.refusal("fetch U/set/shard-00000.rec -o copy", 1).contains("whole data sets"));
    served.server.rules().add(Rule::new(Fault::Html).path("dataset.json"));
    let text = served.refusal("fetch U/set -o copy", 1);
    assert!(text.contains("dataset.json"), "{text}");
    assert!(!served.path("copy").join(FILE_NAME).exists());
}

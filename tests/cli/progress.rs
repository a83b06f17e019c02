//! Progress without a terminal: on standard error, as lines or as JSON, and never among the results.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::common;

fn vidrec(set: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vidrec")).arg(args[0]).arg(set).args(&args[1..]).output().unwrap()
}

fn lines(text: &[u8]) -> Vec<String> {
    String::from_utf8(text.to_vec()).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_log_has_a_line_at_the_start_and_one_at_the_end_of_long_work() {
    let (_folder, set) = common::set(3, 2, (32, 32));
    let run = vidrec(&set, &["verify", "--progress", "lines"]);
    let told = lines(&run.stderr);
    assert_eq!((told.len(), told[0].as_str()), (2, "vidrec: 0 frames done; a line a minute follows"), "{told:?}");
    assert!(told[1].starts_with("vidrec: 6 of 6 frames, ") && told[1].ends_with("ended after 0 s"), "{told:?}");
    assert_eq!(lines(&run.stdout), ["intact: 3 clips, 6 frames; structure, ids and checksums are correct"]);
    // A log of short commands stays short.
    assert_eq!(lines(&vidrec(&set, &["verify"]).stderr), Vec::<String>::new());
}

#[test]
fn programs_get_an_object_a_line() {
    let (folder, set) = common::set(3, 2, (32, 32));
    let copy = folder.path().join("copy");
    let run = vidrec(&set, &["subset", "--clips", "0-1", "-o", copy.to_str().unwrap(), "--progress", "json", "--json"]);
    let told: Vec<Value> = lines(&run.stderr).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let states: Vec<&Value> = told.iter().map(|line| &line["state"]).collect();
    assert_eq!((states[0], states[states.len() - 1]), (&"started".into(), &"ended".into()), "{told:?}");
    let last = &told[told.len() - 1];
    assert_eq!((&last["items"], &last["done"], &last["total"]), (&"clips".into(), &2.into(), &2.into()), "{last}");
    for key in ["failed", "seconds", "per_second", "seconds_left"] {
        assert!(last.get(key).is_some(), "no {key} in {last}");
    }
    assert_eq!(serde_json::from_slice::<Value>(&run.stdout).unwrap()["clips"], 2);
}

#[test]
fn nothing_is_shown_where_nothing_is_wanted() {
    let (_folder, set) = common::set(2, 2, (32, 32));
    assert_eq!(lines(&vidrec(&set, &["verify", "--progress", "none"]).stderr), Vec::<String>::new());
    assert_eq!(vidrec(&set, &["verify", "--progress", "dots"]).status.code(), Some(2));
}

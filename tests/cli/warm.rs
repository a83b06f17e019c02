//! `vidrec warm` from outside.

use serde_json::json;

use crate::cli::remote::Served;

#[test]
fn warming_says_what_it_fetched_what_was_here_and_what_did_not_fit() {
    let served = Served::new();
    let all = served.text("warm U/set --cache cache --cache-bytes 1GiB");
    assert!(all.starts_with("24 clips, ") && all.contains("fetched ") && all.contains(" requests\n"), "{all}");
    let again = served.text("warm U/set --cache cache --cache-bytes 1GiB");
    assert!(again.contains(" of it already here\n"), "{again}");
    let some = served.json("warm U/set --cache some --cache-bytes 1GiB --clips 3-5,13 --class run --json");
    let chosen = served.json("fetch U/set -o copy --clips 3-5,13 --class run --json");
    assert_eq!((&some["clips"], &some["missing_bytes"]), (&chosen["clips"], &json!(0)));

    let run = served.run("warm U/set --cache little --cache-bytes 8KiB");
    let said = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(
        said.contains("did not fit into the cache of 8.2 kB") && said.contains("will come from the server"),
        "{said}"
    );
}

#[test]
fn only_remote_data_sets_are_warmed_and_only_with_a_cache() {
    let served = Served::new();
    let said = served.refusal("warm U/set", 1);
    assert!(said.contains("set --cache"), "{said}");
    assert!(served.refusal("warm set --cache cache", 1).contains("on this machine"));
    assert!(served.refusal("warm U/nothing --cache cache", 1).contains("no data set"));
}

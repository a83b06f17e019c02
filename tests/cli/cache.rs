//! `vidrec cache` from outside, on a cache whose files are made here, as `crates/vidrec-core/src/store/cache/` and design note 0018 describe them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cli::remote::Served;
use crate::common::program_runs::vidrec;

const PAGE: usize = 4096;
/// The header of a range in a segment.
const HEADER: usize = 16;

fn text(run: &Output) -> String {
    String::from_utf8(run.stdout.clone()).unwrap() + &String::from_utf8(run.stderr.clone()).unwrap()
}

fn json(line: &str, dir: &Path) -> Value {
    serde_json::from_slice(&vidrec(line, dir).stdout).unwrap()
}

/// Makes an object of `of` bytes in the cache `dir/cache`, of which the first `here` pages are there.
fn put(dir: &Path, location: &str, here: usize, of: usize, days: u64) -> PathBuf {
    let mut digest = Sha256::new();
    for text in [location, "v1"] {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.update((of as u64).to_le_bytes());
    let key: String = digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let object = dir.join("cache/objects").join(key);
    fs::create_dir_all(&object).unwrap();
    fs::write(dir.join("cache/vidrec-cache"), "vidrec cache, format 3\n").unwrap();
    let identity = json!({"format": 3, "location": location, "version": "v1", "length": of});
    fs::write(object.join("object.json"), identity.to_string()).unwrap();
    let length = (here * PAGE).min(of);
    let header = [0, length as u64].map(u64::to_le_bytes).concat();
    fs::write(object.join("0"), [header, vec![7; length]].concat()).unwrap();
    let segment = File::options().write(true).open(object.join("0")).unwrap();
    segment.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400 + 60)).unwrap();
    object
}

/// A cache of three objects of 9, 3 and 2 pages, the last of which is short.
fn cache() -> (tempfile::TempDir, [PathBuf; 3]) {
    let dir = tempfile::tempdir().unwrap();
    let place = |location, here, of, days| put(dir.path(), location, here, of, days);
    let objects = [
        place("s3://bucket/train/a.rec", 9, 20 * PAGE, 3),
        place("s3://bucket/train/b.rec", 3, 3 * PAGE, 2),
        place("gs://other/\u{1b}[2Jc.rec", 2, PAGE + 1, 1),
    ];
    (dir, objects)
}

#[test]
fn it_is_shown_as_it_is() {
    let (dir, _) = cache();
    let shown = text(&vidrec("cache show cache", dir.path()));
    let lines: Vec<&str> = shown.lines().collect();
    let first = "gs://other/\\u{1b}[2Jc.rec: 4.1 kB of 4.1 kB (100 %), last used 1 day ago, version v1";
    let last = "s3://bucket/train/a.rec: 36.9 kB of 81.9 kB (45 %), last used 3 days ago, version v1";
    assert_eq!((lines[0], lines[2], lines[3]), (first, last, "3 objects, 53.3 kB here"));
    let report = json("cache show cache --json", dir.path());
    assert_eq!(
        (&report["bytes"], &report["limit"], &report["objects"][0]["bytes"]),
        (&json!(3 * HEADER + 12 * PAGE + PAGE + 1), &Value::Null, &json!(HEADER + PAGE + 1))
    );
    assert!(!dir.path().join("cache/used").exists(), "showing changes nothing");
}

#[test]
fn clearing_removes_all_objects_or_those_of_one_place() {
    let (dir, objects) = cache();
    let run = vidrec("cache clear cache --location s3://bucket/", dir.path());
    assert_eq!((text(&run), run.status.code()), ("removed 49.2 kB; 4.1 kB left\n".into(), Some(0)));
    assert_eq!(objects.each_ref().map(|object| object.exists()), [false, false, true]);
    assert_eq!(json("cache clear cache --json", dir.path())["bytes"], 0);
    assert!(!objects[2].exists());
}

#[test]
fn a_folder_that_is_no_cache_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("data/objects/00112233445566778899aabbccddeeff")).unwrap();
    for line in ["cache show data", "cache clear data", "cache clear nowhere"] {
        let run = vidrec(line, dir.path());
        assert_eq!(run.status.code(), Some(1));
        assert!(text(&run).contains("not a vidrec cache"), "{}", text(&run));
    }
    assert!(dir.path().join("data/objects/00112233445566778899aabbccddeeff").exists());
    assert_eq!(fs::read_dir(dir.path().join("data")).unwrap().count(), 1);
    assert!(!dir.path().join("nowhere").exists());
}

#[test]
fn warming_says_what_it_fetched_what_was_here_and_what_did_not_fit() {
    let served = Served::new();
    let all = served.text("cache warm U/set --cache cache --cache-bytes 1GiB");
    assert!(all.starts_with("24 clips, ") && all.contains("fetched ") && all.contains(" requests\n"), "{all}");
    let again = served.text("cache warm U/set --cache cache --cache-bytes 1GiB");
    assert!(again.contains(" of it already here\n"), "{again}");
    let some = served.json("cache warm U/set --cache some --cache-bytes 1GiB --clips 3-5,13 --class run --json");
    let chosen = served.json("subset U/set -o copy --clips 3-5,13 --class run --json");
    assert_eq!((&some["clips"], &some["missing_bytes"]), (&chosen["clips"], &json!(0)));

    let run = served.run("cache warm U/set --cache little --cache-bytes 8KiB");
    let said = text(&run);
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(
        said.contains("did not fit into the cache of 8.2 kB") && said.contains("will come from the server"),
        "{said}"
    );
}

#[test]
fn only_remote_data_sets_are_warmed_and_only_with_a_cache() {
    let served = Served::new();
    let said = served.refusal("cache warm U/set", 1);
    assert!(said.contains("set --cache"), "{said}");
    assert!(served.refusal("cache warm set --cache cache", 1).contains("on this machine"));
    assert!(served.refusal("cache warm U/nothing --cache cache", 1).contains("no data set"));
}

//! Publishing: where, how often, and without what is missing.

use std::fs;

use serde_json::Value;

use crate::shards::support::{Videos, has_no_set, is_whole, show, stdout};

#[test]
#[ignore = "full: many packs"]
fn a_plan_is_published_where_it_is_and_elsewhere_as_often_as_asked() {
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    videos.packed("plan");
    let before = videos.files("plan");
    let run = videos.ends(3, &["publish", "plan"]);
    assert!(stdout(&run).starts_with("published "), "{}", show(&run));
    is_whole(&videos.path("plan"));
    let mut here = videos.files("plan");
    here.retain(|name, _| !["plan.json", "jobs.jsonl"].contains(&name.as_str()));
    assert_eq!(here, whole);
    for out in ["plan", "plan/", "./plan", "plan/../plan"] {
        videos.fails(&["publish", "plan", "-o", out], &["already been published", "--overwrite"]);
        videos.ends(3, &["publish", "plan", "-o", out, "--overwrite"]);
        assert!(before.keys().all(|name| videos.path("plan").join(name).exists()), "{out} keeps what the plan has");
    }
    assert_eq!(videos.published("plan", "out"), whole);
    videos.fails(&["publish", "plan", "-o", "out"], &["already a data set", "--overwrite"]);
    videos.ends(3, &["publish", "plan", "-o", "out", "--overwrite", "--read-all"]);
    assert_eq!(videos.files("out"), whole);
    videos.packed("other");
    videos.fails(&["publish", "plan", "-o", "other", "--overwrite"], &["a plan and its parts"]);
    videos.fails(&["pack", "in", "-o", "other", "--if-exists", "replace"], &["a plan and its parts"]);
    // The data set does not need the plan.
    videos.remove("plan");
    is_whole(&videos.path("out"));
    assert_eq!(videos.files("out"), whole);
}

#[cfg(unix)]
#[test]
fn files_are_linked_on_the_same_file_system_and_copied_to_another() {
    use std::os::unix::fs::MetadataExt;
    let videos = Videos::make(8);
    videos.packed("plan");
    videos.published("plan", "out");
    let own = videos.file_of("plan", 0, "rec");
    let linked = videos.path("out").join(own.file_name().unwrap());
    let node = |path: &std::path::Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).unwrap();
    assert_eq!(node(&own), node(&linked));
    let elsewhere = tempfile::tempdir_in("/dev/shm").ok();
    let other = |dir: &tempfile::TempDir| fs::metadata(dir.path()).unwrap().dev() != node(&own).0;
    let Some(elsewhere) = elsewhere.filter(other) else {
        return crate::common::skip::skip("no second file system at /dev/shm");
    };
    let out = elsewhere.path().join("set");
    videos.ends(3, &["publish", "plan", "-o", out.to_str().unwrap()]);
    assert_eq!(videos.files(out.to_str().unwrap()), videos.files("out"));
    is_whole(&out);
}

#[test]
fn videos_of_missing_parts_are_in_the_list_of_failures() {
    let videos = Videos::make(20);
    videos.plan("plan", &["--max-failures", "1"]);
    for part in [0, 3] {
        videos.pack_part("plan", part);
    }
    videos.fails(&["publish", "plan"], &["2 of 4 parts", "no receipts of 1, 2", "vidrec status --missing"]);
    has_no_set(&videos.path("plan"));
    let run = videos.ends(3, &["publish", "plan", "-o", "out", "--allow-missing", "--json"]);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let parts = videos.json("plan/plan.json")["parts"].clone();
    let (first, after) = (parts[1]["first"].as_u64().unwrap(), parts[3]["first"].as_u64().unwrap());
    let list = fs::read_to_string(videos.path("out").join(report["failures_file"].as_str().unwrap())).unwrap();
    let failures: Vec<Value> = list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let missing: Vec<_> = failures.iter().filter(|failure| failure["stage"] == "missing").collect();
    let items: Vec<u64> = missing.iter().map(|failure| failure["item"].as_u64().unwrap()).collect();
    assert_eq!(items, (first..after).collect::<Vec<_>>(), "{list}");
    let jobs = fs::read_to_string(videos.path("plan/jobs.jsonl")).unwrap();
    let jobs: Vec<Value> = jobs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        missing
            .iter()
            .all(|failure| failure["source"] == jobs[failure["item"].as_u64().unwrap() as usize]["job"]["source"])
    );
    assert!(missing[0]["error"].as_str().unwrap().contains("part 1"), "{}", missing[0]);
    is_whole(&videos.path("out"));
    // The whole data set replaces it.
    for part in [1, 2] {
        videos.pack_part("plan", part);
    }
    videos.ends(3, &["publish", "plan", "-o", "out", "--overwrite"]);
    assert_eq!(videos.files("out"), videos.whole("whole", &["--max-failures", "1"]));
}

#[test]
fn nothing_is_made_of_no_parts() {
    let videos = Videos::make(4);
    videos.plan("plan", &[]);
    videos.fails(&["publish", "plan", "-o", "out", "--allow-missing"], &["4 of 4 parts are not done"]);
    has_no_set(&videos.path("out"));
    let run = videos.ends(3, &["status", "plan", "--missing"]);
    assert_eq!(stdout(&run), "0-3\n", "{}", show(&run));
}

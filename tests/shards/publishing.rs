//! Publishing: once, again, and without what is missing.

use std::fs;

use serde_json::Value;

use crate::shards::support::{Videos, has_no_set, is_whole, show, stdout};

#[test]
fn a_plan_becomes_the_data_set_of_its_folder_and_is_gone() {
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    videos.packed("plan");
    videos.copy("plan/.vidrec.pack", "kept");
    has_no_set(&videos.path("plan"));
    let run = videos.ends(3, &["publish", "plan"]);
    assert!(stdout(&run).starts_with("published "), "{}", show(&run));
    assert_eq!(videos.alone("plan"), whole);
    is_whole(&videos.path("plan"));
    for args in [&["publish", "plan"][..], &["pack", "plan", "--part", "0"]] {
        videos.fails(args, &["there is no plan here", "goes when its parts are published"]);
    }
    assert!(stdout(&videos.ends(0, &["status", "plan"])).starts_with("4 of 4 parts done"));
    // A publication that was killed after its commit is finished: the shards have moved.
    videos.copy("kept", "plan/.vidrec.pack");
    for file in fs::read_dir(videos.path("plan/.vidrec.pack")).unwrap().map(|entry| entry.unwrap().path()) {
        let is_shard = file.file_name().unwrap().to_str().unwrap().starts_with("shard-");
        assert!(!is_shard || fs::remove_file(file).is_ok());
    }
    assert_eq!(videos.published("plan"), whole);
    // What it leaves where it is killed later is of no other plan.
    videos.copy("kept", "plan/.vidrec.pack");
    fs::remove_file(videos.path("plan/.vidrec.pack/plan.json")).unwrap();
    videos.ends(0, &["inspect", "plan"]);
    videos.plan("plan", &["-n", "2"]);
    assert_eq!(stdout(&videos.ends(3, &["status", "plan", "--missing"])), "0-3\n");
    videos.remove("plan/.vidrec.pack");
    // Packed again to the same bytes, or to others.
    videos.packed("plan");
    assert_eq!(videos.published("plan"), whole);
    videos.plan("plan", &["-n", "3"]);
    videos.pack_all("plan");
    videos.fails(&["publish", "plan"], &["already a data set", "--overwrite"]);
    assert!(whole.iter().all(|(name, digest)| videos.files("plan").get(name) == Some(digest)), "the old one is whole");
    videos.ends(3, &["publish", "plan", "--overwrite", "--read-all"]);
    assert_eq!(videos.alone("plan"), videos.whole("three", &["-n", "3"]));
}

#[test]
fn videos_of_missing_parts_are_in_the_list_of_failures() {
    let videos = Videos::make(20);
    videos.plan("plan", &["--max-failures", "1"]);
    videos.fails(&["publish", "plan", "--allow-missing"], &["4 of 4 parts are not done"]);
    for part in [0, 3] {
        videos.pack_part("plan", part);
    }
    videos.fails(&["publish", "plan"], &["2 of 4 parts", "no receipts of 1, 2", "vidrec status --missing"]);
    has_no_set(&videos.path("plan"));
    let run = videos.ends(3, &["publish", "plan", "--allow-missing", "--json"]);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let parts = videos.json("plan/.vidrec.pack/plan.json")["parts"].clone();
    let (first, after) = (parts[1]["first"].as_u64().unwrap(), parts[3]["first"].as_u64().unwrap());
    let list = fs::read_to_string(videos.path("plan").join(report["failures_file"].as_str().unwrap())).unwrap();
    let failures: Vec<Value> = list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let missing: Vec<_> = failures.iter().filter(|failure| failure["stage"] == "missing").collect();
    let items: Vec<u64> = missing.iter().map(|failure| failure["item"].as_u64().unwrap()).collect();
    assert_eq!(items, (first..after).collect::<Vec<_>>(), "{list}");
    let jobs = fs::read_to_string(videos.jobs("plan")).unwrap();
    let jobs: Vec<Value> = jobs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        missing
            .iter()
            .all(|failure| failure["source"] == jobs[failure["item"].as_u64().unwrap() as usize]["job"]["source"])
    );
    assert!(missing[0]["error"].as_str().unwrap().contains("part 1"), "{}", missing[0]);
    is_whole(&videos.path("plan"));
    // The plan stays, and the whole data set replaces it.
    assert_eq!(stdout(&videos.ends(3, &["status", "plan", "--missing"])), "1-2\n");
    videos.fails(&["publish", "plan"], &["2 of 4 parts"]);
    for part in [1, 2] {
        videos.pack_part("plan", part);
    }
    videos.fails(&["publish", "plan"], &["already a data set", "--overwrite"]);
    videos.ends(3, &["publish", "plan", "--overwrite"]);
    assert_eq!(videos.alone("plan"), videos.whole("whole", &["--max-failures", "1"]));
}

#[test]
fn the_shards_of_a_lost_list_stay_unless_they_may_be_replaced() {
    let videos = Videos::make(4);
    let whole = videos.whole("whole", &[]);
    videos.packed("plan");
    let stray = videos.path("plan/shard-00000-0123456789ab.rec");
    fs::write(&stray, "of a data set that lost its list").unwrap();
    videos.fails(&["publish", "plan"], &["shards but no dataset.json", "--overwrite"]);
    assert!(stray.exists());
    has_no_set(&videos.path("plan"));
    videos.ends(3, &["publish", "plan", "--overwrite"]);
    assert_eq!(videos.alone("plan"), whole);
}

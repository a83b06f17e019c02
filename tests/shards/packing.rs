//! Shards in any order, any number of times and at once.

use std::fs;

use serde_json::Value;

use crate::shards::support::{SHARDS, Videos, show, stderr, stdout};

#[test]
fn parts_in_any_order_give_the_bytes_of_one_machine() {
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    assert_eq!(whole.len(), 2 * SHARDS as usize + 2, "two files a part, dataset.json and the failures: {whole:?}");
    for more in [&["--no-isolate"][..], &["-j", "1"], &["-j", "7"]] {
        assert_eq!(videos.whole("again", &[more, &["--if-exists", "replace"]].concat()), whole, "{more:?}");
    }
    for (out, order) in [("backward", [3, 2, 1, 0]), ("mixed", [2, 0, 3, 1])] {
        videos.plan(out, &[]);
        for part in order {
            videos.pack_part(out, part);
            let again = videos.pack_part(out, part);
            assert!(stdout(&again).starts_with("nothing to do: part "), "{}", show(&again));
        }
        assert_eq!(videos.published(out), whole, "{out}");
    }
}

/// Draws of random frames and shuffled clips go by the place of a video in all of the plan.
#[test]
fn what_goes_by_places_is_that_of_one_machine() {
    let videos = Videos::make(12);
    let more = ["--sample", "random", "--draws", "2", "--seed", "7", "--shuffle-seed", "3"];
    let whole = videos.whole("whole", &more);
    videos.plan("plan", &more);
    videos.pack_all("plan");
    assert_eq!(videos.published("plan"), whole);
    let settings = &videos.json("plan/dataset.json")["settings"];
    assert_eq!((&settings["shards"], &settings["seed"]), (&SHARDS.into(), &7.into()), "{settings}");
}

#[test]
fn shards_are_even_or_bounded_and_in_order() {
    let videos = Videos::make(10);
    let sources = |out: &str| -> Vec<String> {
        let set = vidrec::Dataset::open(videos.path(out)).unwrap();
        set.clips().map(|clip| clip.unwrap().source().unwrap()).collect()
    };
    videos.whole("one", &["--shards", "1"]);
    // Eleven videos, of which the sixth is broken. A shard without clips is none.
    for (shards, clips) in
        [("3", &[4, 3, 3][..]), ("100", &[1; 10]), ("each:4", &[4, 3, 3]), ("1GB", &[10]), ("600MB", &[10])]
    {
        videos.whole("set", &["--shards", shards, "--if-exists", "replace"]);
        let json = videos.json("set/dataset.json");
        let found: Vec<u64> = json["shards"].as_array().unwrap().iter().map(|s| s["clips"].as_u64().unwrap()).collect();
        assert_eq!(found, clips, "{shards}");
        assert_eq!(sources("set"), sources("one"), "{shards}");
        // A plan divides in the same way.
        videos.remove("plan");
        let run = videos.ends(0, &["plan", "in", "-o", "plan", "--shards", shards, "-n", "4", "--json"]);
        let told: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(told["parts"], json["settings"]["shards"], "{shards}");
    }
    // By the estimate of the size of a clip, some 200 kB.
    videos.whole("small", &["--shards", "1MB", "--size", "original"]);
    videos.whole("default", &["--if-exists", "replace"]);
}

#[test]
fn the_part_is_that_of_the_scheduler_s_task() {
    let videos = Videos::make(6);
    videos.plan("plan", &[]);
    let arguments = ["pack", "plan", "--part", "auto"];
    let variables = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"];
    let bare = || {
        let mut command = videos.command(&arguments);
        for name in variables {
            command.env_remove(name);
        }
        command
    };
    for (name, part) in variables.into_iter().zip(["1", "2", "3"]) {
        let run = bare().env(name, part).output().unwrap();
        assert!(stdout(&run).starts_with(&format!("packed part {part} of 4")), "{}", show(&run));
    }
    for (name, value) in [("SLURM_ARRAY_TASK_ID", "4"), ("SLURM_ARRAY_TASK_ID", "first"), ("UNKNOWN", "0")] {
        let run = bare().env(name, value).output().unwrap();
        assert!(run.status.code() == Some(1) && stderr(&run).contains("part"), "{}", show(&run));
    }
}

#[test]
fn tasks_pack_every_nth_part_and_go_on_behind_one_that_fails() {
    let videos = Videos::make(20);
    videos.plan("plan", &[]);
    let task = |number: &str, status: i32| {
        let run = videos.ends(status, &["pack", "plan", "--part", number, "--tasks", "3"]);
        (stdout(&run), stderr(&run))
    };
    fs::rename(videos.path("in/even/0000.mp4"), videos.path("away.mp4")).unwrap();
    let (said, told) = task("0", 1);
    assert!(
        said.starts_with("packed part 3 of 4") && told.contains("1 of 2 parts of this task failed"),
        "{said}{told}"
    );
    assert!(told.contains("in/even/0000.mp4: ") && told.contains("has changed since the pack was planned"), "{told}");
    fs::rename(videos.path("away.mp4"), videos.path("in/even/0000.mp4")).unwrap();
    let parts = |said: &str| said.lines().filter(|line| line.contains(": ") && line.contains("part ")).count();
    assert_eq!([task("0", 0), task("1", 0), task("2", 0)].map(|(said, _)| parts(&said)), [2, 1, 1]);
    videos.ends(0, &["status", "plan"]);
    videos.fails(&["pack", "plan", "--part", "3", "--tasks", "3"], &["--part is a number from 0 to 2", "found 3"]);
}

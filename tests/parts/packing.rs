//! Parts in any order, any number of times and at once.

use std::fs;

use crate::parts::support::{OFTEN, PARTS, Videos, show, stderr, stdout};

#[test]
fn parts_in_any_order_give_the_bytes_of_one_machine() {
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    assert_eq!(whole.len(), 2 * PARTS as usize + 2, "two files a part, dataset.json and the failures: {whole:?}");
    assert_eq!(videos.whole("together", &["--no-isolate"]), whole);
    for (plan, order) in [("backward", [3, 2, 1, 0]), ("mixed", [2, 0, 3, 1])] {
        videos.plan(plan, &[]);
        for part in order {
            videos.pack_part(plan, part);
            let again = videos.part(plan, part).output().unwrap();
            assert!(again.status.success(), "{}", show(&again));
            assert!(stdout(&again).starts_with("nothing to do: part "), "{}", show(&again));
        }
        assert_eq!(videos.published(plan, &format!("{plan}-out")), whole, "{plan}");
    }
}

/// Draws of random frames, several shards a part and shuffled clips go by the place of a video in all of the plan.
#[test]
fn what_goes_by_places_is_that_of_one_machine() {
    let videos = Videos::make(12);
    let more = ["--sample", "random", "--draws", "2", "--seed", "7", "--shuffle-seed", "3", "--shards", "20kB"];
    let whole = videos.whole("whole", &more);
    assert!(whole.keys().any(|name| name.starts_with("shard-00000.1-")), "{whole:?}");
    videos.plan("plan", &more);
    videos.pack_all("plan");
    assert_eq!(videos.published("plan", "out"), whole);
    let settings = &videos.json("out/dataset.json")["settings"];
    assert_eq!((&settings["parts"], &settings["seed"]), (&PARTS.into(), &7.into()), "{settings}");
}

#[test]
#[ignore = "full: buckets holds it for two attempts"]
fn attempts_of_one_part_at_once_do_no_harm() {
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    videos.plan("plan", &[]);
    for part in 0..PARTS {
        let started = [(); 3].map(|()| videos.part("plan", part).spawn().unwrap());
        for run in started.map(|child| child.wait_with_output().unwrap()) {
            assert!(run.status.success(), "{}", show(&run));
        }
    }
    assert_eq!(videos.published("plan", "out"), whole);
    let left: Vec<_> = fs::read_dir(videos.path("plan/parts")).unwrap().map(|e| e.unwrap().file_name()).collect();
    let receipts = left.iter().filter(|name| name.to_str().unwrap().ends_with(".json")).count();
    assert_eq!((receipts, left.len()), (4, 4), "{left:?}");
}

#[test]
fn the_part_is_that_of_the_scheduler_s_task() {
    let videos = Videos::make(6);
    videos.plan("plan", &[]);
    let arguments = [&["pack", "plan", "--part", "auto"], &OFTEN[..]].concat();
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
fn one_machine_keeps_what_is_there_and_resumes() {
    let videos = Videos::make(8);
    let whole = videos.whole("whole", &[]);
    let pack = |more: &[&'static str]| [&["pack", "in", "-o", "whole", "--parts", "4", "-n", "4"][..], more].concat();
    videos.fails(&pack(&[]), &["already a data set", "--if-exists replace"]);
    let again = videos.ends(3, &pack(&["--if-exists", "resume"]));
    assert!(stdout(&again).starts_with("nothing to do"), "{}", show(&again));
    videos.fails(&pack(&["--if-exists", "resume", "--quality", "80"]), &["\"quality\"", "--if-exists replace"]);
    videos.ends(2, &pack(&["--shards", "3", "--if-exists", "replace"]));
    assert_eq!(videos.files("whole"), whole);
    assert!(!videos.path("whole/.parts").exists());
    videos.ends(3, &pack(&["--if-exists", "replace"]));
    assert_eq!(videos.files("whole"), whole);
}

/// The clips that are there are copied, wherever the parts begin. A cluster's data set is mended in the same way.
#[test]
#[ignore = "full: many packs"]
fn one_machine_retries_what_failed() {
    let videos = Videos::make(8);
    let broken = videos.path("in/even/broken.mp4");
    let failing = videos.whole("set", &[]);
    videos.packed("plan");
    assert_eq!(videos.published("plan", "cluster"), failing);
    let retry = |out: &'static str| {
        [&["pack", "in", "-o", out, "--parts", "4", "-n", "4", "--if-exists", "retry-failed"], &OFTEN[..]].concat()
    };
    videos.fails(&retry("new"), &["there is no data set here"]);
    videos.ends(3, &retry("set"));
    assert_eq!(videos.files("set"), failing, "it failed again");
    videos.fails(&[&retry("set")[..], &["--quality", "70"]].concat(), &["\"quality\"", "--if-exists replace"]);
    fs::copy(videos.path("1.mp4"), &broken).unwrap();
    videos.ends(0, &[&["pack", "in", "-o", "whole", "--parts", "4", "-n", "4"], &OFTEN[..]].concat());
    // A clip that is kept need not decode any more. The sizes of files decide where parts begin.
    let kept = videos.path("in/odd/0001.mp4");
    fs::write(&kept, vec![0; fs::metadata(&kept).unwrap().len() as usize]).unwrap();
    for out in ["set", "cluster"] {
        videos.ends(0, &retry(out));
        assert_eq!(videos.files(out), videos.files("whole"), "{out}");
        let again = videos.ends(0, &retry(out));
        assert!(stdout(&again).starts_with("nothing to retry"), "{}", show(&again));
        assert!(!videos.path(out).join(".parts").exists());
    }
}

/// Receipts whose files are gone would let the next plan publish nothing.
#[test]
#[ignore = "full: kills at each step"]
fn what_a_killed_removal_of_a_plan_left_is_removed() {
    let videos = Videos::make(8);
    let whole = videos.whole("whole", &[]);
    videos.packed("plan");
    for more in [&[][..], &["--if-exists", "resume"]] {
        videos.remove("set");
        fs::create_dir_all(videos.path("set/.parts")).unwrap();
        fs::rename(videos.path("plan/parts"), videos.path("set/.parts/parts")).unwrap();
        let pack = ["pack", "in", "-o", "set", "--parts", "4", "-n", "4"];
        videos.ends(3, &[&pack[..], more].concat());
        assert_eq!(videos.files("set"), whole, "{more:?}");
        videos.remove("plan");
        videos.packed("plan");
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
    assert!(told.contains("in/even/0000.mp4: ") && told.contains("not the one that was planned"), "{told}");
    fs::rename(videos.path("away.mp4"), videos.path("in/even/0000.mp4")).unwrap();
    let parts = |said: &str| said.lines().filter(|line| line.contains(": ") && line.contains("part ")).count();
    assert_eq!([task("0", 0), task("1", 0), task("2", 0)].map(|(said, _)| parts(&said)), [2, 1, 1]);
    videos.ends(0, &["status", "plan"]);
    videos.fails(&["pack", "plan", "--part", "3", "--tasks", "3"], &["--part is a number from 0 to 2", "found 3"]);
}

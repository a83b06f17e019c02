//! What `vidrec status` says of attempts.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::common::skip::has_decoder_faults;
use crate::common::until::until;
use crate::shards::support::{Gate, Videos, open, stderr, stdout};

/// Parts that are (done, running, failed, missing), and the whole status.
fn status(videos: &Videos) -> ([u64; 4], Value) {
    let run = videos.run(&["status", "plan", "--json"]);
    let status: Value = serde_json::from_slice(&run.stdout).unwrap();
    let counts = ["done", "running", "failed", "missing"].map(|name| status[name].as_u64().unwrap());
    assert_eq!(run.status.code(), Some(if counts[0] == 4 { 0 } else { 3 }), "{status}");
    (counts, status)
}

#[test]
fn parts_are_done_running_failed_or_missing() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(20);
    videos.plan("plan", &[]);
    assert_eq!(status(&videos).0, [0, 0, 0, 4]);
    videos.pack_part("plan", 0);
    // A video that has changed ends an attempt with an error.
    let sources = fs::read_to_string(videos.path("plan/jobs.jsonl")).unwrap();
    let first_of = |part: usize| {
        let first = videos.json("plan/plan.json")["parts"][part]["first"].as_u64().unwrap() as usize;
        let job: Value = serde_json::from_str(sources.lines().nth(first).unwrap()).unwrap();
        job["job"]["source"].as_str().unwrap().to_owned()
    };
    fs::write(videos.path("in").join(first_of(1)), b"another").unwrap();
    videos.fails(&["pack", "plan", "--part", "1"], &["has changed since the pack was planned", &first_of(1)]);
    let hangs = format!("hang:{}", first_of(2));
    let mut running = videos.part("plan", 2).env("VIDREC_DECODER_FAULT", hangs).spawn().unwrap();
    until("the attempt says that it runs", || videos.path("plan/parts/00002.note").exists());
    let (counts, said) = status(&videos);
    assert_eq!(counts, [1, 1, 1, 1], "{said}");
    assert!(said["list"][1]["error"].as_str().unwrap().contains("has changed since the pack was planned"), "{said}");
    assert!(said["list"][2]["place"].as_str().unwrap().contains(&format!("process {}", running.id())), "{said}");
    assert_eq!(stdout(&videos.run(&["status", "plan", "--missing"])), "1,3\n");
    assert_eq!(stdout(&videos.run(&["status", "plan", "--missing", "--lines"])), "1\n3\n");

    // Ages are by the clock of the file system. One that is ahead means that it has just been written.
    let note = videos.path("plan/parts/00002.note");
    let set = |time| fs::File::options().write(true).open(&note).unwrap().set_modified(time).unwrap();
    let hour = Duration::from_secs(3600);
    set(SystemTime::now() + hour);
    assert_eq!(status(&videos).0, [1, 1, 1, 1]);
    set(SystemTime::now() - hour);
    assert_eq!(status(&videos).0, [1, 0, 1, 2], "an attempt that has said nothing for an hour is dead");
    set(SystemTime::now());
    assert_eq!(status(&videos).0, [1, 1, 1, 1]);
    running.kill().unwrap();
    running.wait().unwrap();
    videos.pack_part("plan", 3);
    if cfg!(target_os = "linux") {
        assert_eq!(
            status(&videos).0,
            [2, 0, 1, 1],
            "its lock, which no attempt at another part takes, says that it is dead"
        );
        videos.edit("plan/parts/00002.note", |note| note["lock"]["id"] = "another machine".into());
        assert_eq!(status(&videos).0, [2, 1, 1, 0], "of another machine only silence says so");
        set(SystemTime::now() - hour);
        assert_eq!(status(&videos).0, [2, 0, 1, 1]);
    }
    // It changes nothing.
    let left = fs::read_dir(videos.path("plan/parts")).unwrap().count();
    assert_eq!(left, 4, "two receipts and two notes");
}

#[test]
fn a_part_that_is_stopped_is_missing_and_packed_by_the_same_command() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    videos.plan("plan", &[]);
    let gate = Gate::new(&videos);
    let child = videos.start(videos.part("plan", 0), &gate.before("even/0004.mp4"));
    let pipe = gate.reached();
    child.signal("TERM");
    open(&pipe, 1);
    let run = child.output();
    let said = stderr(&run);
    assert_eq!(run.status.code(), Some(130), "{said}");
    assert!(said.contains("run the same command again") && !said.contains("--if-exists resume"), "{said}");
    assert_eq!(status(&videos).0, [0, 0, 0, 4]);
    videos.pack_all("plan");
    assert_eq!(videos.published("plan", "out"), whole);
}

//! Videos that cannot be packed: in a part, in all parts, and more than are allowed.

use std::fs;

use serde_json::Value;

use crate::common::ffmpeg_videos;
use crate::parts::support::{PARTS, Videos, has_no_set, show};

/// Replaces all videos of some parts of a plan that will be made by nonsense. Places are those of the order of the inputs.
fn break_parts(videos: &Videos, parts: &[usize]) -> usize {
    videos.plan("sizes", &[]);
    let planned = videos.json("sizes/plan.json")["parts"].clone();
    let jobs = fs::read_to_string(videos.path("sizes/jobs.jsonl")).unwrap();
    let sources: Vec<Value> = jobs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut broken = 0;
    for &part in parts {
        let number = |name: &str| planned[part][name].as_u64().unwrap() as usize;
        for job in &sources[number("first")..number("first") + number("videos")] {
            let path = videos.path("in").join(job["job"]["source"].as_str().unwrap());
            // As long as it was, so that parts begin where they did.
            let length = fs::metadata(&path).unwrap().len() as usize;
            fs::write(&path, vec![b'x'; length]).unwrap();
            broken += 1;
        }
    }
    broken
}

#[test]
fn a_part_of_failures_alone_has_a_receipt_and_no_files() {
    let videos = Videos::make(20);
    let broken = break_parts(&videos, &[1]);
    videos.plan("plan", &[]);
    let run = videos.part("plan", 1).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", show(&run));
    assert_eq!(videos.json("plan/parts/00001.json")["shards"], Value::Array(Vec::new()));
    assert!(videos.files("plan").keys().all(|name| !name.starts_with("shard-00001")));
    videos.pack_all("plan");
    let run = videos.ends(3, &["publish", "plan", "-o", "out", "--json"]);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["failed"], &report["clips"]), (&broken.into(), &(21 - broken).into()), "{report}");
    let listed = fs::read_to_string(videos.path("out").join(report["failures_file"].as_str().unwrap())).unwrap();
    assert_eq!(listed.lines().count(), broken);
    assert_eq!(videos.files("out"), videos.whole("whole", &[]));
}

#[test]
fn of_failures_alone_no_data_set_is_made() {
    let videos = Videos::make(8);
    break_parts(&videos, &[0, 1, 2, 3]);
    videos.plan("plan", &[]);
    videos.pack_all("plan");
    for out in ["out", "plan"] {
        videos.fails(&["publish", "plan", "-o", out], &["nothing to publish"]);
        has_no_set(&videos.path(out));
    }
    videos.fails(&["pack", "in", "-o", "one", "--parts", "4", "-n", "4"], &["nothing to publish"]);
    has_no_set(&videos.path("one"));
}

#[test]
fn failures_of_all_parts_count_together() {
    let videos = Videos::make(20);
    let jobs = |plan: &str| fs::read_to_string(videos.path(plan).join("jobs.jsonl")).unwrap();
    videos.plan("order", &[]);
    let planned = videos.json("order/plan.json")["parts"].clone();
    // A second broken video, in another part.
    let first_of = |part: usize| planned[part]["first"].as_u64().unwrap() as usize;
    let is_broken = |line: &str| line.contains("even/broken.mp4");
    let place = jobs("order").lines().position(is_broken).unwrap();
    let part = (0..PARTS as usize).find(|&part| part > 0 && first_of(part) > place).unwrap_or(0);
    let job: Value = serde_json::from_str(jobs("order").lines().nth(first_of(part)).unwrap()).unwrap();
    let second = videos.path("in").join(job["job"]["source"].as_str().unwrap());
    // As long as it was, so that parts begin where they did.
    fs::write(&second, vec![b'x'; fs::metadata(&second).unwrap().len() as usize]).unwrap();
    for (most, allowed) in [("1", false), ("10%", true)] {
        videos.remove("plan");
        videos.remove("out");
        videos.plan("plan", &["--max-failures", most]);
        videos.pack_all("plan");
        let publish = ["publish", "plan", "-o", "out"];
        if allowed {
            videos.ends(3, &publish);
        } else {
            videos.fails(&publish, &["more than 1 videos could not be packed", "found 2"]);
            has_no_set(&videos.path("out"));
        }
    }
}

#[test]
fn videos_that_are_skipped_as_asked_are_no_failures() {
    let videos = Videos::make(8);
    fs::remove_file(videos.path("in/even/broken.mp4")).unwrap();
    ffmpeg_videos::make(
        "-f lavfi -i testsrc2=size=64x48:rate=10:duration=0.2 -c:v mpeg4",
        videos.path("in/odd/short.mp4"),
    );
    videos.plan("plan", &["--short", "skip", "--max-failures", "0"]);
    videos.pack_all("plan");
    let run = videos.ends(3, &["publish", "plan", "-o", "out", "--json"]);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["failed"], &report["failures"][0]["stage"]), (&1.into(), &"short".into()), "{report}");
}

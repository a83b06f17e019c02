//! Codecs that crash, and machines that kill what takes too much memory.

use serde_json::Value;

use crate::common::skip::has_decoder_faults;
use crate::parts::support::{PARTS, Videos, show};

/// The part that a video is in.
fn part_of(videos: &Videos, source: &str) -> u32 {
    let jobs = std::fs::read_to_string(videos.path("plan/jobs.jsonl")).unwrap();
    let is_it = |line: &str| serde_json::from_str::<Value>(line).unwrap()["job"]["source"] == source;
    let place = jobs.lines().position(is_it).unwrap() as u64;
    let parts = videos.json("plan/plan.json")["parts"].as_array().unwrap().clone();
    parts.iter().rposition(|part| part["first"].as_u64().unwrap() <= place).unwrap() as u32
}

#[test]
fn a_video_that_always_crashes_costs_an_attempt_and_then_itself() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(16);
    videos.plan("plan", &[]);
    let crashing = "odd/0003.mp4";
    let part = part_of(&videos, crashing);
    let attempt = || {
        let mut command = videos.part("plan", part);
        command.args(["--json", "--no-isolate"]).env("VIDREC_DECODER_FAULT", format!("kill:{crashing}"));
        command.output().unwrap()
    };
    let first = attempt();
    assert_eq!(first.status.code(), None, "a signal ended it: {}", show(&first));
    let second = attempt();
    assert_eq!(second.status.code(), Some(0), "{}", show(&second));
    let report: Value = serde_json::from_slice(&second.stdout).unwrap();
    let failures = report["failures"].as_array().unwrap();
    let crashed = failures.iter().find(|failure| failure["source"] == crashing).expect("it is in the report");
    assert_eq!(crashed["stage"], "crash", "{crashed}");
    (0..PARTS).filter(|&other| other != part).for_each(|other| drop(videos.pack_part("plan", other)));
    let published = videos.ends(3, &["publish", "plan", "-o", "out", "--json"]);
    let report: Value = serde_json::from_slice(&published.stdout).unwrap();
    assert_eq!((&report["clips"], &report["failed"]), (&15.into(), &2.into()), "{report}");
    let list = report["failures_file"].as_str().unwrap();
    let list = std::fs::read_to_string(videos.path("out").join(list)).unwrap();
    assert!(list.lines().any(|line| line.contains(crashing) && line.contains("crash")), "{list}");
}

/// An error is no crash: the next attempt decodes in its own process, as the first did.
#[test]
fn an_attempt_that_ended_with_an_error_did_not_crash() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(8);
    videos.plan("plan", &["--max-failures", "0"]);
    let part = part_of(&videos, "even/broken.mp4");
    let first = videos.part("plan", part).arg("--no-isolate").output().unwrap();
    assert_eq!(first.status.code(), Some(1), "{}", show(&first));
    // In a process of its own this would cost one video and not the attempt.
    let mut second = videos.part("plan", part);
    let second = second.arg("--no-isolate").env("VIDREC_DECODER_FAULT", "abort:even/broken.mp4").output().unwrap();
    assert_eq!(second.status.code(), None, "{}", show(&second));
}

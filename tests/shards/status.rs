//! What `vidrec status` says of a plan.

use serde_json::Value;

use crate::common::skip::has_decoder_faults;
use crate::common::tree;
use crate::shards::support::{Gate, Videos, open, stderr, stdout};

/// The parts that are missing, and the whole status.
fn status(videos: &Videos) -> (Vec<u64>, Value) {
    let run = videos.run(&["status", "plan", "--json"]);
    let status: Value = serde_json::from_slice(&run.stdout).unwrap();
    let missing: Vec<u64> = status["missing"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).collect();
    assert_eq!(run.status.code(), Some(if missing.is_empty() { 0 } else { 3 }), "{status}");
    (missing, status)
}

#[test]
fn parts_with_receipts_are_done_and_the_others_are_missing() {
    let videos = Videos::make(20);
    videos.plan("plan", &[]);
    let (missing, said) = status(&videos);
    assert_eq!(
        (missing, &said["videos_done"], &said["videos_per_second"]),
        (vec![0, 1, 2, 3], &0.into(), &Value::Null)
    );
    [0, 2].iter().for_each(|part| drop(videos.pack_part("plan", *part)));
    let before = tree(&videos.path("plan"));
    let (missing, said) = status(&videos);
    assert_eq!((missing, &said["parts"], &said["done"]), (vec![1, 3], &4.into(), &2.into()), "{said}");
    assert_eq!((&said["videos"], &said["videos_done"]), (&21.into(), &11.into()), "{said}");
    assert!(said["videos_per_second"].as_f64().unwrap() > 0.0, "{said}");
    let text = stdout(&videos.ends(3, &["status", "plan"]));
    assert!(
        text.starts_with("2 of 4 parts done\n  11 of 21 videos; ") && text.ends_with(" for each attempt\n"),
        "{text}"
    );
    assert_eq!(stdout(&videos.ends(3, &["status", "plan", "--missing"])), "1,3\n");
    assert_eq!(stdout(&videos.ends(3, &["status", "plan", "--missing", "--lines"])), "1\n3\n");
    assert!(tree(&videos.path("plan")) == before, "it changes nothing");
    [1, 3].iter().for_each(|part| drop(videos.pack_part("plan", *part)));
    assert!(status(&videos).0.is_empty());
    videos.published("plan");
    let (missing, said) = status(&videos);
    assert_eq!((missing, &said["done"], &said["videos"]), (vec![], &4.into(), &21.into()), "{said}");
    std::fs::create_dir(videos.path("plan/.vidrec.pack")).unwrap();
    std::fs::write(videos.path("plan/.vidrec.pack/plan.json"), "{").unwrap();
    videos.fails(&["status", "plan"], &["did not write this plan"]);
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
    assert_eq!(status(&videos).0, [0, 1, 2, 3]);
    videos.pack_all("plan");
    assert_eq!(videos.published("plan"), whole);
}

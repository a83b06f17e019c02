//! Videos that cannot be packed: in one shard or in all, once or for good, and more than are allowed.

use std::fs;

use serde_json::Value;

use crate::common::ffmpeg_videos;
use crate::common::skip::has_decoder_faults;
use crate::shards::support::{Videos, has_no_set, show, stderr, stdout};

const RETRY: [&str; 2] = ["--if-exists", "retry-failed"];

fn report(run: &std::process::Output) -> Value {
    serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", show(run)))
}

/// Makes nonsense of these of 20 videos and a broken one, by their places.
fn break_videos(videos: &Videos, places: impl IntoIterator<Item = u32>) {
    for place in places {
        let name = match place {
            ..10 => format!("in/even/{:04}.mp4", 2 * place),
            10 => "in/even/broken.mp4".into(),
            _ => format!("in/odd/{:04}.mp4", 2 * (place - 11) + 1),
        };
        fs::write(videos.path(&name), "nonsense").unwrap();
    }
}

#[test]
fn a_shard_of_failures_alone_has_a_receipt_and_no_files() {
    let videos = Videos::make(20);
    break_videos(&videos, 6..11);
    videos.packed("plan");
    assert!(videos.json("plan/.vidrec.pack/parts/00001.json").get("shard").is_none());
    assert!(videos.files("plan/.vidrec.pack").keys().all(|name| !name.starts_with("shard-00001")));
    let published = report(&videos.ends(3, &["publish", "plan", "--json"]));
    assert_eq!((&published["failed"], &published["clips"]), (&5.into(), &16.into()), "{published}");
    let listed = fs::read_to_string(videos.path("plan").join(published["failures_file"].as_str().unwrap())).unwrap();
    assert_eq!(listed.lines().count(), 5);
    assert_eq!(videos.whole("set", &[]), videos.alone("plan"));
    // All shards have files when the videos are there, the others as before.
    let mended = videos.whole("mended", &["--shards", "4"]);
    assert_eq!(mended, videos.files("set"));
    for name in ["0012", "0014", "0016", "0018", "broken"] {
        fs::copy(videos.path("0.mp4"), videos.path(&format!("in/even/{name}.mp4"))).unwrap();
    }
    videos.packs(0, "set", &RETRY);
    videos.packs(0, "new", &[]);
    assert_eq!(videos.alone("set"), videos.alone("new"));
}

#[test]
fn of_failures_alone_no_data_set_is_made() {
    let videos = Videos::make(20);
    break_videos(&videos, 0..21);
    videos.packed("plan");
    videos.fails(&["publish", "plan"], &["nothing to publish"]);
    has_no_set(&videos.path("plan"));
    let one = report(&videos.packs(1, "one", &["--json"]));
    assert_eq!((&one["clips"], &one["failed"]), (&0.into(), &21.into()), "{one}");
    has_no_set(&videos.path("one"));
    let listed = fs::read_to_string(videos.path("one").join(one["failures_file"].as_str().unwrap())).unwrap();
    assert_eq!((listed.lines().count(), videos.alone("one").len()), (21, 1));
}

#[test]
fn too_many_failures_stop_a_pack_and_more_may_be_allowed_later() {
    let videos = Videos::make(20);
    // One in each shard.
    break_videos(&videos, [2, 13, 18]);
    let whole = videos.whole("whole", &[]);
    for (most, is_begun) in [("0", false), ("2", true), ("10%", true)] {
        videos.remove("set");
        let words = ["could not be packed", if is_begun { "--if-exists resume" } else { "" }];
        videos.refuses("set", &["--max-failures", most], &words);
        assert_eq!(videos.receipts("set") > 0, is_begun);
        videos.refuses("set", &["--if-exists", "resume", "--max-failures", most], &["could not be packed"]);
        videos.packs(3, "set", &["--if-exists", "resume", "--max-failures", "4"]);
        assert_eq!(videos.alone("set"), whole, "{most}");
        // Those of all parts of a plan count together.
        videos.remove("plan");
        videos.plan("plan", &["--max-failures", most]);
        let packed = (0..4).all(|part| videos.part("plan", part).output().unwrap().status.success());
        assert_eq!(packed, is_begun, "a part alone has one");
        let done = if is_begun { "4 of 4 parts done" } else { "0 of 4 parts done" };
        assert!(stdout(&videos.run(&["status", "plan"])).starts_with(done), "{most}");
        let words = if is_begun { "more than 2 videos could not be packed" } else { "parts are not done" };
        videos.fails(&["publish", "plan"], &[words]);
        has_no_set(&videos.path("plan"));
    }
}

#[test]
fn what_failed_is_retried_as_if_it_had_not() {
    let videos = Videos::make(20);
    let broken = videos.path("in/even/broken.mp4");
    let html = fs::read(&broken).unwrap();
    fs::copy(videos.path("1.mp4"), &broken).unwrap();
    videos.packs(0, "whole", &["-n", "12"]);
    let whole = videos.alone("whole");
    fs::write(&broken, &html).unwrap();
    let failing = videos.whole("set", &["-n", "12"]);
    videos.plan("cluster", &["-n", "12"]);
    videos.pack_all("cluster");
    assert_eq!(videos.published("cluster"), failing);
    let retry = [&RETRY[..], &["-n", "12"]].concat();
    videos.refuses("new", &retry, &["there is no data set here"]);
    videos.packs(3, "set", &retry);
    assert_eq!(videos.alone("set"), failing, "it failed again");
    videos.refuses("set", &[&retry[..], &["--quality", "70"]].concat(), &["\"quality\"", "--if-exists replace"]);
    fs::copy(videos.path("1.mp4"), &broken).unwrap();
    // The shard of the failure is packed again with all its videos, and none of them may be lost.
    let neighbor = videos.path("in/even/0014.mp4");
    let bytes = fs::read(&neighbor).unwrap();
    fs::write(&neighbor, "nonsense").unwrap();
    videos.refuses("set", &retry, &["even/0014.mp4", "it was packed before"]);
    let mut files = videos.files("set");
    files.retain(|name, _| !name.starts_with(".vidrec"));
    assert_eq!(files, failing);
    fs::write(&neighbor, bytes).unwrap();
    // Those of the others need not decode any more.
    fs::write(videos.path("in/odd/0001.mp4"), "nonsense").unwrap();
    for out in ["set", "cluster"] {
        videos.packs(0, out, &retry);
        assert_eq!(videos.alone(out), whole, "{out}");
        for how in ["retry-failed", "resume"] {
            let text = stdout(&videos.packs(0, out, &["--if-exists", how, "-n", "12"]));
            assert!(text.starts_with("nothing to do: the pack of ") && !text.contains("videos/s"), "{text}");
        }
    }
}

#[test]
fn videos_that_are_skipped_as_asked_are_no_failures() {
    let videos = Videos::make(8);
    fs::remove_file(videos.path("in/even/broken.mp4")).unwrap();
    let short = "-f lavfi -i testsrc2=size=64x48:rate=10:duration=0.2 -c:v mpeg4";
    ffmpeg_videos::make(short, videos.path("in/odd/short.mp4"));
    videos.plan("plan", &["--short", "skip", "--max-failures", "0"]);
    videos.pack_all("plan");
    let report = report(&videos.ends(3, &["publish", "plan", "--json"]));
    assert_eq!((&report["failed"], &report["failures"][0]["stage"]), (&1.into(), &"short".into()), "{report}");
}

/// A Matroska file that was cut off gives no error in FFmpeg.
#[test]
fn a_file_that_was_cut_off_is_reported() {
    let videos = Videos::make(2);
    ffmpeg_videos::make("-f lavfi -i testsrc2=size=64x48:rate=10:duration=8 -c:v mpeg4", videos.path("long.mkv"));
    let bytes = fs::read(videos.path("long.mkv")).unwrap();
    fs::write(videos.path("in/odd/cut.mkv"), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(videos.path("in/odd/whole.mkv"), &bytes).unwrap();
    let report = report(&videos.packs(3, "set", &["--json", "-n", "12"]));
    assert_eq!((&report["cut_off"], &report["repeated_frames"]), (&1.into(), &4.into()), "{report}");
    let warning = &report["warnings"][0];
    assert_eq!(warning["source"], "odd/cut.mkv");
    assert!(warning["message"].as_str().unwrap().contains("claims 8.0 s"), "{warning}");
    let set = vidrec::Dataset::open(videos.path("set")).unwrap();
    let facts: Vec<Value> =
        set.clips().map(|c| c.unwrap().attributes().unwrap().get("video").unwrap().unwrap()).collect();
    assert_eq!(facts[0]["repeated_frames"], 2, "ten frames for twelve");
    assert_eq!(facts[2]["claimed_seconds"], 8.0);
    assert!(facts[2]["stream_seconds"].as_f64().unwrap() < 6.0);
}

#[test]
fn a_codec_that_crashes_or_hangs_costs_one_video() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(12);
    let whole = videos.whole("whole", &[]);
    for (fault, stage, word) in [("abort", "crash", "SIGABRT"), ("hang", "timeout", "killed")] {
        // Long enough for the other videos on a busy machine.
        let timeout = if fault == "hang" { "5" } else { "600" };
        let mut command = videos.pack("set", &["--if-exists", "replace", "--json", "--timeout", timeout]);
        let run = command.env("VIDREC_DECODER_FAULT", format!("{fault}:odd/0003.mp4")).output().unwrap();
        assert_eq!(run.status.code(), Some(3), "{}", show(&run));
        let report = report(&run);
        assert_eq!((&report["clips"], &report["failed"]), (&11.into(), &2.into()));
        let failure = &report["failures"][1];
        assert_eq!((&failure["source"], &failure["stage"]), (&"odd/0003.mp4".into(), &stage.into()));
        assert!(failure["error"].as_str().unwrap().contains(word), "{failure}");
        // The codec is repaired.
        videos.packs(3, "set", &RETRY);
        assert_eq!(videos.alone("set"), whole, "{fault}");
    }
    // In the process of the pack, it ends the pack, and what is finished stays.
    let mut command = videos.pack("alone", &["--no-isolate"]);
    let run = command.env("VIDREC_DECODER_FAULT", "abort:odd/0011.mp4").output().unwrap();
    assert!(run.status.code().is_none() && videos.receipts("alone") > 0, "{} {}", show(&run), stderr(&run));
    videos.packs(3, "alone", &["--no-isolate", "--if-exists", "resume"]);
    assert_eq!(videos.alone("alone"), whole);
}

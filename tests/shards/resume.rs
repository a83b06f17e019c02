//! Nothing is lost: packs that are killed, starved of space or interrupted are resumed, to the same bytes.
//! `tests/faults` kills them at each of their steps.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::common::skip::has_decoder_faults;
use crate::common::tree;
use crate::common::until::until;
use crate::shards::support::{Gate, Videos, open, sha256, show, stderr, stdout};

const RESUME: [&str; 2] = ["--if-exists", "resume"];
const REPLACE: [&str; 2] = ["--if-exists", "replace"];

/// However few videos are left, and however it packs.
#[test]
fn at_a_signal_it_ends_in_order_and_says_how_to_go_on() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    let gate = Gate::new(&videos);
    for (signal, before, done, more) in [
        ("TERM", "*", 0, &[][..]),
        ("INT", "odd/0003.mp4", 11, &[]),
        ("TERM", "odd/0019.mp4", 16, &["-j", "4"]),
        ("INT", "odd/0017.mp4", 16, &["--no-isolate"]),
    ] {
        videos.remove("set");
        let child = videos.start(videos.pack("set", more), &gate.before(before));
        let pipe = gate.reached();
        let parts = [6, 11, 16, 21].iter().filter(|&&after| after <= done).count();
        until("the shards before are finished", || videos.receipts("set") == parts);
        child.signal(signal);
        open(&pipe, 21);
        let run = child.output();
        let said = stderr(&run);
        assert_eq!(run.status.code(), Some(130), "{before} {more:?}: {said}");
        if done == 0 {
            assert!(videos.alone("set").is_empty(), "{said}");
            assert!(!said.contains("safely on disk"), "{said}");
        } else {
            // The shard at work is dropped, unless the video in hand was its last one.
            let is_done = |done: u32| said.contains(&format!("{done} of 21 videos are safely on disk"));
            assert!((is_done(done) || is_done(21)) && said.contains("--if-exists resume"), "{said}");
            assert!(!videos.path("set/.vidrec.lock").exists());
            assert!(!videos.path("set/.vidrec.pack/attempts").exists(), "the open shard is dropped");
        }
        let run = videos.packs(3, "set", &[&RESUME[..], more].concat());
        assert_eq!(stdout(&run).contains("packed by an earlier run"), done > 0, "{}", show(&run));
        assert_eq!(videos.alone("set"), whole, "{before} {more:?}");
    }
}

#[test]
fn a_second_pack_into_the_folder_is_refused() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(20);
    let inspect = || videos.run(&["inspect", "set"]);
    let hangs = |more: &[&str]| {
        let child = videos.start(videos.pack("set", more), "hang:odd/0003.mp4");
        until("a shard is finished", || videos.receipts("set") > 0);
        child
    };
    let mut first = hangs(&[]);
    for more in [&[][..], &RESUME, &REPLACE] {
        videos.refuses("set", more, &["another process"]);
    }
    videos.fails(&["merge", "set", "-o", "set", "--overwrite"], &["set"]);
    // A reader says so, too, and nothing of resuming.
    let said = stderr(&inspect());
    assert!(said.contains("a pack that is running") && !said.contains("--if-exists resume"), "{said}");
    first.kill();
    let said = stderr(&inspect());
    assert!(said.contains("a pack that is not finished") && said.contains("--if-exists resume"), "{said}");
    // A lock of a dead process holds nobody up.
    videos.packs(3, "set", &RESUME);
    // The data set is whole while another one is packed in its place.
    let next = hangs(&["--if-exists", "replace", "-n", "2"]);
    let run = inspect();
    drop(next);
    let said = show(&run);
    assert!(run.status.success() && said.contains("a pack that is running"), "{said}");
    assert!(!said.contains("--if-exists resume") && !said.contains("not finished"), "{said}");
}

#[test]
fn a_pack_with_other_settings_or_inputs_is_refused_and_the_difference_is_named() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    videos.killed("set", &[]);
    let plan = videos.path("set/.vidrec.pack/plan.json");
    let cannot = "the pack cannot be resumed";
    // What was packed by another version is not mixed with this one's.
    let own = fs::read(&plan).unwrap();
    for field in ["tool", "ffmpeg"] {
        videos.edit("set/.vidrec.pack/plan.json", |plan| plan[field] = "vidrec 9.9".into());
        let digest = |part: u32, digest: String| {
            videos.edit(&format!("set/.vidrec.pack/parts/{part:05}.json"), |receipt| receipt["plan"] = digest.into());
        };
        (0..2).for_each(|part| digest(part, sha256(&plan)));
        videos.refuses("set", &RESUME, &[cannot, "vidrec 9.9"]);
        fs::write(&plan, &own).unwrap();
        (0..2).for_each(|part| digest(part, sha256(&plan)));
    }
    let before = || {
        let mut files = tree(&videos.path("set"));
        files.retain(|path, _| !path.ends_with(".vidrec.lock"));
        files
    };
    let there = before();
    let refused = |more: &[&str], words: &[&str]| {
        videos.refuses("set", more, words);
        assert!(before() == there, "a refused pack changes nothing: {more:?}");
    };
    refused(&[], &["interrupted pack", "11 of 21 videos done", "--if-exists resume", "--if-exists replace"]);
    refused(&["--if-exists", "retry-failed"], &["the task", "expected pack all", "found retry what failed"]);
    for (more, words) in [
        (["--quality", "80"], ["\"quality\"", "expected 90", "found 80"]),
        (["--shards", "3"], ["\"shards\"", "expected 4", "found 3"]),
    ] {
        refused(&[&RESUME[..], &more].concat(), &[&[cannot][..], &words].concat());
    }
    // Each is undone afterwards.
    let at = |name: &str| videos.path("in").join(name);
    let rename = |from: &str, to: &str| {
        fs::create_dir_all(at(to).parent().unwrap()).unwrap();
        fs::rename(at(from), at(to)).unwrap();
    };
    for (from, to, words) in [
        ("../0.mp4", "odd/more.mp4", ["the number of videos", "expected 21", "found 22"]),
        ("even/0002.mp4", "even/0003.mp4", ["video 1 changed", "expected even/0002.mp4", "found even/0003.mp4"]),
        ("odd/0019.mp4", "odd/0020.mp4", ["video 20 changed", "expected odd/0019.mp4", "found odd/0020.mp4"]),
        ("odd/0019.mp4", "zoo/0019.mp4", ["class 2", "expected none", "found \"zoo\""]),
    ] {
        rename(from, to);
        refused(&RESUME, &[&[cannot][..], &words].concat());
        rename(to, from);
        let _ = fs::remove_dir(at("zoo"));
    }
    let first = at("even/0000.mp4");
    let (bytes, time) = (fs::read(&first).unwrap(), fs::metadata(&first).unwrap().modified().unwrap());
    let set_time = |time| fs::File::options().write(true).open(&first).unwrap().set_modified(time).unwrap();
    fs::write(&first, &bytes[..bytes.len() - 1]).unwrap();
    let (was, is) = (format!("expected {} bytes", bytes.len()), format!("found {} bytes", bytes.len() - 1));
    refused(&RESUME, &[cannot, "0000.mp4 changed", &was, &is]);
    fs::write(&first, &bytes).unwrap();
    set_time(time + Duration::from_secs(60));
    refused(&RESUME, &[cannot, "0000.mp4 changed"]);
    set_time(time);
    // A writer of something else does not throw it away either.
    let e = vidrec::Writer::create(videos.path("set"), vidrec::WriterOptions::default()).unwrap_err();
    assert_eq!(e.hints(), [vidrec::Hint::Resume, vidrec::Hint::Restart], "{e}");

    // A file of a shard that is packed again is read as it is now.
    let last = at("odd/0019.mp4");
    fs::copy(videos.path("0.mp4"), &last).unwrap();
    videos.copy("set", "other");
    videos.packs(3, "other", &RESUME);
    assert_eq!(videos.alone("other"), videos.whole("now", &[]));
    fs::copy(videos.path("1.mp4"), &last).unwrap();
    // Another pack may take its place.
    videos.packs(3, "set", &[&REPLACE[..], &["-n", "3"]].concat());
    assert_eq!(videos.alone("set"), videos.whole("three", &["-n", "3"]));
    videos.killed("set", &[]);
    videos.packs(3, "set", &REPLACE);
    assert_eq!(videos.alone("set"), whole);
}

/// On a disk that lies, what was synced may be lost, or be anything. The data set is right, or there is none.
#[test]
fn what_a_power_cut_may_spoil_is_not_published() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    videos.killed("killed", &[]);
    for file in ["plan.json", "jobs", "parts/00001.json", "shard-00001-*.rec", "shard-00001-*.vidx"] {
        for harm in ["gone", "cut", "flipped"] {
            videos.copy("killed", "set");
            let path = match file.split_once('*') {
                Some((_, ending)) => videos.file_of("set/.vidrec.pack", 1, ending),
                None if file == "jobs" => videos.jobs("set"),
                None => videos.path("set/.vidrec.pack").join(file),
            };
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            match harm {
                "gone" => fs::remove_file(&path).unwrap(),
                "cut" => fs::write(&path, &bytes[..middle]).unwrap(),
                _ => {
                    bytes[middle] ^= 1;
                    fs::write(&path, bytes).unwrap();
                }
            }
            let run = videos.pack("set", &RESUME).output().unwrap();
            let what = format!("{file} {harm}: {}", show(&run));
            match run.status.code() {
                Some(3) => assert_eq!(videos.alone("set"), whole, "{what}"),
                status => {
                    assert!(status == Some(1), "{what}");
                    assert!(!videos.path("set/dataset.json").exists(), "{what}");
                    assert!(["rec", "vidx"].iter().all(|ending| !file.ends_with(ending)), "it is packed again: {what}");
                    videos.packs(3, "set", &REPLACE);
                    assert_eq!(videos.alone("set"), whole, "{what}");
                }
            }
        }
    }
}

#[test]
fn it_begins_where_there_is_nothing_and_is_done_where_all_is_done() {
    let videos = Videos::make(8);
    let whole = videos.whole("set", &RESUME);
    let run = videos.packs(3, "set", &[&RESUME[..], &["--json"]].concat());
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&report["clips"], &report["failed"], &report["resumed_at"]), (&8.into(), &1.into(), &9.into()));
    let text = stdout(&videos.packs(3, "set", &RESUME));
    assert!(
        text.starts_with("nothing to do: ") && text.contains("1 video skipped; --if-exists retry-failed"),
        "{text}"
    );
    videos.refuses("set", &[], &["already a data set", "--if-exists replace"]);
    let other = ["--if-exists", "resume", "--quality", "80"];
    videos.refuses("set", &other, &["\"quality\"", "--if-exists replace"]);
    assert_eq!(videos.alone("set"), whole, "nothing is written");
    // Receipts without a plan, which a killed removal may leave, are of no other pack.
    fs::create_dir_all(videos.path("set/.vidrec.pack/parts")).unwrap();
    fs::write(videos.path("set/.vidrec.pack/parts/00000.json"), "{}").unwrap();
    videos.packs(3, "set", &REPLACE);
    assert_eq!(videos.alone("set"), whole);
}

#[test]
fn isolated_processes_end_with_the_pack() {
    if !has_decoder_faults() || !cfg!(target_os = "linux") {
        return;
    }
    let videos = Videos::make(4);
    let mut child = videos.start(videos.pack("set", &[]), "hang:odd/0003.mp4");
    until("a shard is finished", || videos.receipts("set") > 0);
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    let children = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default());
    let workers: Vec<String> =
        children.flat_map(|ids| ids.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(!workers.is_empty());
    child.kill();
    let lives =
        |id: &String| fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|c| c.contains("isolated-worker"));
    until("the processes end", || !workers.iter().any(lives));
}

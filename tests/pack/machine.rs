//! A machine with too little of something gives the same data set later, or none and the reason, and never a smaller one.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use crate::common::data_set_server::ends;
use crate::common::program_runs::{show, stderr};
use crate::common::skip::{has_decoder_faults, skip};
use crate::common::{self, ffmpeg_videos};
use crate::pack::support::Room;
use serde_json::Value;

const VIDEOS: usize = 24;

/// Small videos, all of one class.
struct Videos(Room);

impl Deref for Videos {
    type Target = Room;

    fn deref(&self) -> &Room {
        &self.0
    }
}

impl Videos {
    fn make() -> Self {
        let videos = Videos(Room::new());
        for i in 0..3 {
            let source = format!("testsrc2=size=128x96:rate=10:duration=1,hue=h={}", i * 90);
            ffmpeg_videos::make(&format!("-f lavfi -i {source} -c:v mpeg4"), videos.path(&format!("{i}.mp4")));
        }
        for i in 0..VIDEOS {
            fs::copy(videos.path(&format!("{}.mp4", i % 3)), videos.path(&format!("in/a/{i:02}.mp4"))).unwrap();
        }
        videos
    }

    /// `vidrec pack` within limits (the arguments of `ulimit`).
    fn pack(&self, limit: &str, out: &str, more: &[&str]) -> Output {
        let mut command = within(limit);
        command.arg("pack").arg(self.path("in")).arg("-o").arg(self.path(out)).args(more);
        end_of(command)
    }

    fn packed(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        common::tree(&self.path(out))
    }
}

/// The program within limits.
fn within(limit: &str) -> Command {
    let mut command = Command::new("sh");
    let set = if limit.is_empty() { String::new() } else { format!("ulimit {limit}; ") };
    command.args(["-c", &format!("{set}exec \"$@\""), "sh", env!("CARGO_BIN_EXE_vidrec")]);
    command.stdin(Stdio::null());
    command
}

/// The output of a program that has to end by itself.
fn end_of(mut command: Command) -> Output {
    ends(&format!("{command:?}"), move || command.output().unwrap())
}

#[test]
#[ignore = "full: many limits"]
fn too_few_descriptors_cost_time_or_stop_the_run_and_never_cost_a_video() {
    let videos = Videos::make();
    let run = videos.pack("", "whole", &["-j", "8"]);
    assert!(run.status.success(), "{}", show(&run));
    let whole = videos.packed("whole");
    let (mut packed, mut stopped) = (0, 0);
    for (files, more) in [(9, &["-j", "8", "--no-isolate"][..]), (12, &["-j", "8", "--no-isolate"]), (20, &["-j", "8"])]
    {
        let limit = format!("-n {files}");
        let run = videos.pack(&limit, "out", &[more, &["--if-exists", "replace"]].concat());
        if run.status.code() == Some(0) {
            assert_eq!(videos.packed("out"), whole, "{limit} {more:?}");
            packed += 1;
        } else {
            assert_eq!(run.status.code(), Some(1), "{limit} {more:?}: {}", show(&run));
            assert!(stderr(&run).contains("ulimit -n"), "{limit} {more:?}: {}", show(&run));
            stopped += 1;
            let run = videos.pack("", "out", &["-j", "2", "--if-exists", "replace"]);
            assert!(run.status.success(), "{}", show(&run));
            assert_eq!(videos.packed("out"), whole, "{limit} {more:?}");
        }
        fs::remove_dir_all(videos.path("out")).unwrap();
        // An estimate counts no failures of the machine.
        let run = videos.pack(&limit, "out", &[more, &["--dry-run", "--json"]].concat());
        if run.status.code() == Some(0) {
            let estimate: Value = serde_json::from_slice(&run.stdout).unwrap();
            assert_eq!(estimate["probe_failures"], Value::Array(vec![]), "{files}");
        } else {
            assert!(run.status.code() == Some(1) && stderr(&run).contains("ulimit -n"), "{files}: {}", show(&run));
        }
    }
    eprintln!("{packed} runs were slower, {stopped} stopped");
    assert!(packed >= 1, "with 12 descriptors there are enough for some videos at a time");
}

#[test]
fn pictures_are_read_within_the_same_limits() {
    let videos = Videos::make();
    fs::remove_dir_all(videos.path("in/a")).unwrap();
    for clip in 0..16 {
        for t in 0..3 {
            videos.write(&format!("in/a/{clip:02}/{t}.jpg"), common::jpeg((64, 48), t));
        }
    }
    let options = ["-j", "8", "-n", "3", "--no-isolate"];
    assert!(videos.pack("", "whole", &options).status.success());
    let run = videos.pack("-n 10", "out", &options);
    assert!(run.status.success(), "{}", show(&run));
    assert_eq!(videos.packed("out"), videos.packed("whole"));
}

#[test]
fn too_little_memory_never_costs_a_video_and_never_hangs() {
    let videos = Videos::make();
    assert!(videos.pack("", "whole", &[]).status.success());
    let whole = videos.packed("whole");
    let mut packed = 0;
    for (kib, more) in [(150_000, &["--no-isolate"][..]), (330_000, &[]), (420_000, &["--no-isolate"]), (900_000, &[])]
    {
        let limit = format!("-v {kib}");
        let run = videos.pack(&limit, "out", &[more, &["-j", "4"]].concat());
        let aborted = run.status.signal() == Some(libc::SIGABRT) && stderr(&run).contains("memory allocation of");
        match run.status.code() {
            Some(0) => {
                assert_eq!(videos.packed("out"), whole, "{limit}");
                packed += 1;
            }
            // 127: not even the program could be loaded.
            Some(127) => {}
            code => {
                assert!(aborted || code == Some(1), "{limit}: {}", show(&run));
                assert!(stderr(&run).contains("memory") || stderr(&run).contains("threads"), "{limit}: {}", show(&run));
                assert!(!videos.path("out").join("dataset.json").exists(), "{limit}");
            }
        }
        assert!(!stderr(&run).contains("panicked"), "{limit}: {}", show(&run));
        let _ = fs::remove_dir_all(videos.path("out"));
    }
    assert!(packed >= 1);
}

#[test]
fn a_video_whose_process_is_killed_alone_as_well_needs_too_much() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make();
    let mut command = within("");
    command.arg("pack").arg(videos.path("in")).arg("-o").arg(videos.path("out")).args(["-j", "4"]);
    let run = end_of({
        command.env("VIDREC_DECODER_FAULT", "kill:a/05.mp4");
        command
    });
    assert_eq!(run.status.code(), Some(3), "{}", show(&run));
    let failures = fs::read_to_string(common::names::file(videos.path("out"), "failures.jsonl")).unwrap();
    assert_eq!(failures.lines().count(), 1, "{failures}");
    assert!(failures.contains("a/05.mp4") && failures.contains("\"crash\""), "{failures}");
    assert!(failures.contains("SIGKILL") && failures.contains("more memory than the machine has"), "{failures}");
}

#[test]
#[ignore = "full: a thousand shards"]
fn a_data_set_of_more_shards_than_files_that_may_be_open_is_read_all_the_same() {
    let soak = std::env::var_os("VIDREC_SOAK").is_some();
    let (shards, files) = if soak { (40_000, 1024) } else { (90, 40) };
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("set");
    let jpegs: Vec<_> = (0..8).map(|t| common::jpeg((48, 32), t)).collect();
    let mut writer = vidrec::Writer::create(&dir, vidrec::WriterOptions::default()).unwrap();
    for shard in 0..shards {
        if shard > 0 {
            writer.next_shard().unwrap();
        }
        let info = vidrec::ClipInfo { label: Some(shard), width: 48, height: 32, ..Default::default() };
        let frame =
            |t: usize| vidrec::FrameData { jpeg: &jpegs[(shard as usize + t) % 8], pts: t as i64, source_index: None };
        writer.append(&info, &[frame(0), frame(1)]).unwrap();
    }
    writer.finish().unwrap();
    let limit = format!("-n {files}");
    let run = |args: &[&str]| {
        let mut command = within(&limit);
        command.arg(args[0]).arg(&dir).args(&args[1..]);
        let run = end_of(command);
        assert!(run.status.success(), "{args:?}: {}", show(&run));
        String::from_utf8_lossy(&run.stdout).into_owned()
    };
    assert!(run(&["verify"]).starts_with("intact"));
    let bench =
        [r#"crop={"RandomResizedCrop": {"size": 32}}"#, "batch_size=20", "shuffle=true", "threads=2", "--epochs", "1"];
    for io in ["map", "read"] {
        run(&[&["bench"][..], &bench, &["--io", io]].concat());
    }
}

#[test]
fn a_folder_that_cannot_be_listed_is_one_failure() {
    use std::os::unix::fs::PermissionsExt;
    let videos = Videos::make();
    let locked = videos.path("in/b");
    fs::create_dir_all(&locked).unwrap();
    fs::copy(videos.path("0.mp4"), videos.path("in/c/x.mp4")).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let lists = |words: &[&str]| {
        let mut ls = Command::new(words[0]);
        ls.args(&words[1..]).arg(&locked).stdout(Stdio::null()).stderr(Stdio::null());
        ls.status().is_ok_and(|status| status.success())
    };
    // Root may list every folder, unless it gives that right away.
    let without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
    let by = if lists(&["ls"]) { &without[..] } else { &[] };
    if !by.is_empty() && (lists(&[by, &["ls"]].concat()) || !lists(&[by, &["ls", "-d"]].concat())) {
        return skip("whoever runs this may list every folder, and there is no setpriv program");
    }
    let mut command = Command::new(by.first().unwrap_or(&"env"));
    command.args(by.get(1..).unwrap_or_default()).args([env!("CARGO_BIN_EXE_vidrec"), "pack", "-n", "1", "-o"]);
    command.args([videos.path("out"), videos.path("in")]).stdin(Stdio::null());
    let run = end_of(command);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(run.status.code(), Some(3), "{}", show(&run));
    let failures = fs::read_to_string(common::names::file(videos.path("out"), "failures.jsonl")).unwrap();
    assert_eq!(failures.lines().count(), 1, "{failures}");
    assert!(
        failures.contains("\"b\"") && failures.contains("could not list the folder: Permission denied"),
        "{failures}"
    );
    let set = vidrec::Dataset::open(videos.path("out")).unwrap();
    assert_eq!((set.len(), set.classes()), (VIDEOS as u64 + 1, &["a", "b", "c"].map(String::from)[..]));
}

/// Folders of good videos, with entries between them that cannot be read.
#[test]
fn what_cannot_be_read_in_a_folder_is_a_failure_and_the_rest_is_packed() {
    use std::os::unix::fs::symlink;
    let videos = Videos::make();
    for class in ["b", "d"] {
        fs::copy(videos.path("0.mp4"), videos.path(&format!("in/{class}/x.mp4"))).unwrap();
    }
    symlink("nowhere.mp4", videos.path("in/a/00b.mp4")).unwrap();
    symlink("self.mp4", videos.path("in/b/self.mp4")).unwrap();
    symlink("..", videos.path("in/b/up")).unwrap();
    symlink("/nowhere/c", videos.path("in/c")).unwrap();
    symlink("nowhere.txt", videos.path("in/b/notes.txt")).unwrap();
    videos.write("in/d/pictures/1.jpg", common::jpeg((64, 48), 1));
    symlink("nowhere.jpg", videos.path("in/d/pictures/2.jpg")).unwrap();
    let run = videos.pack("", "out", &["-j", "4", "--json", "-n", "1"]);
    assert_eq!(run.status.code(), Some(3), "{}", show(&run));
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["clips"], VIDEOS + 2);
    assert_eq!(report["passed_over"][0]["files"], 1, "a link with another ending: {report}");
    let failures = report["failures"].as_array().unwrap();
    let of = |source: &str| {
        failures.iter().find(|f| f["source"] == source).unwrap_or_else(|| panic!("{source}: {failures:?}"))
    };
    for (source, words) in [
        ("a/00b.mp4", "No such file"),
        ("b/self.mp4", "Too many levels of symbolic links"),
        ("b/up", "leads back to the folder"),
        ("c", "No such file"),
        ("d/pictures", "No such file"),
    ] {
        let failure = of(source);
        assert_eq!(failure["stage"], "open", "{failure}");
        assert!(failure["error"].as_str().unwrap().contains(words), "{failure}");
    }
    assert_eq!(failures.len(), 5);
    let set = vidrec::Dataset::open(videos.path("out")).unwrap();
    assert_eq!(set.classes(), ["a", "b", "c", "d"], "the numbers of classes are those of a run that could read all");
    assert_eq!(
        (set.clip(0).unwrap().source().unwrap(), set.clip(1).unwrap().source().unwrap()),
        ("a/00.mp4".into(), "a/01.mp4".into())
    );
    // The same again, by one thread; and a stop where that was asked for.
    assert_eq!(videos.pack("", "again", &["-j", "1", "-n", "1"]).status.code(), Some(3));
    assert_eq!(videos.packed("again"), videos.packed("out"));
    let run = videos.pack("", "stopped", &["-j", "1", "-n", "1", "--max-failures", "0"]);
    assert_eq!(run.status.code(), Some(1), "{}", show(&run));
    assert!(stderr(&run).contains("00b.mp4"), "{}", show(&run));
    // What is named itself has to be there.
    let mut command = within("");
    command.arg("pack").arg(videos.path("in/c")).arg("-o").arg(videos.path("none"));
    assert_eq!(end_of(command).status.code(), Some(1));
    assert!(!videos.path("none").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn too_little_memory_for_batches_is_an_error_that_says_so() {
    let videos = Videos::make();
    assert!(videos.pack("", "set", &["--frames", "4"]).status.success());
    let bench = |kib: u64| {
        let mut command = within(&format!("-v {kib}"));
        // To make an arena for a thread, glibc takes 64 MiB of address space for a moment. Under such a limit, small
        // allocations of other threads may fail meanwhile, which ends the process.
        command.env("MALLOC_ARENA_MAX", "1");
        command.arg("bench").arg(videos.path("set")).args(["batch_size=8", "dtype=float32", "--seconds", "0"]);
        end_of(command)
    };
    // As much as the program needs before it makes batches. With a little less, system libraries that fail to
    // initialize crash or hang before `main`: GnuTLS does both.
    let begins = |kib: &u64| {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "20", "sh", "-c", &format!("ulimit -v {kib}; exec \"$@\""), "sh"]);
        command.arg(env!("CARGO_BIN_EXE_vidrec")).arg("inspect").arg(videos.path("set"));
        end_of(command).status.success()
    };
    let least = (50_000..4_000_000).step_by(10_000).find(begins).unwrap();
    let mut refused = 0;
    for kib in (least + 8_000..least + 120_000).step_by(14_000) {
        let run = bench(kib);
        // With so little memory, it may be a thread that is missing.
        let says_so = ["no memory for", "could not start"].iter().any(|what| stderr(&run).contains(what));
        assert!(run.status.success() || run.status.code() == Some(1) && says_so, "{kib} KiB: {}", show(&run));
        refused += u32::from(!run.status.success());
    }
    assert!((1..8).contains(&refused), "{refused}");
}

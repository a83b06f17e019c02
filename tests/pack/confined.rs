//! Processes that decode are confined: a video that has taken one over cannot get out. The decoder tries on purpose
//! (`VIDREC_DECODER_FAULT`), so these tests need a debug build.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::program_runs::show;
use crate::common::skip::{has_decoder_faults, has_ffmpeg, skip};
use crate::common::until::until;
use crate::pack::support::Room;

struct Bench(Room);

impl Deref for Bench {
    type Target = Room;

    fn deref(&self) -> &Room {
        &self.0
    }
}

impl Bench {
    /// Three videos, of which the second one is hostile.
    fn make() -> Option<Self> {
        if !has_ffmpeg() || !has_decoder_faults() {
            return None;
        }
        let room = Room::new();
        for name in ["1", "2", "3"] {
            let how = "-f lavfi -i testsrc2=size=128x96:rate=10:duration=1 -c:v mpeg4";
            room.make(&format!("in/a/{name}.mp4"), how);
        }
        Some(Bench(room))
    }

    fn pack(&self, way: &str) -> Command {
        let _ = fs::remove_dir_all(self.path("set"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.arg("pack").arg(self.path("in")).arg("-o").arg(self.path("set")).args(["--json", "-j", "2"]);
        command.env("VIDREC_DECODER_FAULT", format!("escape:a/2.mp4:{way}")).stdin(Stdio::null());
        command
    }

    /// What is said of the hostile video. The others are packed.
    fn failure(&self, way: &str) -> Value {
        let run = self.pack(way).env("AWS_SECRET_ACCESS_KEY", "hush").output().unwrap();
        assert_eq!(run.status.code(), Some(3), "{way}: {}", show(&run));
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!((&report["clips"], &report["failed"]), (&2.into(), &1.into()), "{way}: {report}");
        assert_eq!(report["failures"][0]["source"], "a/2.mp4", "{way}: {report}");
        assert_eq!(self.set().len(), 2);
        report["failures"][0].clone()
    }
}

/// Whether the kernel confines anything here.
fn is_confined() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = cfg!(target_os = "linux") && status.contains("Seccomp:");
    if !found {
        skip("the kernel has no filter of system calls");
    }
    found
}

#[test]
fn a_video_that_took_its_decoder_over_cannot_get_out() {
    let Some(bench) = Bench::make().filter(|_| is_confined()) else { return };
    let (written, removed) = (bench.path("written"), bench.path("to-be-removed"));
    fs::write(&removed, "still there").unwrap();
    let mut ended = BTreeMap::new();
    for way in [
        "read", "list", "look", "run", "write", "remove", "connect", "exec", "spawn", "fork", "trace", "kill", "signal",
    ] {
        let failure = match way {
            "write" => bench.failure(&format!("write:{}", written.display())),
            "remove" => bench.failure(&format!("remove:{}", removed.display())),
            way => bench.failure(way),
        };
        let words = failure["error"].as_str().unwrap().to_owned();
        assert!(!words.contains("escaped"), "{way}: {words}");
        let is_killed = words.contains("SIGSYS") && words.contains("may be an attack") && failure["stage"] == "crash";
        assert!(is_killed || words.starts_with("refused: "), "{way}: {words}");
        ended.insert(way, is_killed);
    }
    let killed: Vec<_> = ended.iter().filter(|(_, killed)| **killed).map(|(way, _)| *way).collect();
    // Libraries look for files of settings, and ask for memory in ways that a system may lack. All else is an attack.
    assert_eq!(killed, ["connect", "exec", "fork", "kill", "remove", "signal", "spawn", "trace", "write"]);
    assert!(removed.exists() && !written.exists());
}

#[test]
fn a_video_that_asks_for_other_files_or_too_much_memory_fails() {
    let Some(bench) = Bench::make().filter(|_| is_confined()) else { return };
    let failure = bench.failure("ask");
    assert_eq!(failure["error"], "refused: not given", "{failure}");
    let failure = bench.failure("memory");
    assert!(failure["error"].as_str().unwrap().contains("needs more than any valid video does"), "{failure}");
    let failure = bench.failure("abort");
    assert_eq!(failure["stage"], "crash");
    let words = failure["error"].as_str().unwrap();
    assert!(words.contains("SIGABRT") && words.contains("needs more memory than a process may use"), "{failure}");
}

/// Credentials are in the environment of many a run.
#[test]
fn a_process_that_decodes_gets_no_credentials() {
    let Some(bench) = Bench::make() else { return };
    assert_eq!(bench.failure("environment")["error"], "refused: no secrets");
}

/// A scheduler sends a signal to all processes of a job. The run finishes the videos in hand all the same.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_for_all_processes_ends_the_run_in_order() {
    let Some(bench) = Bench::make() else { return };
    let gate = bench.path("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let mut open = fs::OpenOptions::new().read(true).write(true).open(&gate).unwrap();
    let mut command = bench.pack("none");
    command.env("VIDREC_DECODER_FAULT", format!("wait:a/3.mp4:{}", gate.display()));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = command.spawn().unwrap();
    let children = || {
        let tasks = fs::read_dir(format!("/proc/{}/task", run.id())).unwrap();
        let of = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
        tasks.map(|task| of(task.unwrap())).collect::<String>()
    };
    let shard = bench.path("set").join(".vidrec.pack/attempts/1/shard");
    until("a video is in hand", || shard.exists() && !children().trim().is_empty());
    let workers = children();
    let all = workers.split_whitespace().map(str::to_owned).chain([run.id().to_string()]);
    assert!(Command::new("kill").args(["-s", "TERM"]).args(all).status().unwrap().success());
    std::io::Write::write_all(&mut open, b".").unwrap();
    let run = run.wait_with_output().unwrap();
    let said = show(&run);
    assert!(run.status.code() == Some(130) || run.status.code() == Some(0), "{said}");
    assert!(!said.contains("crash"), "{said}");
}

//! At a signal, a pack ends when the videos in hand are done: however few are left, and however it packs. Later it goes on to
//! the same bytes.
//!
//! `VIDREC_SOAK=1` tries every number of videos up to four times that of the threads instead of some.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::ffmpeg_videos;
use crate::common::skip::{has_decoder_faults, has_ffmpeg};
use crate::common::until::until;

type Files = BTreeMap<String, Vec<u8>>;

/// A folder with small videos, and what is made of them.
struct Work {
    temp: tempfile::TempDir,
}

impl Work {
    /// `None` where no videos can be made.
    fn new() -> Option<Work> {
        if !has_ffmpeg() || !has_decoder_faults() {
            return None;
        }
        let work = Work { temp: tempfile::tempdir().unwrap() };
        for i in 0..3 {
            let source = format!("testsrc2=size=64x48:rate=10:duration=1,hue=h={}", i * 90);
            ffmpeg_videos::make(&format!("-f lavfi -i {source} -c:v mpeg4"), work.path(&format!("{i}.mp4")));
        }
        assert!(Command::new("mkfifo").arg(work.path("gate")).status().unwrap().success());
        Some(work)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// Lays out so many videos in the folder `in`, and removes what was made of others.
    fn lay_out(&self, videos: usize) {
        for folder in ["in", "out", "plan", "whole"] {
            remove(&self.path(folder));
        }
        fs::create_dir(self.path("in")).unwrap();
        for i in 0..videos {
            fs::copy(self.path(&format!("{}.mp4", i % 3)), self.path(&format!("in/{i:04}.mp4"))).unwrap();
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.args(args).current_dir(self.temp.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    #[track_caller]
    fn done(&self, args: &[&str]) {
        let run = self.command(args).output().unwrap();
        assert!(run.status.success(), "{args:?}: {}", show(&run));
    }

    fn files(&self, folder: &str) -> Files {
        let paths = fs::read_dir(self.path(folder)).unwrap().map(|entry| entry.unwrap().path());
        paths.map(|path| (path.file_name().unwrap().to_string_lossy().into(), fs::read(&path).unwrap())).collect()
    }

    /// Sends a signal to a pack of which at least one video is in hand, lets these videos go on, and waits for its end.
    fn stop(&self, args: &[&str], signal: &str, videos: usize) -> Output {
        // Each video waits for a byte.
        let mut command = self.command(args);
        command.env("VIDREC_DECODER_FAULT", format!("wait:*:{}", self.path("gate").display()));
        let mut child = Running(Some(command.spawn().unwrap()));
        let mut gate = open_gate(&self.path("gate"));
        signal_to(child.id(), signal);
        // The program asks for the end ten times a second while the videos wait. Nothing depends on how often.
        sleep(Duration::from_millis(250));
        gate.write_all(&vec![b'.'; videos]).unwrap();
        until(&format!("{args:?} of {videos} videos ends at {signal}"), || child.has_ended());
        child.output()
    }
}

/// The named pipe, once somebody reads from it. It has to stay open: who reads from a pipe that nobody has open finds its end.
fn open_gate(path: &Path) -> File {
    let mut gate = None;
    until("a video is in hand", || {
        gate = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path).ok();
        gate.is_some()
    });
    gate.unwrap()
}

/// A process that ends with this.
struct Running(Option<Child>);

impl Running {
    fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    fn has_ended(&mut self) -> bool {
        self.0.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    fn output(&mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn signal_to(process: u32, signal: &str) {
    assert!(Command::new("kill").args(["-s", signal, &process.to_string()]).status().unwrap().success());
}

fn remove(folder: &Path) {
    if folder.exists() {
        fs::remove_dir_all(folder).unwrap();
    }
}

fn show(run: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    format!("{}\n--- stdout\n{out}\n--- stderr\n{err}", run.status)
}

/// The numbers of videos to try with so many threads, and the signals for each: in turn, or both.
fn trials(threads: usize, count: usize) -> Vec<(usize, &'static str)> {
    if std::env::var_os("VIDREC_SOAK").is_some() {
        return (1..=4 * threads).flat_map(|videos| [(videos, "INT"), (videos, "TERM")]).collect();
    }
    [(threads + 1, "TERM"), (3 * threads, "INT")].into_iter().take(count).collect()
}

const PACK: [&str; 9] = ["pack", "in", "-o", "out", "-n", "4", "--commit-every", "0", "--short=repeat-last"];

/// Stops packs with `more` options for some numbers of videos and both signals, and goes on.
fn is_stopped_and_goes_on(count: usize, more: &[&str]) {
    let Some(work) = Work::new() else { return };
    let pack = [&PACK[..], &["-j", "2"], more].concat();
    for (videos, signal) in trials(2, count) {
        work.lay_out(videos);
        work.done(&pack);
        let whole = work.files("out");
        let what = format!("{videos} videos, {more:?}, {signal}");
        remove(&work.path("out"));
        let run = work.stop(&pack, signal, videos);
        assert_eq!(run.status.code(), Some(130), "{what}: {}", show(&run));
        assert!(!work.path("out/.vidrec.lock").exists(), "{what}");
        work.done(&[&pack[..], &["--if-exists", "resume"]].concat());
        assert!(work.files("out") == whole, "{what}: other bytes");
    }
}

#[test]
fn with_two_threads() {
    is_stopped_and_goes_on(2, &[]);
}

#[test]
#[ignore = "full: as with_two_threads, in one process"]
fn in_one_process() {
    is_stopped_and_goes_on(1, &["--no-isolate"]);
}

#[test]
#[ignore = "full: as with_two_threads, in parts"]
fn in_parts() {
    is_stopped_and_goes_on(1, &["--parts", "2"]);
}

/// A part is resumed by the same command.
#[test]
fn as_a_part_of_a_plan() {
    let Some(work) = Work::new() else { return };
    let part = ["pack", "plan", "--part", "0", "--commit-every", "0", "-j", "2"];
    for (videos, signal) in trials(2, 1) {
        work.lay_out(videos);
        work.done(&[&PACK[..6], &["--parts", "1"]].concat());
        let whole = work.files("out");
        remove(&work.path("out"));
        work.done(&["plan", "in", "-o", "plan", "--parts", "1", "-n", "4"]);
        let run = work.stop(&part, signal, videos);
        assert_eq!(run.status.code(), Some(130), "{videos} videos, {signal}: {}", show(&run));
        work.done(&part);
        work.done(&["publish", "plan", "-o", "out"]);
        assert!(work.files("out") == whole, "{videos} videos, {signal}: other bytes");
    }
}

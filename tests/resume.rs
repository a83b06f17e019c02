//! Nothing is lost: packs that are killed, starved of space or interrupted are gone on with, to the same bytes.
//!
//! `VIDREC_SOAK=1` tries every step and two hundred random moments instead of some.
#![cfg(all(feature = "pack", feature = "cli"))]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

const JOURNAL: &str = ".pack.journal";

/// Small videos of two classes, with a broken file in the middle.
struct Videos {
    temp: tempfile::TempDir,
}

impl Videos {
    fn make(count: u32) -> Self {
        let videos = Videos { temp: tempfile::tempdir().unwrap() };
        for i in 0..3 {
            let source = format!("testsrc2=size=64x48:rate=10:duration=1,hue=h={}", i * 90);
            let mut ffmpeg = Command::new("ffmpeg");
            ffmpeg.args(["-nostdin", "-v", "error", "-f", "lavfi", "-i", &source, "-c:v", "mpeg4"]);
            let status = ffmpeg.arg(videos.path(&format!("{i}.mp4"))).status();
            let status = status.expect("these tests make their videos with ffmpeg; scripts/setup.sh installs it");
            assert!(status.success());
        }
        for i in 0..count {
            let to = videos.path(&format!("in/{}/{i:04}.mp4", if i % 2 == 0 { "even" } else { "odd" }));
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(videos.path(&format!("{}.mp4", i % 3)), to).unwrap();
        }
        fs::write(videos.path("in/even/broken.mp4"), b"<html>404</html>").unwrap();
        videos
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// `vidrec pack` that commits after each video.
    fn command(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
        command.arg("pack").arg(self.path("in")).arg("-o").arg(self.path(out));
        command.args(["-n", "4", "--commit-every", "0", "-j", "2"]).args(more);
        command
    }

    fn pack(&self, out: &str, more: &[&str]) -> Output {
        self.command(out, more).output().unwrap()
    }

    /// Packs to the end: one video is broken, so the status is 3.
    fn pack_whole(&self, out: &str, more: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let run = self.pack(out, more);
        assert_eq!(run.status.code(), Some(3), "{}", show(&run));
        self.files(out)
    }

    /// All files in a folder.
    fn files(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        let Ok(entries) = fs::read_dir(self.path(out)) else { return BTreeMap::new() };
        let paths = entries.map(|e| e.unwrap().path());
        paths.map(|p| (p.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&p).unwrap())).collect()
    }

    fn begin_again(&self, out: &str) {
        if self.path(out).exists() {
            fs::remove_dir_all(self.path(out)).unwrap();
        }
    }
}

fn show(run: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    format!("{}\n--- stdout\n{out}\n--- stderr\n{err}", run.status)
}

fn stderr(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

fn soak() -> bool {
    std::env::var_os("VIDREC_SOAK").is_some()
}

#[track_caller]
fn same(found: &BTreeMap<String, Vec<u8>>, wanted: &BTreeMap<String, Vec<u8>>, what: &str) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(wanted), "{what}");
    for (name, bytes) in wanted {
        assert!(found[name] == *bytes, "{what}: {name} differs");
    }
}

/// Whatever can be opened is whole.
#[track_caller]
fn is_whole_or_refused(dir: &Path, what: &str) {
    if vidrec::Dataset::open(dir).is_ok() {
        let report = vidrec::verify(dir, vidrec::VerifyOptions::default(), &|_| ()).unwrap();
        assert!(report.problems.is_empty(), "{what}: {:?}", report.problems);
    }
}

/// A number that looks random and is the same each time.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Kills the program at steps (writes, in their middle, syncs, renames, removals) and goes on, once with another kill.
#[test]
fn killed_at_any_step_it_goes_on_to_the_same_bytes() {
    if !cfg!(debug_assertions) {
        return;
    }
    let videos = Videos::make(6);
    for more in [&[][..], &["--shard-size", "20kB"], &["--shards", "3", "--force"]] {
        videos.begin_again("whole");
        let whole = videos.pack_whole("whole", more);
        let mut step = 0;
        loop {
            videos.begin_again("set");
            if more.contains(&"--force") {
                videos.pack_whole("set", &["--seed", "1", "--sample", "random"]);
            }
            let killed = videos.command("set", more).env("VIDREC_FAULT", format!("kill:{step}")).output().unwrap();
            if killed.status.code() == Some(3) {
                assert!(step > 40, "{step} steps");
                break;
            }
            assert_eq!(killed.status.code(), None, "{}", show(&killed));
            is_whole_or_refused(&videos.path("set"), &format!("step {step} {more:?}"));
            let resume = [more, &["--resume"]].concat();
            if step % 2 == 1 {
                videos.command("set", &resume).env("VIDREC_FAULT", format!("kill:{}", step / 2)).output().unwrap();
            }
            let run = videos.pack("set", &resume);
            assert_eq!(run.status.code(), Some(3), "step {step}: {}", show(&run));
            same(&videos.files("set"), &whole, &format!("step {step} {more:?}"));
            step += if soak() { 1 } else { 5 };
        }
    }
}

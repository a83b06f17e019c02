//! Attempts that are killed at any moment. `VIDREC_SOAK=1` tries two hundred moments instead of some.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{OFTEN, PARTS, Videos, show};

fn moments() -> u32 {
    if std::env::var_os("VIDREC_SOAK").is_some() { 200 } else { 20 }
}

/// A number below `limit` that looks random and is the same each time.
fn random(seed: &mut u64, limit: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed % limit
}

/// How long a command takes that is not killed.
fn time(command: &mut Command) -> Duration {
    let began = Instant::now();
    assert!(matches!(command.output().unwrap().status.code(), Some(0 | 3)));
    began.elapsed()
}

/// Starts a command, and kills it at a random moment of its time.
fn kill(command: &mut Command, time: Duration, seed: &mut u64) {
    let mut child = command.spawn().unwrap();
    sleep(time.mul_f64(random(seed, 1000) as f64 / 1000.0));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn killed_attempts_are_continued_to_the_same_bytes() {
    let videos = Videos::make(40);
    let whole = videos.whole("whole", &[]);
    videos.plan("plan", &[]);
    let time = time(&mut videos.part("plan", 0));
    let mut seed = 0x2545_f491_4f6c_dd1d;
    let (mut resumed, mut killed) = (0, 0);
    for moment in 0..moments() {
        videos.remove("plan");
        videos.plan("plan", &[]);
        for part in 0..PARTS {
            // Two attempts at once, one after the other, or one.
            let other = (random(&mut seed, 3) == 0).then(|| videos.part("plan", part).spawn().unwrap());
            kill(&mut videos.part("plan", part), time, &mut seed);
            if random(&mut seed, 2) == 0 {
                kill(&mut videos.part("plan", part), time, &mut seed);
            }
            if let Some(other) = other {
                let run = other.wait_with_output().unwrap();
                assert!(run.status.success(), "moment {moment}: {}", show(&run));
            }
            killed += u32::from(!videos.path(&format!("plan/parts/{part:05}.json")).exists());
            let run = videos.pack_part("plan", part);
            resumed += u32::from(String::from_utf8_lossy(&run.stdout).contains("before an earlier attempt ended"));
        }
        assert_eq!(videos.published("plan", "out"), whole, "moment {moment}");
    }
    assert!(killed > 0 && resumed > 0, "{killed} were killed before their end, {resumed} resumed");
}

#[test]
fn one_machine_that_is_killed_resumes_to_the_same_bytes() {
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    let pack = ["pack", "in", "-o", "set", "--parts", "4", "-n", "4"];
    let pack = [&pack, &OFTEN[..]].concat();
    let time = time(&mut videos.command(&pack));
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    for moment in 0..moments() {
        videos.remove("set");
        kill(&mut videos.command(&pack), time, &mut seed);
        kill(videos.command(&pack).args(["--if-exists", "resume"]), time, &mut seed);
        videos.ends(3, &[&pack[..], &["--if-exists", "resume"]].concat());
        assert_eq!(videos.files("set"), whole, "moment {moment}");
        assert!(!videos.path("set/.parts").exists());
    }
}

#[test]
fn a_retry_in_parts_that_is_killed_resumes_to_the_same_bytes() {
    let videos = Videos::make(20);
    videos.whole("failing", &[]);
    fs::copy(videos.path("1.mp4"), videos.path("in/even/broken.mp4")).unwrap();
    let pack = |out: &'static str| [&["pack", "in", "-o", out, "--parts", "4", "-n", "4"], &OFTEN[..]].concat();
    videos.ends(0, &pack("whole"));
    let retry = [&pack("set")[..], &["--if-exists", "retry-failed"]].concat();
    let fresh = || {
        videos.remove("set");
        fs::create_dir(videos.path("set")).unwrap();
        for name in videos.files("failing").keys() {
            fs::copy(videos.path("failing").join(name), videos.path("set").join(name)).unwrap();
        }
    };
    fresh();
    let time = time(&mut videos.command(&retry));
    let (mut seed, mut interrupted) = (0x5851_f42d_4c95_7f2d, 0);
    for moment in 0..moments() {
        fresh();
        kill(&mut videos.command(&retry), time, &mut seed);
        if videos.path("set/.parts/plan.json").exists() {
            interrupted += 1;
            // It would lose what was retried.
            videos.fails(
                &[&pack("set")[..], &["--if-exists", "resume"]].concat(),
                &["failed videos", "--if-exists retry-failed"],
            );
        }
        videos.ends(0, &retry);
        assert_eq!(videos.files("set"), videos.files("whole"), "moment {moment}");
        assert!(!videos.path("set/.parts").exists());
    }
    assert!(interrupted > 0);
}

#[test]
fn a_publication_that_is_killed_is_published_again() {
    let videos = Videos::make(20);
    videos.packed("plan");
    let whole = videos.published("plan", "whole");
    let time = time(&mut videos.command(&["publish", "plan", "-o", "timed"]));
    let mut seed = 0xd1b5_4a32_d192_ed03;
    for moment in 0..moments() {
        for out in ["out", "plan"] {
            let publish = ["publish", "plan", "-o", out, "--overwrite"];
            kill(&mut videos.command(&publish), time, &mut seed);
            videos.ends(3, &publish);
            let mut found = videos.files(out);
            found.retain(|name, _| !["plan.json", "jobs.jsonl"].contains(&name.as_str()));
            assert_eq!(found, whole, "moment {moment} of {out}");
        }
        videos.remove("out");
        fs::remove_file(videos.path("plan/dataset.json")).unwrap();
    }
}

//! Attempts at one part that run at once and are killed at any moment; `tests/faults` kills a single one at each of its steps.
//! `VIDREC_SOAK=1` tries two hundred moments instead of some.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{PARTS, Videos, show};

fn moments() -> u32 {
    if std::env::var_os("VIDREC_SOAK").is_some() { 200 } else { 4 }
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
    let videos = Videos::make(20);
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

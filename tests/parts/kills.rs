//! Attempts at one part that run at once and are killed: at the start, or with some videos kept and others in hand.
//! `tests/faults` kills a single one at each of its steps.

use std::fs::{self, OpenOptions};
use std::io::Write;

use crate::common::skip::has_decoder_faults;
use crate::common::until::until;
use crate::parts::support::{PARTS, Videos, show};

/// Whether an attempt at this part has kept a video: its journal has a line for the start and one for each commit.
fn kept(videos: &Videos, part: u32) -> bool {
    let attempts = fs::read_dir(videos.path("plan/attempts")).into_iter().flatten().flatten();
    attempts.filter(|attempt| attempt.file_name().to_string_lossy().starts_with(&format!("{part:05}-"))).any(
        |attempt| {
            fs::read_to_string(attempt.path().join("set/.pack.journal"))
                .is_ok_and(|text| text.matches("checkpoint").count() > 1)
        },
    )
}

/// Starts an attempt at this part, lets it read so many videos, and kills it while it waits for the next.
/// An attempt makes its journal with the first video, and commits that one before it reads the third.
fn kill(videos: &Videos, part: u32, read: usize) {
    let gate = videos.path("gate");
    let mut open = OpenOptions::new().read(true).write(true).open(&gate).unwrap();
    open.write_all(&vec![b'.'; read]).unwrap();
    let fault = format!("wait:*:{}", gate.display());
    let mut child = videos.part("plan", part).env("VIDREC_DECODER_FAULT", fault).spawn().unwrap();
    if read > 0 {
        until("a video is kept, or another attempt ends the part", || {
            kept(videos, part) || child.try_wait().unwrap().is_some()
        });
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
#[cfg(unix)]
fn killed_attempts_are_continued_to_the_same_bytes() {
    if !has_decoder_faults() {
        return;
    }
    let videos = Videos::make(20);
    let whole = videos.whole("whole", &[]);
    assert!(std::process::Command::new("mkfifo").arg(videos.path("gate")).status().unwrap().success());
    let (mut resumed, mut killed) = (0, 0);
    for read in [0, 3] {
        videos.remove("plan");
        videos.plan("plan", &[]);
        for part in 0..PARTS {
            // One attempt, two one after the other, two at once, or three of which one is not killed.
            let other = (part >= 2).then(|| videos.part("plan", part).spawn().unwrap());
            for _ in 0..=part % 2 {
                kill(&videos, part, read);
            }
            if let Some(other) = other {
                let run = other.wait_with_output().unwrap();
                assert!(run.status.success(), "{read} videos: {}", show(&run));
            }
            killed += u32::from(!videos.path(&format!("plan/parts/{part:05}.json")).exists());
            let run = videos.pack_part("plan", part);
            resumed += u32::from(String::from_utf8_lossy(&run.stdout).contains("before an earlier attempt ended"));
        }
        assert_eq!(videos.published("plan", "out"), whole, "{read} videos");
    }
    // Alone, each attempt was killed before its end, and continued if it had kept a video.
    assert!(killed >= 4 && resumed >= 2, "{killed} were killed before their end, {resumed} resumed");
}

//! Which frames a rate takes where containers round times, where frames are held, and where clocks are broken.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use vidrec::Dataset;

use crate::common::skip::has_ffmpeg;
use crate::pack::segments::make;

/// Packs, and returns the status, what was said, and the frames of each clip.
fn pack(folder: &Path, input: &str, flags: &[&str]) -> (Option<i32>, String, Vec<Vec<u32>>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    command.current_dir(folder).args(["pack", input, "-o", "set", "--if-exists", "replace"]).args(flags);
    let run = command.output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    let set = Dataset::open(folder.join("set")).unwrap_or_else(|e| panic!("{e}: {said}"));
    let frames = |i| set.clip(i).unwrap().frames().map(|frame| frame.unwrap().source_index().unwrap()).collect();
    (run.status.code(), said, (0..set.len()).map(frames).collect())
}

/// Packs whole videos, and returns the frames of the first one.
fn frames(folder: &Path, input: &str, flags: &[&str]) -> Vec<u32> {
    let (status, said, mut clips) = pack(folder, input, flags);
    assert_eq!(status, Some(0), "{input} {flags:?}: {said}");
    clips.swap_remove(0)
}

#[test]
fn every_container_gives_the_frames_of_exact_times() {
    if !has_ffmpeg() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    for (rate, half) in [("24000/1001", "12000/1001"), ("60000/1001", "30000/1001")] {
        let folder = temp.path().join(rate.replace('/', "-"));
        fs::create_dir_all(folder.join("in")).unwrap();
        let video = format!("-f lavfi -i testsrc2=s=32x32:r={rate} -frames:v 60 -c:v libx264 -bf 0 -preset ultrafast");
        make(&folder, &video, "in/exact.mp4");
        // These round to milliseconds, and to 1/90,000 s. MPEG-TS begins at 1.4 s.
        for (name, ticks) in [("v.mkv", ""), ("v.flv", ""), ("v.ts", ""), ("v.mp4", "-video_track_timescale 1000")] {
            make(&folder, &format!("-i in/exact.mp4 -c copy {ticks}"), &format!("in/{name}"));
        }
        let all_alike = |at: &str| {
            let (status, said, clips) = pack(&folder, "in", &["--fps", at]);
            assert_eq!((status, clips.len()), (Some(0), 5), "{said}");
            assert!(clips.iter().all(|clip| *clip == clips[0]), "{rate} at {at}: {clips:?}");
            clips[0].clone()
        };
        assert_eq!(all_alike(rate), (0..60).collect::<Vec<_>>());
        assert_eq!(all_alike(half), (0..60).step_by(2).collect::<Vec<_>>());
        all_alike("25");
    }
}

#[test]
fn a_frame_is_on_the_screen_until_it_ends() {
    if !has_ffmpeg() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    make(folder, "-f lavfi -i testsrc2=s=32x32:r=0.2 -frames:v 6 -c:v libx264 -preset ultrafast", "sparse.mp4");
    assert_eq!(frames(folder, "sparse.mp4", &["--fps", "1"]), (0..30).map(|second| second / 5).collect::<Vec<_>>());
    fs::write(
        folder.join("list.csv"),
        "path,start,end\nsparse.mp4,6,9\nsparse.mp4,4,12\nsparse.mp4,26,29\nsparse.mp4,31,32\n",
    )
    .unwrap();
    let (status, said, clips) = pack(folder, "list.csv", &["--fps", "1"]);
    assert_eq!(clips, [vec![1, 1, 1], vec![0, 1, 1, 1, 1, 1, 2, 2], vec![5, 5, 5]]);
    assert!(status == Some(3) && said.contains("no frame lies from 31 to 32 s"), "{said}");
    let (_, _, clips) = pack(folder, "list.csv", &["--all"]);
    assert_eq!(clips, [vec![1], vec![1, 2], vec![5]], "frames that begin there or, without one, the one on the screen");

    // The last frame is held: a GIF says so with the frame, FFmpeg's Matroska in a tag.
    let held = "-f lavfi -i testsrc2=s=32x32:r=10:d=1";
    make(folder, &format!("{held} -final_delay 300"), "held.gif");
    let wanted: Vec<u32> = (0..9).chain(std::iter::repeat_n(9, 30)).collect();
    assert_eq!(frames(folder, "held.gif", &["--fps", "10"]), wanted);
    make(folder, "-i held.gif -c:v libx264 -pix_fmt yuv420p -vsync passthrough -enc_time_base 1/100", "held.mkv");
    let (status, said, clips) = pack(folder, "held.mkv", &["--fps", "10"]);
    assert_eq!((status, &clips[0][..9]), (Some(0), &wanted[..9]), "{said}");

    // A file that lacks its end is no file whose last frame is held.
    make(folder, "-f lavfi -i testsrc2=s=320x240:r=10:d=10 -c:v mjpeg", "whole.mkv");
    let bytes = fs::read(folder.join("whole.mkv")).unwrap();
    fs::write(folder.join("cut.mkv"), &bytes[..bytes.len() / 2]).unwrap();
    let (status, said, clips) = pack(folder, "cut.mkv", &["--fps", "10"]);
    assert!(status == Some(3) && said.contains("the container claims 10.0 s") && clips[0].len() < 60, "{said}");
}

#[test]
fn a_broken_clock_is_named_and_multiplies_no_frames() {
    if !has_ffmpeg() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let late = "-vf setpts='if(gte(N\\,148)\\,PTS+28000/TB\\,PTS)' -vsync passthrough";
    make(folder, &format!("-f lavfi -i testsrc2=s=32x32:r=25 {late} -frames:v 150 -c:v mjpeg"), "late.mkv");
    let (status, said, clips) = pack(folder, "late.mkv", &["--fps", "1"]);
    assert_eq!(clips[0], [0, 25, 50, 75, 100, 125]);
    assert!(status == Some(3) && said.contains("no frame for 28000.0 s after 5.9 s"), "{said}");
    let mut check = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    let found: Value =
        serde_json::from_slice(&check.current_dir(folder).args(["check", "set", "--json"]).output().unwrap().stdout)
            .unwrap();
    assert!(found.to_string().contains("a gap that no rate explains"), "{found}");

    // A container that does not know its length writes all ones (ISO 14496-12).
    make(folder, "-f lavfi -i testsrc2=s=32x32:r=25:d=2 -c:v libx264", "unknown.mp4");
    let mut bytes = fs::read(folder.join("unknown.mp4")).unwrap();
    for (kind, offset) in [(b"mvhd", 20), (b"mdhd", 20), (b"tkhd", 24)] {
        let at = bytes.windows(4).position(|four| four == kind).unwrap() + offset;
        bytes[at..at + 4].fill(0xff);
    }
    fs::write(folder.join("unknown.mp4"), bytes).unwrap();
    assert_eq!(frames(folder, "unknown.mp4", &["--frames", "4"]), [6, 18, 31, 43]);
}

//! Large pictures and long videos are packed within bounds, by the memory of the processes that do it.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};

use vidrec::Dataset;

use crate::common::skip::skip;
use crate::common::{ffmpeg_videos, own_process};

/// Runs `vidrec pack` to its end and gives the most memory that it had, in bytes.
fn peak_of_pack(args: &[&str], out: &Path, videos: &Path) -> u64 {
    let mut pack = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    pack.arg("pack").args(args).arg("--output").args([out, videos]).stdin(Stdio::null());
    let pid = libc::pid_t::try_from(pack.spawn().unwrap().id()).unwrap();
    // SAFETY: all zeros is a valid `rusage`, which the call fills in; the process is ours, and nobody else waits for it.
    let (waited, status, usage) = unsafe {
        let (mut status, mut usage) = (0, std::mem::zeroed::<libc::rusage>());
        (libc::wait4(pid, &mut status, 0, &mut usage), status, usage)
    };
    assert_eq!((waited, status), (pid, 0), "the process failed; see above");
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    usage.ru_maxrss as u64 * unit
}

fn make(path: &Path, args: &str) -> bool {
    ffmpeg_videos::try_make(&format!("-f lavfi -i {args} -threads 1"), path).is_ok()
}

// The most memory that a process had is at first that of the process that started it, so each test has one of its own.

#[test]
fn two_4k_videos_at_a_time_take_less_than_a_gigabyte() {
    own_process::run(module_path!(), "two_4k_videos_at_a_time_take_less_than_a_gigabyte", pack_two_4k_videos);
}

fn pack_two_4k_videos() {
    let dir = tempfile::tempdir().unwrap();
    let videos = dir.path().join("videos");
    std::fs::create_dir(&videos).unwrap();
    let source = "testsrc2=s=3840x2160:r=10 -frames:v 6";
    if !make(&videos.join("a.mp4"), &format!("{source} -c:v mpeg4 -q:v 8")) {
        return skip("no ffmpeg program");
    }
    // Every frame refers to the ones before; without x264, the first file twice.
    let x264 = format!("{source} -pix_fmt yuv420p -c:v libx264 -preset ultrafast -refs 4");
    if !make(&videos.join("b.mp4"), &x264) {
        std::fs::copy(videos.join("a.mp4"), videos.join("b.mp4")).unwrap();
    }
    let peak = peak_of_pack(&["--threads", "2"], &dir.path().join("out"), &videos);
    assert!(peak < 1 << 30, "{} MiB", peak >> 20);
}

#[test]
#[ignore = "full: a long video"]
fn the_pictures_of_a_long_video_are_not_in_memory_together() {
    own_process::run(module_path!(), "the_pictures_of_a_long_video_are_not_in_memory_together", pack_a_long_video);
}

fn pack_a_long_video() {
    const FRAMES: u64 = 800;
    let dir = tempfile::tempdir().unwrap();
    let (videos, out) = (dir.path().join("videos"), dir.path().join("out"));
    std::fs::create_dir(&videos).unwrap();
    let args = format!("testsrc2=s=640x360:r=100,gblur=8 -frames:v {FRAMES} -c:v mpeg4 -q:v 8 -g 50");
    if !make(&videos.join("long.mp4"), &args) {
        return skip("no ffmpeg program");
    }
    let peak = peak_of_pack(&["--all", "--size", "original"], &out, &videos);
    assert_eq!(Dataset::open(&out).unwrap().frame_count(), FRAMES);
    let pictures = FRAMES * 640 * 360 * 3 / 2;
    assert!(peak < pictures / 2, "{} MiB, and the pictures have {} MiB", peak >> 20, pictures >> 20);
}

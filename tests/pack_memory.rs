//! Large pictures are packed within a gigabyte. A file of its own, because memory is that of the processes it starts.
#![cfg(all(unix, feature = "pack", feature = "cli"))]

use std::path::Path;
use std::process::Command;

/// Most memory that a finished child had, in bytes.
fn peak_of_children() -> u64 {
    // SAFETY: all zeros is a valid `rusage`, which the call fills in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage), 0);
        usage
    };
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    usage.ru_maxrss as u64 * unit
}

fn make(path: &Path, codec: &str) -> bool {
    let args = format!("-v error -nostdin -f lavfi -i testsrc2=s=3840x2160:r=10 -frames:v 6 {codec} -threads 1");
    Command::new("ffmpeg").args(args.split_whitespace()).arg(path).status().is_ok_and(|s| s.success())
}

#[test]
fn two_4k_videos_at_a_time_take_less_than_a_gigabyte() {
    let dir = tempfile::tempdir().unwrap();
    let videos = dir.path().join("videos");
    std::fs::create_dir(&videos).unwrap();
    if !make(&videos.join("a.mp4"), "-c:v mpeg4 -q:v 8") {
        eprintln!("skipped: no ffmpeg on the PATH");
        return;
    }
    // Every frame refers to the ones before; without x264, the first file twice.
    if !make(&videos.join("b.mp4"), "-pix_fmt yuv420p -c:v libx264 -preset ultrafast -refs 4") {
        std::fs::copy(videos.join("a.mp4"), videos.join("b.mp4")).unwrap();
    }
    let run = Command::new(env!("CARGO_BIN_EXE_vidrec"))
        .args(["pack", "--threads", "2", "--output"])
        .args([&dir.path().join("out"), &videos])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let peak = peak_of_children();
    assert!(peak < 1 << 30, "{} MiB", peak >> 20);
}

//! Segments of one video: the same clips as when each is packed alone, and little more decoded than once.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use vidrec::Dataset;

use crate::common::ffmpeg_videos;
use crate::common::skip::has_ffmpeg;

/// Three pieces, joined without encoding them again: 12 s of 25 frames a second.
fn joined(folder: &Path) {
    for i in 0..3 {
        let sound = format!("-f lavfi -i sine=frequency={}:duration=4", 300 + 200 * i);
        let video = format!("-f lavfi -i testsrc2=s=160x96:r=25:d=4,hue=h={} {sound} -c:v libx264 -g 20", 90 * i);
        make(folder, &format!("{video} -pix_fmt yuv420p -c:a aac"), &format!("{i}.mp4"));
    }
    join(folder, &["0.mp4", "1.mp4", "2.mp4"]);
}

/// Makes a video in a folder, as `ffmpeg ARGS NAME` does there.
pub fn make(folder: &Path, args: &str, name: &str) {
    let args: Vec<&str> = args.split_whitespace().collect();
    ffmpeg_videos::make_in(folder, &args, name).unwrap();
}

fn join(folder: &Path, names: &[&str]) {
    let list: String = names.iter().map(|name| format!("file {name}\n")).collect();
    fs::write(folder.join("list.txt"), list).unwrap();
    make(folder, "-f concat -safe 0 -i list.txt -c copy", "joined.mp4");
}

fn manifest(folder: &Path, name: &str, file: &str, seconds: &[u32]) {
    let rows: String = seconds.iter().map(|s| format!("{file},{s},{}\n", s + 1)).collect();
    fs::write(folder.join(name), format!("path,start,end\n{rows}")).unwrap();
}

fn pack(folder: &Path, manifest: &str, more: &[&str]) -> (Dataset, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    command.current_dir(folder).args(["pack", manifest, "-o", "set", "--if-exists", "replace", "--json"]);
    let run = command.args(more).output().unwrap();
    // Sound that was joined has an overlap, which gives 3.
    assert!(matches!(run.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&run.stderr));
    (Dataset::open(folder.join("set")).unwrap(), serde_json::from_slice(&run.stdout).unwrap())
}

/// All that a clip holds: JPEGs with their times, attributes, and sound.
type Content = (Vec<(Vec<u8>, i64)>, Value, Vec<i16>);

fn content(set: &Dataset, i: u64) -> Content {
    let clip = set.clip(i).unwrap();
    let frames = clip.frames().map(|frame| frame.unwrap()).map(|frame| (frame.jpeg().to_vec(), frame.pts())).collect();
    let sound = clip.track("audio").unwrap().unwrap().numbers::<i16>().unwrap().to_vec();
    (frames, serde_json::to_value(clip.attributes().unwrap()).unwrap(), sound)
}

#[test]
fn segments_are_the_same_together_and_alone_and_cost_about_one_decode() {
    if !has_ffmpeg() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    joined(folder);
    let flags = ["--all", "--audio", "16000"];
    let alone = [0, 3, 5, 11].map(|second| {
        manifest(folder, "one.csv", "joined.mp4", &[second]);
        (second, content(&pack(folder, "one.csv", &flags).0, 0))
    });
    let mut decoded = 0;
    for (name, order, threads) in [
        ("on several threads", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "3"),
        ("back and forth", [7, 0, 8, 3, 11, 2, 5, 1, 10, 4, 9, 6], "1"),
    ] {
        manifest(folder, "all.csv", "joined.mp4", &order);
        let (set, report) = pack(folder, "all.csv", &[&flags[..], &["--threads", threads]].concat());
        let clips: Vec<_> = (0..12).map(|i| content(&set, i)).collect();
        for (second, alone) in &alone {
            let i = order.iter().position(|other| other == second).unwrap();
            assert!(clips[i] == *alone, "{name}: second {second}");
        }
        assert_eq!(report["decoded_whole"], 0, "{name}");
        let count = |content: &(_, Value, _), key: &str| content.1["video"][key].as_u64().unwrap();
        decoded = clips.iter().map(|clip| count(clip, "frames") - count(clip, "undecoded_frames")).sum::<u64>();
    }
    // Each begins with the key frame before it, and each decodes the first frame of the file.
    assert!(decoded < 300 + 12 * (20 + 1), "{decoded} of 300 frames");
}

#[test]
fn videos_that_have_to_be_decoded_whole_are_named_once() {
    if !has_ffmpeg() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    make(temp.path(), "-f lavfi -i testsrc2=s=64x48:r=25:d=4 -c:v mpeg4 -bf 2 -g 20", "old.avi");
    manifest(temp.path(), "all.csv", "old.avi", &[0, 1, 2]);
    let (_, report) = pack(temp.path(), "all.csv", &[]);
    let whole: Vec<&str> = report["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    let whole: Vec<_> = whole.into_iter().filter(|note| note.contains("decode of the whole video")).collect();
    assert_eq!((report["decoded_whole"].as_u64(), whole.len()), (Some(3), 1), "{report}");
    assert!(whole[0].contains("mpeg4 in avi"), "{whole:?}");
}

/// Where the parameters of the stream change, FFmpeg's decoder keeps some of the former ones, such as colors, so decoding
/// cannot begin there.
#[test]
fn joined_files_of_mixed_colors_are_named() {
    if !has_ffmpeg() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let colors = "-colorspace bt709 -color_primaries bt709 -color_trc bt709";
    for (name, seconds, more) in [("plain.mp4", 1, ""), ("told.mp4", 1, colors), ("long.mp4", 4, "")] {
        let video = format!("-f lavfi -i testsrc2=s=64x48:r=25:d={seconds} -c:v libx264 -g 5 {more}");
        make(temp.path(), &video, name);
    }
    join(temp.path(), &["plain.mp4", "told.mp4", "long.mp4"]);
    manifest(temp.path(), "all.csv", "joined.mp4", &[0, 4]);
    let (_, report) = pack(temp.path(), "all.csv", &[]);
    assert_eq!(report["decoded_whole"], 2, "{report}");
    assert!(report["notes"].to_string().contains("key frames do not decode by themselves"), "{report}");
}

#[test]
fn a_plan_counts_a_video_once() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("a.mp4"), [0; 1000]).unwrap();
    manifest(temp.path(), "all.csv", "a.mp4", &[0, 1, 2, 3]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    let run =
        command.current_dir(temp.path()).args(["plan", "all.csv", "-o", "plan", "--shards", "2", "--json"]).output();
    let told: Value = serde_json::from_slice(&run.unwrap().stdout).unwrap();
    let counts = ["videos", "files", "bytes", "parts"].map(|key| told[key].as_u64());
    assert_eq!(counts, [Some(4), Some(1), Some(1000), Some(2)], "{told}");
}

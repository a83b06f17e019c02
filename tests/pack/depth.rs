//! Pictures of 16 bits a channel: refused, because 8 of the bits would be lost, unless that is meant.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use image::{ImageBuffer, Luma};
use serde_json::Value;

use crate::common::ffmpeg_videos;
use crate::common::skip::skip;

fn pack(dir: &Path, more: &[&str]) -> Output {
    let mut vidrec = Command::new(env!("CARGO_BIN_EXE_vidrec"));
    vidrec
        .current_dir(dir)
        .args(["pack", "in", "-n", "1", "-o", "set", "--json", "--if-exists", "replace"])
        .args(more)
        .output()
        .unwrap()
}

/// The sources of the videos that failed, with stage and message.
fn failures(run: &Output) -> Vec<[String; 3]> {
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let text = |failure: &Value, key: &str| failure[key].as_str().unwrap().to_owned();
    let of = |failure: &Value| ["source", "stage", "error"].map(|key| text(failure, key));
    report["failures"].as_array().unwrap().iter().map(of).collect()
}

fn settings(dir: &Path) -> Value {
    let listing: Value = serde_json::from_slice(&fs::read(dir.join("set/dataset.json")).unwrap()).unwrap();
    listing["settings"].clone()
}

#[test]
fn depth_maps_are_refused_unless_the_loss_is_meant() {
    let temp = tempfile::tempdir().unwrap();
    let (deep, plain) = (temp.path().join("in/a/deep"), temp.path().join("in/a/plain"));
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir_all(&plain).unwrap();
    ImageBuffer::from_pixel(32, 32, Luma([1000u16])).save(deep.join("1.png")).unwrap();
    ImageBuffer::from_pixel(32, 32, Luma([100u8])).save(plain.join("1.png")).unwrap();

    let run = pack(temp.path(), &[]);
    assert_eq!(run.status.code(), Some(3), "{}", String::from_utf8_lossy(&run.stderr));
    let failed = failures(&run);
    assert_eq!((failed.len(), failed[0][0].as_str(), failed[0][1].as_str()), (1, "a/deep", "limit"));
    let why = &failed[0][2];
    assert!(["1.png", "at most 12", "found 16", "gray16", "reduce the depth"].iter().all(|w| why.contains(w)), "{why}");
    assert!(settings(temp.path()).get("reduce_depth").is_none());

    let run = pack(temp.path(), &["--reduce-depth"]);
    assert_eq!((run.status.code(), failures(&run).len()), (Some(0), 0));
    assert_eq!(settings(temp.path())["reduce_depth"], true);
}

#[test]
fn video_of_up_to_12_bits_is_packed_and_of_16_is_not() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir_all(temp.path().join("in")).unwrap();
    for format in ["gray16le", "gbrp16le", "yuv444p16le", "yuv420p10le", "yuv420p12le", "gray12le"] {
        let how = format!("-f lavfi -i testsrc2=s=64x48:r=10:d=0.5 -c:v ffv1 -pix_fmt {format}");
        if ffmpeg_videos::try_make(&how, temp.path().join(format!("in/{format}.mkv"))).is_err() {
            return skip("no ffmpeg program with FFV1");
        }
    }
    let failed: Vec<String> = failures(&pack(temp.path(), &[])).into_iter().map(|[source, ..]| source).collect();
    assert_eq!(failed, ["gbrp16le.mkv", "gray16le.mkv", "yuv444p16le.mkv"]);
    for way in ["--decode-all", "--no-isolate"] {
        assert_eq!(failures(&pack(temp.path(), &[way])).len(), 3, "{way}");
        assert_eq!(failures(&pack(temp.path(), &[way, "--reduce-depth"])).len(), 0, "{way}");
    }
}

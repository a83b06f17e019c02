//! Pictures of 16 bits a channel: refused, because 8 of the bits would be lost, unless that is meant.

use std::fs;
use std::process::Output;

use image::{ImageBuffer, Luma};
use serde_json::Value;

use crate::common::ffmpeg_videos;
use crate::common::skip::skip;
use crate::pack::support::Room;

fn pack(room: &Room, more: &[&str]) -> Output {
    room.pack("in", &[&["-n", "1", "--json"], more].concat())
}

/// The sources of the videos that failed, with stage and message.
fn failures(run: &Output) -> Vec<[String; 3]> {
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let text = |failure: &Value, key: &str| failure[key].as_str().unwrap().to_owned();
    let of = |failure: &Value| ["source", "stage", "error"].map(|key| text(failure, key));
    report["failures"].as_array().unwrap().iter().map(of).collect()
}

fn settings(room: &Room) -> Value {
    let listing: Value = serde_json::from_slice(&fs::read(room.path("set/dataset.json")).unwrap()).unwrap();
    listing["settings"].clone()
}

#[test]
fn depth_maps_are_refused_unless_the_loss_is_meant() {
    let room = Room::new();
    ImageBuffer::from_pixel(32, 32, Luma([1000u16])).save(room.path("in/a/deep/1.png")).unwrap();
    ImageBuffer::from_pixel(32, 32, Luma([100u8])).save(room.path("in/a/plain/1.png")).unwrap();

    let run = pack(&room, &[]);
    assert_eq!(run.status.code(), Some(3), "{}", String::from_utf8_lossy(&run.stderr));
    let failed = failures(&run);
    assert_eq!((failed.len(), failed[0][0].as_str(), failed[0][1].as_str()), (1, "a/deep", "limit"));
    let why = &failed[0][2];
    assert!(["1.png", "at most 12", "found 16", "gray16", "reduce the depth"].iter().all(|w| why.contains(w)), "{why}");
    assert!(settings(&room).get("reduce_depth").is_none());

    let run = pack(&room, &["--reduce-depth"]);
    assert_eq!((run.status.code(), failures(&run).len()), (Some(0), 0));
    assert_eq!(settings(&room)["reduce_depth"], true);
}

#[test]
fn video_of_up_to_12_bits_is_packed_and_of_16_is_not() {
    let room = Room::new();
    for format in ["gray16le", "gbrp16le", "yuv444p16le", "yuv420p10le", "yuv420p12le", "gray12le"] {
        let how = format!("-f lavfi -i testsrc2=s=64x48:r=10:d=0.5 -c:v ffv1 -pix_fmt {format}");
        if ffmpeg_videos::try_make(&how, room.path(&format!("in/{format}.mkv"))).is_err() {
            return skip("no ffmpeg program with FFV1");
        }
    }
    let failed: Vec<String> = failures(&pack(&room, &[])).into_iter().map(|[source, ..]| source).collect();
    assert_eq!(failed, ["gbrp16le.mkv", "gray16le.mkv", "yuv444p16le.mkv"]);
    for way in ["--decode-all", "--no-isolate"] {
        assert_eq!(failures(&pack(&room, &[way])).len(), 3, "{way}");
        assert_eq!(failures(&pack(&room, &[way, "--reduce-depth"])).len(), 0, "{way}");
    }
}

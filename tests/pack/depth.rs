//! Pictures of 16 bits a channel: refused, because 8 of the bits would be lost, unless that is meant.

use image::{ImageBuffer, Luma};
use serde_json::Value;

use crate::common::ffmpeg_videos;
use crate::common::skip::skip;
use crate::pack::support::Room;

/// The sources of the videos that failed, with stage and message.
fn failures(room: &Room, status: i32, more: &[&str]) -> Vec<[String; 3]> {
    let report = room.report(status, "in", &[&["-n", "1"], more].concat());
    let of = |failure: &Value| ["source", "stage", "error"].map(|key| failure[key].as_str().unwrap().to_owned());
    report["failures"].as_array().unwrap().iter().map(of).collect()
}

fn reduces_depth(room: &Room) -> bool {
    room.set().meta().settings.get("reduce_depth").unwrap().unwrap_or(false)
}

#[test]
fn depth_maps_are_refused_unless_the_loss_is_meant() {
    let room = Room::new();
    ImageBuffer::from_pixel(32, 32, Luma([1000u16])).save(room.path("in/a/deep/1.png")).unwrap();
    ImageBuffer::from_pixel(32, 32, Luma([100u8])).save(room.path("in/a/plain/1.png")).unwrap();

    let failed = failures(&room, 3, &[]);
    assert_eq!((failed.len(), failed[0][0].as_str(), failed[0][1].as_str()), (1, "a/deep", "limit"));
    let why = &failed[0][2];
    assert!(["1.png", "at most 12", "found 16", "gray16", "reduce the depth"].iter().all(|w| why.contains(w)), "{why}");
    assert!(!reduces_depth(&room));

    assert_eq!(failures(&room, 0, &["--reduce-depth"]).len(), 0);
    assert!(reduces_depth(&room));
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
    let failed: Vec<String> = failures(&room, 3, &[]).into_iter().map(|[source, ..]| source).collect();
    assert_eq!(failed, ["gbrp16le.mkv", "gray16le.mkv", "yuv444p16le.mkv"]);
    for way in ["--decode-all", "--no-isolate"] {
        assert_eq!(failures(&room, 3, &[way]).len(), 3, "{way}");
        assert_eq!(failures(&room, 0, &[way, "--reduce-depth"]).len(), 0, "{way}");
    }
}

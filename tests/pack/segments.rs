//! Segments of one video: the same clips as when each is packed alone, and little more decoded than once.

use serde_json::Value;
use vidrec::Dataset;

use crate::pack::support::Room;

/// Three pieces, joined without encoding them again: 12 s of 25 frames a second.
fn joined(room: &Room) {
    for i in 0..3 {
        let sound = format!("-f lavfi -i sine=frequency={}:duration=4", 300 + 200 * i);
        let video = format!("-f lavfi -i testsrc2=s=160x96:r=25:d=4,hue=h={} {sound} -c:v libx264 -g 20", 90 * i);
        room.make(&format!("{i}.mp4"), &format!("{video} -pix_fmt yuv420p -c:a aac"));
    }
    join(room, &["0.mp4", "1.mp4", "2.mp4"]);
}

fn join(room: &Room, names: &[&str]) {
    room.write("list.txt", names.iter().map(|name| format!("file {name}\n")).collect::<String>());
    room.make("joined.mp4", "-f concat -safe 0 -i list.txt -c copy");
}

fn manifest(room: &Room, file: &str, seconds: &[u32]) {
    let rows: String = seconds.iter().map(|s| format!("{file},{s},{}\n", s + 1)).collect();
    room.write("all.csv", format!("path,start,end\n{rows}"));
}

/// All that a clip holds: JPEGs with their times, attributes, and sound.
type Content = (Vec<(Vec<u8>, i64)>, Value, Vec<i16>);

fn content(set: &Dataset, i: u64) -> Content {
    let clip = set.clip(i).unwrap();
    let frames = clip.frames().map(|frame| frame.unwrap()).map(|frame| (frame.jpeg().to_vec(), frame.pts())).collect();
    let sound = clip.track("audio").unwrap().unwrap().numbers::<i16>().unwrap().to_vec();
    (frames, serde_json::to_value(clip.attributes().unwrap()).unwrap(), sound)
}

/// Packs the manifest. Sound that was joined has an overlap, which gives 3.
fn pack(room: &Room, more: &[&str]) -> Value {
    let status = if more.contains(&"--audio") { 3 } else { 0 };
    room.report(status, "all.csv", more)
}

#[test]
fn segments_are_the_same_together_and_alone_and_cost_about_one_decode() {
    let room = Room::new();
    joined(&room);
    let flags = ["--all", "--audio", "16000"];
    let alone = [0, 3, 5, 11].map(|second| {
        manifest(&room, "joined.mp4", &[second]);
        pack(&room, &flags);
        (second, content(&room.set(), 0))
    });
    let mut decoded = 0;
    for (name, order, threads) in [
        ("on several threads", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "3"),
        ("back and forth", [7, 0, 8, 3, 11, 2, 5, 1, 10, 4, 9, 6], "1"),
    ] {
        manifest(&room, "joined.mp4", &order);
        let report = pack(&room, &[&flags[..], &["--threads", threads]].concat());
        let clips: Vec<_> = (0..12).map(|i| content(&room.set(), i)).collect();
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
    let room = Room::new();
    room.make("old.avi", "-f lavfi -i testsrc2=s=64x48:r=25:d=4 -c:v mpeg4 -bf 2 -g 20");
    manifest(&room, "old.avi", &[0, 1, 2]);
    let report = pack(&room, &[]);
    let whole: Vec<&str> = report["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    let whole: Vec<_> = whole.into_iter().filter(|note| note.contains("decode of the whole video")).collect();
    assert_eq!((report["decoded_whole"].as_u64(), whole.len()), (Some(3), 1), "{report}");
    assert!(whole[0].contains("mpeg4 in avi"), "{whole:?}");
}

/// Where the parameters of the stream change, FFmpeg's decoder keeps some of the former ones, such as colors, so decoding
/// cannot begin there.
#[test]
fn joined_files_of_mixed_colors_are_named() {
    let room = Room::new();
    let colors = "-colorspace bt709 -color_primaries bt709 -color_trc bt709";
    for (name, seconds, more) in [("plain.mp4", 1, ""), ("told.mp4", 1, colors), ("long.mp4", 4, "")] {
        room.make(name, &format!("-f lavfi -i testsrc2=s=64x48:r=25:d={seconds} -c:v libx264 -g 5 {more}"));
    }
    join(&room, &["plain.mp4", "told.mp4", "long.mp4"]);
    manifest(&room, "joined.mp4", &[0, 4]);
    let report = pack(&room, &[]);
    assert_eq!(report["decoded_whole"], 2, "{report}");
    assert!(report["notes"].to_string().contains("key frames do not decode by themselves"), "{report}");
}

#[test]
fn a_plan_counts_a_video_once() {
    let room = Room::new();
    room.write("a.mp4", [0; 1000]);
    manifest(&room, "a.mp4", &[0, 1, 2, 3]);
    let run = room.vidrec(&["plan", "all.csv", "-o", "plan", "--shards", "2", "--json"]);
    let told: Value = serde_json::from_slice(&run.stdout).unwrap();
    let counts = ["videos", "files", "bytes", "parts"].map(|key| told[key].as_u64());
    assert_eq!(counts, [Some(4), Some(1), Some(1000), Some(2)], "{told}");
}

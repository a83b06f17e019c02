//! Depth as tracks of a manifest: in videos, and in PNG files.

use std::fs;
use std::path::Path;

use image::{ImageBuffer, ImageFormat, Luma};
use serde_json::{Value, json};
use vidrec::{Dataset, TrackCoding, TrackType};

use crate::common::ffmpeg_videos;
use crate::common::program_runs::stderr;
use crate::pack::support::indexes;
use crate::pack::tracks::Videos;

const WIDTH: usize = 64;
const HEIGHT: usize = 48;
const FRAMES: usize = 10;

/// The numbers of all frames, of so many bits: edges, a slope and all of the range.
fn depth(bits: u32) -> Vec<u16> {
    let most = ((1u32 << bits) - 1) as usize;
    let number = |i: usize| {
        let (t, y, x) = (i / (WIDTH * HEIGHT), i / WIDTH % HEIGHT, i % WIDTH);
        if x < 3 { most * (y % 2) } else { (577 * t + 61 * y + 17 * x + 900 * (x / 9)) % (most + 1) }
    };
    (0..FRAMES * WIDTH * HEIGHT).map(|i| number(i) as u16).collect()
}

fn bytes(numbers: &[u16], bits: u32) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes().into_iter().take(bits.div_ceil(8) as usize)).collect()
}

/// Makes a video without loss, and returns the numbers that FFmpeg reads from it.
fn make(videos: &Videos, name: &str, pixels: &str, bits: u32, codec: &str) -> Result<Vec<u16>, String> {
    let folder = videos.path("in");
    fs::write(folder.join("raw"), bytes(&depth(bits), bits)).unwrap();
    let gray = if bits == 8 { "gray".to_owned() } else { format!("gray{bits}le") };
    let raw = ["-f", "rawvideo", "-pix_fmt", &gray, "-video_size", "64x48", "-framerate", "10", "-i", "raw"];
    let to: Vec<&str> = ["-pix_fmt", pixels].into_iter().chain(codec.split(' ')).collect();
    ffmpeg_videos::make_in(&folder, &[&raw[..], &to].concat(), name)?;
    // Gray comes in the byte order of this machine, and luma as it is.
    let plane = if pixels.starts_with("gray") { ["-pix_fmt", &gray] } else { ["-vf", "extractplanes=y"] };
    let args = [&["-i", name][..], &plane, &["-f", "rawvideo"]].concat();
    ffmpeg_videos::make_in(&folder, &args, format!("{name}.raw"))?;
    let read = fs::read(folder.join(format!("{name}.raw"))).unwrap();
    let numbers: Vec<u16> = match bits {
        8 => read.into_iter().map(u16::from).collect(),
        _ => read.as_chunks().0.iter().map(|&n| u16::from_le_bytes(n)).collect(),
    };
    assert_eq!(numbers.len(), FRAMES * WIDTH * HEIGHT);
    Ok(numbers)
}

/// The chosen frames have these numbers.
#[track_caller]
fn check(set: &Dataset, clip: u64, name: &str, expected: &[u16], what: &str) {
    let clip = set.clip(clip).unwrap();
    let track = clip.track(name).unwrap().unwrap();
    assert_eq!((track.coding(), &track.schema().shape[..]), (TrackCoding::Png, &[48, 64][..]), "{what}");
    let frame = |i: usize| &expected[i * WIDTH * HEIGHT..(i + 1) * WIDTH * HEIGHT];
    let is_chosen = track.schema().timing == vidrec::TrackTiming::Frames;
    let frames = if is_chosen { indexes(&clip) } else { (0..FRAMES as u32).collect() };
    let expected: Vec<u16> = frames.into_iter().flat_map(|i| frame(i as usize)).copied().collect();
    match track.schema().kind {
        TrackType::U8 => assert!(track.numbers::<u8>().unwrap().iter().map(|&n| u16::from(n)).eq(expected), "{what}"),
        _ => assert!(*track.numbers::<u16>().unwrap() == *expected, "{what}"),
    }
}

/// The list of failures.
fn failures(videos: &Videos) -> String {
    let files = crate::common::tree(&videos.path("set"));
    let list = files.into_iter().find(|(name, _)| name.ends_with(".jsonl"));
    String::from_utf8(list.unwrap().1).unwrap()
}

#[test]
fn numbers_of_videos_are_those_that_ffmpeg_reads() {
    let videos = Videos::make(6);
    let lossless = "-c:v libx265 -x265-params lossless=1:log-level=none -g 2";
    let kinds = [
        ("a.mkv", "gray16le", 16, "-c:v ffv1"),
        ("b.mkv", "gray12le", 12, "-c:v ffv1"),
        ("c.nut", "gray16be", 16, "-c:v rawvideo"),
        ("d.mp4", "gray12le", 12, lossless),
        ("e.mp4", "yuv420p12le", 12, lossless),
        ("f.mkv", "gray10le", 10, "-c:v ffv1"),
    ];
    let mut made = Vec::new();
    for (name, pixels, bits, codec) in kinds {
        match make(&videos, name, pixels, bits, codec) {
            Ok(numbers) => made.push((name, numbers, depth(bits))),
            Err(why) if codec == lossless => eprintln!("without {name}, because {why}"),
            Err(why) => panic!("{why}"),
        }
    }
    videos.list(made.iter().enumerate().map(|(i, (name, ..))| json!({"path": format!("{i}.mp4"), "depth": name})));
    let tracks = ["--track", "depth=depth,frames,size=64x48", "--track", "all=depth,every-frame,size=64x48"];
    for more in [&["--threads", "2"][..], &["--no-isolate"]] {
        let set = videos.whole("set", &[&tracks[..], more, &["--if-exists", "replace"]].concat());
        assert_eq!(set.len(), made.len() as u64);
        for (i, (name, read, stored)) in made.iter().enumerate() {
            // Through YUV, FFmpeg itself may change the range of gray.
            assert!(*name == "e.mp4" || read == stored, "{name}");
            check(&set, i as u64, "depth", read, name);
            check(&set, i as u64, "all", read, name);
        }
    }
}

#[test]
fn videos_that_are_no_depth_of_their_clip_fail_it() {
    let videos = Videos::make(4);
    make(&videos, "a.mkv", "gray12le", 12, "-c:v ffv1").unwrap();
    let folder = videos.path("in");
    for (args, name) in
        [(["-frames:v", "7", "-c", "copy"], "short.mkv"), (["-vf", "crop=32:48", "-c:v", "ffv1"], "small.mkv")]
    {
        ffmpeg_videos::make_in(&folder, &[&["-i", "a.mkv"][..], &args].concat(), name).unwrap();
    }
    let mut damaged = fs::read(folder.join("a.mkv")).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].iter_mut().for_each(|byte| *byte ^= 0x5a);
    fs::write(folder.join("damaged.mkv"), damaged).unwrap();
    let names = ["0.mp4", "short.mkv", "small.mkv", "damaged.mkv"];
    let list = names.into_iter().chain(["a.mkv"]).enumerate();
    videos.list(list.map(|(i, name)| json!({"path": format!("{}.mp4", i % 4), "depth": name})));
    let run = videos.pack("set", &["--track", "depth=depth,frames,size=64x48"]);
    assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
    assert_eq!(Dataset::open(videos.path("set")).unwrap().len(), 1);
    let failures = failures(&videos);
    let stages: Vec<Value> =
        failures.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["stage"].clone()).collect();
    assert_eq!(stages, ["track"; 4].map(Value::from), "{failures}");
    for word in ["found yuv420p", "expected 10 values, found 7", "expected [48, 64], found [48, 32]", "damaged.mkv"] {
        assert!(failures.contains(word), "{word}: {failures}");
    }
    let run = videos.pack("other", &["--track", "depth=depth,frames"]);
    assert!(stderr(&run).contains("add size=WIDTHxHEIGHT"), "{run:?}");
}

/// Writes the frames as PNG files.
fn write_pngs(folder: &Path, numbers: &[u16]) {
    fs::create_dir_all(folder).unwrap();
    for (i, frame) in numbers.chunks(WIDTH * HEIGHT).enumerate() {
        let picture = ImageBuffer::<Luma<u16>, _>::from_raw(WIDTH as u32, HEIGHT as u32, frame.to_vec()).unwrap();
        picture.save_with_format(folder.join(format!("d{}.png", i + 1)), ImageFormat::Png).unwrap();
    }
}

#[test]
fn folders_and_lists_of_png_files_are_tracks() {
    let videos = Videos::make(2);
    let numbers = depth(16);
    write_pngs(&videos.path("in/depth"), &numbers);
    fs::write(videos.path("in/depth/color.jpg"), "not depth").unwrap();
    let list: Vec<String> = (1..=FRAMES).map(|i| format!("depth/d{i}.png")).collect();
    videos.list([json!({"path": "0.mp4", "depth": "depth"}), json!({"path": "1.mp4", "depth": list})]);
    let tracks = ["--track", "depth=depth,frames,type=u16", "--track", "all=depth,every-frame,type=u16"];
    for more in [&["--threads", "2"][..], &["--no-isolate"]] {
        let set = videos.whole("set", &[&tracks[..], more, &["--if-exists", "replace"]].concat());
        (0..2).for_each(|clip| check(&set, clip, "depth", &numbers, "frames"));
        (0..2).for_each(|clip| check(&set, clip, "all", &numbers, "every frame"));
    }
    let table = format!("path,depth\n0.mp4,depth\n1.mp4,\"{}\"\n", json!(list).to_string().replace('"', "\"\""));
    fs::write(videos.path("in/list.csv"), table).unwrap();
    let run = videos.vidrec(&["pack", "in/list.csv", "-o", "table", "-n", "4", "--track", tracks[1]]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    (0..2).for_each(|clip| check(&Dataset::open(videos.path("table")).unwrap(), clip, "depth", &numbers, "table"));
}

#[test]
fn pictures_that_are_missing_or_lead_out_fail_their_clip() {
    let videos = Videos::make(4);
    write_pngs(&videos.path("in/depth"), &depth(16));
    write_pngs(&videos.path("out"), &depth(12));
    fs::create_dir(videos.path("in/empty")).unwrap();
    let list = |first: &str| -> Vec<String> {
        [first.to_owned()].into_iter().chain((2..=FRAMES).map(|i| format!("depth/d{i}.png"))).collect()
    };
    let rows = [json!("depth"), json!("empty"), json!(list("depth/none.png"))];
    let row = |i: usize, depth: &Value| json!({"file_name": format!("{i}.mp4"), "depth": depth});
    // A manifest that was found in the input may not lead out of it.
    let list_in = |rows: &[Value]| {
        videos.list(rows.iter().enumerate().map(|(i, depth)| row(i, depth)));
        fs::rename(videos.path("in/list.jsonl"), videos.path("in/metadata.jsonl")).unwrap();
    };
    list_in(&rows);
    let track = "depth=depth,frames,type=u16";
    let run = videos.vidrec(&["pack", "in", "-o", "set", "-n", "10", "--track", track]);
    assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
    let failures = failures(&videos);
    for word in ["the folder has no PNG file", "none.png"] {
        assert!(failures.contains(word), "{word}: {failures}");
    }
    assert_eq!(Dataset::open(videos.path("set")).unwrap().len(), 1);
    let refused = |what: &str| {
        let run = videos.vidrec(&["pack", "in", "-o", "other", "-n", "10", "--track", track]);
        let said = stderr(&run);
        assert!(run.status.code() == Some(1) && said.contains("leads out") && said.contains(what), "{said}");
    };
    list_in(&[json!(list("../out/d1.png"))]);
    refused("out/d1.png");
    #[cfg(unix)]
    {
        fs::remove_file(videos.path("in/depth/d3.png")).unwrap();
        std::os::unix::fs::symlink("../../out/d3.png", videos.path("in/depth/d3.png")).unwrap();
        list_in(&[json!("depth")]);
        refused("in/depth");
    }
}

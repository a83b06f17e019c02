//! Decoding only what the wanted frames need gives the same pictures as decoding everything.

use std::path::Path;

use vidrec::Result;
use vidrec::video::{FrameSize, SampledVideo, Timeline, VideoError, VideoOptions, sample};

use crate::video::manifest::collection;
use crate::video::support::clips;

/// From the number of frames to the ordinals that are wanted.
type Choice = fn(u32) -> Vec<u32>;

/// Choices of frames that need different parts of a stream.
const CHOICES: [(&str, Choice); 6] = [
    ("8 spread", |n| (0..8).map(|i| (2 * i + 1) * n / 16).collect()),
    ("first", |_| vec![0]),
    ("last", |n| vec![n - 1]),
    ("neighbors", |n| (n / 2..n.min(n / 2 + 4)).collect()),
    ("odd", |n| (0..n).filter(|i| i % 2 == 1).take(1000).collect()),
    ("two thirds", |n| vec![2 * n / 3]),
];

/// The first frame, for which the rest need not be decoded, and one of the choices in turn.
fn some(turn: usize) -> [(&'static str, Choice); 2] {
    [CHOICES[1], CHOICES[turn % CHOICES.len()]]
}

fn decode(path: &Path, decode_all: bool, choice: Choice) -> Result<SampledVideo, VideoError> {
    let options = VideoOptions { size: FrameSize::ShortSide(48), decode_all, ..VideoOptions::default() };
    sample(path, &options, &|t: &Timeline| Ok(choice(t.frame_count())))
}

/// What differs, if anything; and the frames that were not decoded.
fn difference(path: &Path, choice: Choice) -> (Option<String>, u32) {
    match (decode(path, true, choice), decode(path, false, choice)) {
        (Ok(all), Ok(needed)) => {
            assert_eq!(all.facts.undecoded_frames, 0);
            let undecoded = needed.facts.undecoded_frames;
            let what = if all.frame_count != needed.frame_count {
                Some(format!("{} frames instead of {}", needed.frame_count, all.frame_count))
            } else if all.frames != needed.frames || all.time_base != needed.time_base {
                Some("other pictures".into())
            } else if undecoded == 0 && all.facts != needed.facts {
                Some("other facts".into())
            } else {
                None
            };
            (what, undecoded)
        }
        (Err(all), Err(needed)) => ((all.stage != needed.stage).then(|| "another failure".into()), 0),
        (all, needed) => (Some(format!("{:?} instead of {:?}", needed.map(|_| ()), all.map(|_| ()))), 0),
    }
}

/// Clips of many codecs and structures, and whether less than everything is decoded of them.
const MADE: [(&str, &str, bool); 30] = [
    ("plain.mp4", "-c:v libx264 -g 250", true),
    ("pyramid.mp4", "-c:v libx264 -bf 7 -b-pyramid normal -g 30", true),
    ("strict.mkv", "-c:v libx264 -bf 3 -b-pyramid strict -g 12", true),
    ("baseline.mp4", "-c:v libx264 -profile:v baseline -g 10", true),
    ("open.mp4", "-c:v libx264 -bf 3 -g 10 -x264-params open-gop=1", true),
    ("refresh.mp4", "-c:v libx264 -g 20 -x264-params intra-refresh=1", true),
    ("sliced.mp4", "-c:v libx264 -g 20 -slices 4", true),
    ("repeated.mp4", "-c:v libx264 -g 10 -x264-params repeat-headers=1", true),
    ("tff.mp4", "-c:v libx264 -flags +ildct+ilme -g 10 -x264-params tff=1", true),
    ("high444.mp4", "-pix_fmt yuv444p -c:v libx264 -g 10", true),
    ("lossless.mkv", "-c:v libx264 -qp 0 -g 10", true),
    ("live.flv", "-c:v libx264 -g 10", true),
    ("annexb.ts", "-c:v libx264 -g 10", false),
    ("hevc.mp4", "-c:v libx265 -x265-params log-level=none:keyint=10:open-gop=0", true),
    ("hevc-open.mkv", "-c:v libx265 -x265-params log-level=none:keyint=10:bframes=4:b-pyramid=1", true),
    ("hevc-layers.mp4", "-c:v libx265 -x265-params log-level=none:temporal-layers=1:bframes=3", true),
    ("vp8.webm", "-c:v libvpx -g 10 -auto-alt-ref 1 -lag-in-frames 16 -deadline realtime", true),
    ("vp9.webm", "-c:v libvpx-vp9 -g 10 -lag-in-frames 16 -auto-alt-ref 1 -deadline good -cpu-used 5", true),
    ("aom.mp4", "-c:v libaom-av1 -g 10 -cpu-used 8 -lag-in-frames 8 -usage good", true),
    ("svt.webm", "-c:v libsvtav1 -g 10 -preset 12", true),
    ("robot.mp4", "-c:v libsvtav1 -g 2 -crf 30 -preset 12", true),
    ("prores.mov", "-c:v prores", true),
    ("dnxhr.mov", "-c:v dnxhd -profile:v dnxhr_lb", true),
    ("asp.mp4", "-c:v mpeg4 -bf 2 -g 10", false),
    ("xvid.avi", "-c:v mpeg4 -bf 2 -g 10", false),
    ("mpeg2.mpg", "-c:v mpeg2video -bf 2 -g 10", false),
    ("theora.ogv", "-c:v libtheora -g 10", false),
    ("mjpeg.mp4", "-c:v mjpeg", true),
    ("mjpeg.mkv", "-c:v mjpeg -huffman default", true),
    ("mjpeg.avi", "-c:v mjpeg", true),
];

#[test]
fn made_clips_of_every_codec() {
    let Some(clips) = clips() else { return };
    clips.make("source.mkv", "-f lavfi -i testsrc2=s=160x96:r=25:d=1.6 -c:v ffv1");
    let mut wrong = Vec::new();
    for (i, (name, args, skips)) in MADE.into_iter().enumerate() {
        let codec = args.split_whitespace().skip_while(|a| *a != "-c:v").nth(1).unwrap();
        if !clips.can_encode(codec) {
            continue;
        }
        let pixels = if args.contains("pix_fmt") { "" } else { pixel_format(codec) };
        let path = clips.make(name, &format!("-i source.mkv {pixels} {args}"));
        let mut undecoded = 0;
        for (choice, choose) in some(i) {
            let (what, left_out) = difference(&path, choose);
            wrong.extend(what.map(|what| format!("{name}, {choice}: {what}")));
            undecoded += left_out;
        }
        if (undecoded > 0) != skips {
            wrong.push(format!("{name}: {undecoded} frames were not decoded"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn pixel_format(codec: &str) -> &'static str {
    match codec {
        "prores" => "-pix_fmt yuv422p10le",
        "dnxhd" => "-pix_fmt yuv422p -s 256x144",
        "mjpeg" => "-pix_fmt yuvj420p",
        _ => "-pix_fmt yuv420p",
    }
}

/// Groups that are cut off and hidden by an edit list, and copies of a stream in the middle.
#[test]
fn edit_lists() {
    let Some(clips) = clips() else { return };
    if !clips.can_encode("libx264") {
        return;
    }
    clips.make("whole.mp4", "-f lavfi -i testsrc2=s=160x96:r=25:d=3 -c:v libx264 -g 20 -bf 3");
    for (name, args) in [("a.mp4", "-ss 0.5 -i whole.mp4 -c copy"), ("b.mp4", "-ss 1.9 -t 0.6 -i whole.mp4 -c copy")] {
        let path = clips.make(name, args);
        for (choice, choose) in CHOICES {
            assert_eq!(difference(&path, choose).0, None, "{name}, {choice}");
        }
    }
}

/// Files that were joined without encoding them again have parameter sets in the middle, which may be others.
#[test]
fn joined_files() {
    let Some(clips) = clips() else { return };
    clips.make("source.mkv", "-f lavfi -i testsrc2=s=160x96:r=25:d=1.6 -c:v ffv1");
    const COLORS: &str = "-c:v libx264 -g 10 -colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv";
    const HEVC: &str = "-c:v libx265 -x265-params log-level=none:keyint=10:open-gop=0";
    let joined = [
        ("same.mp4", ["-c:v libx264 -g 10"; 3]),
        ("colors.mp4", ["-c:v libx264 -g 10", COLORS, "-c:v libx264 -g 10"]),
        ("uncolored.mkv", [COLORS, "-c:v libx264 -g 10", COLORS]),
        ("sizes.mp4", ["-c:v libx264 -g 10", "-c:v libx264 -g 10 -s 128x80", "-c:v libx264 -g 10 -s 192x128"]),
        ("delays.mp4", ["-c:v libx264 -g 10 -bf 0", "-c:v libx264 -g 10 -bf 3", "-c:v libx264 -g 10 -bf 0"]),
        ("hevc.mp4", [HEVC, "-c:v libx265 -x265-params log-level=none:keyint=10:ref=2:open-gop=0", HEVC]),
        (
            "av1.mp4",
            ["-c:v libsvtav1 -g 10 -preset 12", "-c:v libsvtav1 -g 10 -preset 12 -s 128x80", "-c:v libsvtav1 -g 5"],
        ),
    ];
    for (turn, (name, pieces)) in joined.into_iter().enumerate() {
        if !clips.can_encode(pieces[0].split(' ').nth(1).unwrap()) {
            continue;
        }
        let ending = &name[name.len() - 3..];
        let mut list = String::new();
        for (i, args) in pieces.iter().enumerate() {
            clips.make(&format!("{i}.{ending}"), &format!("-i source.mkv -pix_fmt yuv420p {args}"));
            list += &format!("file {i}.{ending}\n");
        }
        clips.write("list.txt", list.as_bytes());
        let path = clips.make(name, "-f concat -safe 0 -i list.txt -c copy");
        for (choice, choose) in some(turn) {
            assert_eq!(difference(&path, choose).0, None, "{name}, {choice}");
        }
    }
}

/// Damage in what is decoded is found, and the video then is what it is when decoded whole.
#[test]
fn damage_on_the_way_leads_to_a_whole_decode() {
    let Some(clips) = clips() else { return };
    if !clips.can_encode("libx264") {
        return;
    }
    let path = clips.make("d.mp4", "-f lavfi -i testsrc2=s=160x96:r=25:d=2 -c:v libx264 -g 60 -movflags faststart");
    let bytes = std::fs::read(&path).unwrap();
    let mut whole_decodes = 0;
    for at in (0..16).map(|i| bytes.len() - 100 - i * bytes.len() / 24) {
        let mut broken = bytes.clone();
        broken[at..at + 12].fill(0x55);
        let path = clips.write("broken.mp4", &broken);
        let needed = decode(&path, false, CHOICES[0].1).unwrap();
        let all = decode(&path, true, CHOICES[0].1).unwrap();
        if needed.facts.undecoded_frames == 0 {
            whole_decodes += 1;
            assert_eq!(needed, all);
        } else {
            // Damage in a packet that nothing refers to: every picture that is given is one of the intact ones.
            let every = decode(&path, true, |n| (0..n).collect()).unwrap();
            assert!(needed.frames.iter().all(|f| every.frames.iter().any(|e| e.pts == f.pts && e.image == f.image)));
        }
    }
    assert!(whole_decodes > 3, "{whole_decodes}");
}

/// Of real videos, some choices; with `VIDREC_SOAK=1`, every one.
#[test]
fn real_and_odd_files() {
    let Some(videos) = collection() else { return };
    let step = if std::env::var_os("VIDREC_SOAK").is_some() || videos.is_made() { 1 } else { 31 };
    let mut wrong = Vec::new();
    let (mut files, mut left_out) = (0, 0);
    for (i, row) in videos.rows().iter().enumerate() {
        let file = row["file"].as_str();
        for (k, (choice, choose)) in CHOICES.iter().enumerate() {
            if (i + k) % step != 0 || file.contains("4320p") && step > 1 {
                continue;
            }
            let (what, undecoded) = difference(&videos.path(file), *choose);
            files += 1;
            left_out += u32::from(undecoded > 0);
            wrong.extend(what.map(|w| format!("{file}, {choice}: {w}")));
        }
    }
    eprintln!("{left_out} of {files} decoded in part");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

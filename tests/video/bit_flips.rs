//! Flipped bits in clips of many codecs: how many of them are noticed.
//!
//! `VIDREC_SOAK=1` takes 40 seeds a codec instead of a few.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use vidrec::Planes;
use vidrec::video::{FrameSize, SampledVideo, VideoFacts};

use crate::video::support::{Clips, all, clips, some};

/// A codec in a container that is usual for it.
struct Case {
    name: &'static str,
    /// How `ffmpeg` makes it of the source.
    args: &'static str,
    /// At least so many in a hundred damaged files must be noticed: well below what is seen, and 0 where little is.
    floor: u32,
}

const CASES: [Case; 19] = [
    Case { name: "h264.mp4", args: "-c:v libx264 -g 30 -bf 2 -preset fast -threads 1", floor: 60 },
    Case { name: "h264.ts", args: "-c:v libx264 -g 30 -bf 2 -preset fast -threads 1", floor: 60 },
    Case { name: "hevc.mp4", args: HEVC, floor: 0 },
    Case { name: "hevc.mkv", args: HEVC, floor: 95 },
    Case { name: "hevc-md5.mp4", args: HEVC_MD5, floor: 90 },
    Case { name: "vp8.webm", args: "-c:v libvpx -g 30 -b:v 600k -deadline realtime -cpu-used 8", floor: 0 },
    Case { name: "vp9.webm", args: "-c:v libvpx-vp9 -g 30 -b:v 600k -deadline realtime -cpu-used 8", floor: 0 },
    Case { name: "vp9.mkv", args: "-c:v libvpx-vp9 -g 30 -b:v 600k -deadline realtime -cpu-used 8", floor: 95 },
    Case { name: "av1.mp4", args: "-c:v libsvtav1 -preset 10 -g 30 -crf 35", floor: 40 },
    Case { name: "mpeg1.mpg", args: "-c:v mpeg1video -q:v 4 -g 15 -bf 2", floor: 70 },
    Case { name: "mpeg2.ts", args: "-c:v mpeg2video -q:v 4 -g 15 -bf 2", floor: 70 },
    Case { name: "mpeg4.avi", args: "-c:v mpeg4 -q:v 4 -g 30", floor: 50 },
    Case { name: "h263.3gp", args: "-s 352x288 -c:v h263 -q:v 4", floor: 50 },
    Case { name: "prores.mov", args: "-pix_fmt yuv422p10le -c:v prores_ks -profile:v 0", floor: 0 },
    Case { name: "dnxhr.mov", args: "-pix_fmt yuv422p -c:v dnxhd -profile:v dnxhr_lb", floor: 0 },
    Case { name: "mjpeg.avi", args: "-pix_fmt yuvj420p -c:v mjpeg -q:v 4", floor: 0 },
    Case { name: "ffv1.avi", args: "-c:v ffv1 -level 3 -slicecrc 1", floor: 100 },
    Case { name: "huffyuv.avi", args: "-pix_fmt yuv422p -c:v huffyuv", floor: 0 },
    Case { name: "theora.ogv", args: "-c:v libtheora -q:v 6 -g 30", floor: 95 },
];

const HEVC: &str =
    "-c:v libx265 -preset veryfast -x265-params log-level=none:keyint=30:bframes=2:pools=1:frame-threads=1";
/// With the checksum of each picture in the stream.
const HEVC_MD5: &str =
    "-c:v libx265 -preset veryfast -x265-params log-level=none:keyint=30:bframes=2:pools=1:frame-threads=1:hash=1";

const SIZE: FrameSize = FrameSize::Original;

fn make(clips: &Clips, case: &Case) -> Option<PathBuf> {
    let codec = case.args.split_whitespace().skip_while(|a| *a != "-c:v").nth(1)?;
    if !clips.can_encode(codec) {
        return None;
    }
    Some(clips.make(case.name, &format!("-i source.mkv {}", case.args)))
}

fn says_something(facts: &VideoFacts) -> bool {
    let counts = [
        facts.decode_errors,
        facts.corrupt_packets,
        facts.logged_errors,
        facts.failed_checksums,
        facts.damaged_frames.into(),
    ];
    counts.iter().any(|&n| n > 0) || facts.is_cut_off() || facts.size_changes > 0
}

/// Three flipped bits between 15 and 95 % of a file.
fn flip(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: usize| {
        for _ in 0..3 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
        }
        (random % below as u64) as usize
    };
    let mut broken = bytes.to_vec();
    let (from, to) = (bytes.len() * 15 / 100, bytes.len() * 95 / 100);
    for _ in 0..3 {
        broken[from + next(to - from)] ^= 1 << next(8);
    }
    broken
}

fn psnr(a: &Planes, b: &Planes) -> f64 {
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return 0.0;
    }
    let square = |(a, b): (&u8, &u8)| f64::from(i32::from(*a) - i32::from(*b)).powi(2);
    let mean = a.y.iter().zip(&b.y).map(square).sum::<f64>() / a.y.len() as f64;
    10.0 * (255.0 * 255.0 / mean.max(1e-6)).log10()
}

/// Whether a frame looks different from the intact one of the same time, or there is none.
fn is_wrong(video: &SampledVideo, intact: &HashMap<i64, Planes>) -> bool {
    video.frames.iter().any(|frame| intact.get(&frame.pts).is_none_or(|own| psnr(&frame.image, own) < 27.0))
}

/// Counts are where they belong, and there are words where there are counts.
fn check_facts(video: &SampledVideo, what: &str) {
    let facts = &video.facts;
    let counted = facts.decode_errors + facts.logged_errors + facts.failed_checksums;
    assert!((counted > 0) == facts.first_error.is_some(), "{what}: {facts:?}");
    if let Some(text) = &facts.first_error {
        let clean = text.chars().count() < 400 && !text.contains(" @ 0x") && !text.chars().any(char::is_control);
        assert!(clean && !text.is_empty(), "{what}: {text:?}");
    }
    assert!(video.frame_count > 0 && !video.frames.is_empty(), "{what}");
}

#[test]
#[ignore = "full: many decodes of each codec"]
fn flipped_bits_in_every_codec() {
    let Some(clips) = clips() else { return };
    let seeds = if std::env::var_os("VIDREC_SOAK").is_some() { 40 } else { 4 };
    let source = "mandelbrot=s=320x180:r=25:start_scale=1,noise=alls=6:all_seed=7:allf=t -frames:v 24";
    clips.make("source.mkv", &format!("-f lavfi -i {source} -pix_fmt yuv420p -c:v ffv1"));
    let mut too_few = Vec::new();
    for case in &CASES {
        let Some(path) = make(&clips, case) else { continue };
        let intact = all(&path, SIZE).unwrap();
        assert!(!says_something(&intact.facts), "{}: {:?}", case.name, intact.facts);
        let intact = intact.frames.into_iter().map(|frame| (frame.pts, frame.image)).collect();
        let (noticed, wrong) = noticed(&clips, &path, seeds, &intact);
        println!("{}: of {seeds}, {noticed} are noticed; of the others, {wrong} are visibly wrong", case.name);
        // A few seeds may be lucky ones, unless nothing can slip through.
        let enough = if seeds > 4 || case.floor == 100 { case.floor * seeds } else { case.floor / 2 * seeds };
        if noticed * 100 < enough {
            too_few.push(format!("{}: {noticed} of {seeds}", case.name));
        }
    }
    assert!(too_few.is_empty(), "too few are noticed: {}", too_few.join(", "));
}

/// How many damaged files cannot be packed, or are packed with a report of the damage, and how many others are wrong.
fn noticed(clips: &Clips, path: &Path, seeds: u32, intact: &HashMap<i64, Planes>) -> (u32, u32) {
    let bytes = std::fs::read(path).unwrap();
    let name = format!("broken-{}", path.file_name().unwrap().to_str().unwrap());
    let (mut noticed, mut wrong) = (0, 0);
    for seed in 1..=u64::from(seeds) {
        let Ok(video) = some(&clips.write(&name, &flip(&bytes, seed)), SIZE, 8) else {
            noticed += 1;
            continue;
        };
        check_facts(&video, &format!("{name}, seed {seed}"));
        if says_something(&video.facts) {
            noticed += 1;
        } else if is_wrong(&video, intact) {
            wrong += 1;
        }
    }
    (noticed, wrong)
}

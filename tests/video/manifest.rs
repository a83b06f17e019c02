//! A collection of real and odd videos, with what FFmpeg 5.1.9 makes of each.

use std::collections::HashMap;
use std::path::PathBuf;

use vidrec::video::{FrameSize, Stage};

use crate::support::{clips, psnr, some};

/// Files for which another count than the manifest's is right, and why.
const OTHER_COUNTS: [(&str, u32, &str); 7] = [
    ("odd/made_two_videos.mkv", 48, "the second stream is marked as default, the manifest counts the first"),
    ("real/torchcodec_nasa_13013.mp4", 390, "the second stream is the better one, the manifest counts the first"),
    ("odd/decord_corrupted.mp4", 48, "one frame is marked as damaged"),
    ("odd/streamio_mpeg1_sar64-45_cut.mpg", 35, "one frame is marked as damaged"),
    ("odd/broken_trunc_60pct.avi", 24, "the last frame is cut and marked as damaged"),
    ("odd/broken_bitflips_3000.mp4", 4, "36 frames are marked as damaged"),
    ("odd/broken_zero_hole.mp4", 51, "one frame is marked as damaged"),
];

/// Lowest PSNR against ffmpeg's picture that is allowed, where 35 dB is too much to ask.
const OTHER_BOUNDS: [(&str, f64, &str); 8] = [
    ("odd/made_two_videos.mkv", 0.0, "another stream than the reference"),
    ("real/torchcodec_nasa_13013.mp4", 0.0, "another stream than the reference"),
    ("odd/decord_corrupted.mp4", 0.0, "the reference counts damaged frames"),
    ("odd/broken_zero_hole.mp4", 0.0, "the reference counts damaged frames"),
    ("odd/made_anim.gif", 19.0, "a dithered palette in 4:2:0"),
    ("odd/media3_editlist_1fps_444.mp4", 26.0, "a test pattern in 4:4:4 with one-pixel color edges"),
    ("odd/torchcodec_hevc_10bit.mp4", 29.0, "a test pattern with one-pixel color edges"),
    ("odd/torchcodec_av1.mkv", 29.0, "a test pattern with one-pixel color edges"),
];

pub fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("VIDREC_VIDEOS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/videos")), PathBuf::from);
    if folder.join("MANIFEST.csv").exists() {
        return Some(folder);
    }
    eprintln!("skipped: no test videos at {}; VIDREC_VIDEOS names them", folder.display());
    None
}

pub fn rows(folder: &std::path::Path) -> Vec<HashMap<String, String>> {
    csv::Reader::from_path(folder.join("MANIFEST.csv")).unwrap().deserialize().map(|row| row.unwrap()).collect()
}

#[test]
fn every_file_gives_what_the_manifest_says() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for row in rows(&folder) {
        let file = row["file"].as_str();
        let other = OTHER_COUNTS.iter().find(|(name, ..)| *name == file);
        let count = other.map_or_else(|| row["frames_decoded"].parse().unwrap_or(0), |&(_, count, _)| count);
        let result = some(&folder.join(file), FrameSize::ShortSide(64), 3);
        let right = match (row["status"].as_str(), &result) {
            ("ok" | "decodes with errors", Ok(video)) => {
                let damage = video.facts.decode_errors > 0 || video.facts.damaged_frames > 0;
                video.frame_count == count && (row["status"] != "ok" || !damage)
            }
            ("does not open", Err(e)) => {
                e.stage == Stage::Open && e.error.to_string().contains("Invalid data found when processing input")
            }
            ("no video stream", Err(e)) => e.stage == Stage::Stream,
            ("opens, no frame decodes", Err(e)) => e.stage == Stage::Decode,
            _ => false,
        };
        if !right {
            let got = result.map(|v| (v.frame_count, v.facts)).map_err(|e| format!("{}: {}", e.stage, e.error));
            wrong.push(format!("{file}: {} with {count} frames, got {got:?}", row["status"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pictures_are_those_of_ffmpeg() {
    let (Some(folder), Some(_)) = (folder(), clips()) else { return };
    let mut wrong = Vec::new();
    for row in rows(&folder).iter().filter(|r| r["set"] == "odd" || r["set"] == "real") {
        let file = row["file"].as_str();
        let path = folder.join(file);
        if let Ok(video) = some(&path, FrameSize::ShortSide(256), 2) {
            let bound = OTHER_BOUNDS.iter().find(|(name, ..)| *name == file).map_or(35.0, |&(_, bound, _)| bound);
            if bound == 0.0 {
                continue;
            }
            let db = psnr(&path, &video);
            if db <= bound {
                wrong.push(format!("{file}: {db:.1} dB, at least {bound} expected"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! A collection of real and odd videos, with what FFmpeg 5.1.9 makes of each.

use std::collections::HashMap;
use std::path::PathBuf;

use vidrec::video::{FrameSize, Stage};

use crate::video::support::{Clips, clips, psnr, some};

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

/// Videos with a manifest.
pub struct Collection {
    folder: PathBuf,
    /// What was made in `folder` for the test, which goes away with this.
    made: Option<Clips>,
}

/// Made where there is no collection of real videos: file, arguments of `ffmpeg`, number of frames.
const MADE: [(&str, &str, u32); 9] = [
    ("real/h264.mp4", "-c:v libx264 -g 12 -bf 2 -pix_fmt yuv420p -t 2", 50),
    ("real/h264_open_gop.mkv", "-c:v libx264 -g 12 -bf 3 -x264-params open-gop=1 -pix_fmt yuv420p -t 2", 50),
    ("real/mpeg4.avi", "-c:v mpeg4 -q:v 3 -bf 2 -t 1", 25),
    ("real/mpeg2.mpg", "-c:v mpeg2video -q:v 3 -bf 2 -t 2", 50),
    ("real/vp9.webm", "-c:v libvpx-vp9 -cpu-used 8 -b:v 1M -pix_fmt yuv420p -t 1", 25),
    ("odd/one_frame.mkv", "-c:v ffv1 -frames:v 1", 1),
    ("odd/gray.mkv", "-c:v ffv1 -pix_fmt gray -t 1", 25),
    ("odd/variable_rate.mp4", "-vf select=mod(n\\,3) -fps_mode vfr -c:v libx264 -pix_fmt yuv420p -t 1", 16),
    ("odd/full_range.avi", "-vf scale=out_range=full -c:v mjpeg -q:v 2 -pix_fmt yuvj420p -t 1", 25),
];

/// The real videos in the folder `VIDREC_VIDEOS`, or made ones; `None` where there is no `ffmpeg` to make them.
pub fn collection() -> Option<Collection> {
    if let Some(folder) = std::env::var_os("VIDREC_VIDEOS").map(PathBuf::from) {
        return Some(Collection { folder, made: None });
    }
    let clips = clips()?;
    for set in ["real", "odd"] {
        std::fs::create_dir(clips.dir.path().join(set)).unwrap();
    }
    let mut rows = vec!["set,file,status,frames_decoded".to_owned()];
    let mut row = |file: &str, status: &str, frames: u32| {
        rows.push(format!("{},{file},{status},{frames}", file.split_once('/').unwrap().0));
    };
    // Soft and pale: in full color, what 4:2:0 takes away would hide what goes wrong.
    clips.make("source.mkv", "-f lavfi -i testsrc2=s=320x240:r=25:d=3,hue=s=0.3,gblur=1 -c:v ffv1 -pix_fmt yuv420p");
    for (file, args, frames) in MADE {
        let codec = args.split_whitespace().skip_while(|a| *a != "-c:v").nth(1).unwrap();
        if clips.can_encode(codec) {
            clips.make(file, &format!("-i source.mkv {args}"));
            row(file, "ok", frames);
        }
    }
    clips.make("odd/sound.wav", "-f lavfi -i sine=d=1");
    row("odd/sound.wav", "no video stream", 0);
    clips.write("odd/page.mp4", b"<!DOCTYPE html><html><body>404 not found</body></html>");
    row("odd/page.mp4", "does not open", 0);
    let whole = std::fs::read(clips.make("whole.mp4", "-i source.mkv -c:v mpeg4 -t 1")).unwrap();
    clips.write("odd/no_header.mp4", &whole[..whole.len() / 2]);
    row("odd/no_header.mp4", "does not open", 0);
    clips.write("MANIFEST.csv", rows.join("\n").as_bytes());
    Some(Collection { folder: clips.dir.path().to_owned(), made: Some(clips) })
}

impl Collection {
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub fn rows(&self) -> Vec<HashMap<String, String>> {
        csv::Reader::from_path(self.path("MANIFEST.csv")).unwrap().deserialize().map(|row| row.unwrap()).collect()
    }

    /// Whether these are some small files instead of the real ones.
    pub fn is_made(&self) -> bool {
        self.made.is_some()
    }
}

#[test]
fn every_file_gives_what_the_manifest_says() {
    let Some(videos) = collection() else { return };
    let mut wrong = Vec::new();
    for row in videos.rows() {
        let file = row["file"].as_str();
        let other = OTHER_COUNTS.iter().find(|(name, ..)| *name == file);
        let count = other.map_or_else(|| row["frames_decoded"].parse().unwrap_or(0), |&(_, count, _)| count);
        let result = some(&videos.path(file), FrameSize::ShortSide(64), 3);
        let right = match (row["status"].as_str(), &result) {
            ("ok" | "decodes with errors", Ok(video)) => {
                let damage = video.facts.decode_errors > 0 || video.facts.damaged_frames > 0;
                video.frame_count == count && (row["status"] != "ok" || !damage)
            }
            ("does not open", Err(e)) => {
                let words = [
                    "Invalid data found when processing input",
                    "HTML page",
                    "Git LFS pointer",
                    "0 bytes",
                    "text file",
                ];
                e.stage == Stage::Open && words.iter().any(|word| e.message.contains(word))
            }
            ("no video stream", Err(e)) => e.stage == Stage::Stream,
            ("opens, no frame decodes", Err(e)) => e.stage == Stage::Decode || e.message.contains("is encrypted"),
            _ => false,
        };
        if !right {
            let got = result.map(|v| (v.frame_count, v.facts)).map_err(|e| format!("{}: {}", e.stage, e.message));
            wrong.push(format!("{file}: {} with {count} frames, got {got:?}", row["status"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pictures_are_those_of_ffmpeg() {
    let (Some(videos), Some(_)) = (collection(), clips()) else { return };
    let mut wrong = Vec::new();
    for row in videos.rows().iter().filter(|r| r["set"] == "odd" || r["set"] == "real") {
        let file = row["file"].as_str();
        let path = videos.path(file);
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

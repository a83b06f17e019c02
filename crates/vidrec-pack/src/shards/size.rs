//! The number of shards of a pack. It depends on the inputs and the options alone, and no video is opened to find out.

use std::collections::HashMap;
use std::path::Path;

use crate::options::PackOptions;
use crate::plan::{Job, PackPlan};
use crate::video::FrameSize;
use crate::work::{FrameChoice, Quality};
use vidrec_core::dataset::writer::Sharding;
use vidrec_format::sampler::RateRule;

/// About how many bytes a shard has.
const STORED_BYTES: u64 = 256_000_000;

/// About how many bytes of compressed video are decoded for a shard at most. Two cores decode some 17 MB a second of
/// clips, of videos of ten seconds and of HD, so this takes them three quarters of a minute.
const VIDEO_BYTES: u64 = 768_000_000;

/// The cost of opening a video and storing its frames, in bytes of compressed video.
const BYTES_TO_OPEN: u64 = 128 << 10;

/// The most shards of a pack that does not ask for a number. Each costs a reader a few open files.
const MOST: u64 = 4096;

/// The number of videos whose size is looked up.
const LOOKED_UP: u32 = 32;

/// The size of a video that is not a file on this machine.
const UNKNOWN_BYTES: u64 = 4 << 20;

/// Bytes of compressed video for each second, and frames.
const BYTES_PER_SECOND: u64 = 500_000;
const FRAMES_PER_SECOND: f64 = 30.0;

/// Returns the number of shards, at least one, and at most one for each of `videos`.
pub(super) fn shards(plan: &PackPlan, videos: u64, options: &PackOptions) -> u32 {
    let shards = match options.limits.shards {
        Some(Sharding::Count(shards)) => shards.into(),
        Some(Sharding::Each(each)) => videos.div_ceil(each.max(1)),
        Some(Sharding::Bytes(bytes)) => videos.div_ceil((bytes / VideoCost::mean(plan, options).stored).max(1)),
        None => {
            let cost = VideoCost::mean(plan, options);
            let each = (STORED_BYTES / cost.stored).min(VIDEO_BYTES / cost.decoded);
            videos.div_ceil(each.max(1)).min(MOST)
        }
    };
    u32::try_from(shards.clamp(1, videos.max(1))).unwrap_or(u32::MAX)
}

/// The cost of a video, in bytes.
struct VideoCost {
    stored: u64,
    decoded: u64,
}

impl VideoCost {
    /// Returns the mean over a few of the videos.
    fn mean(plan: &PackPlan, options: &PackOptions) -> Self {
        let n = u32::try_from(plan.jobs.len()).unwrap_or(u32::MAX);
        let chosen: Vec<&Job> =
            vidrec_format::sampler::uniform(n, LOOKED_UP.min(n)).into_iter().map(|i| &plan.jobs[i as usize]).collect();
        let mut clips: HashMap<&Path, u64> = chosen.iter().map(|job| (&*job.path, 0)).collect();
        for job in &plan.jobs {
            if let Some(clips) = clips.get_mut(&*job.path) {
                *clips += 1;
            }
        }
        let bytes = |job: &&Job| match std::fs::metadata(&job.path) {
            Ok(meta) if meta.is_file() => meta.len() / clips[&*job.path].max(1),
            _ => UNKNOWN_BYTES,
        };
        let sum: u64 = chosen.iter().map(bytes).fold(0, u64::saturating_add);
        let mean = sum.checked_div(chosen.len() as u64).unwrap_or(UNKNOWN_BYTES);
        let stored = frames(options, mean) * frame_bytes(options) * f64::from(options.frames.draws);
        VideoCost { stored: (stored as u64).max(1), decoded: mean.saturating_add(BYTES_TO_OPEN) }
    }
}

/// The number of frames of a clip of a video of so many bytes.
fn frames(options: &PackOptions, bytes: u64) -> f64 {
    if options.input.images {
        return 1.0;
    }
    let seconds = (bytes as f64 / BYTES_PER_SECOND as f64).max(1.0);
    let frames = match options.frames.frames {
        FrameChoice::Count(frames) => return frames.into(),
        FrameChoice::At(RateRule::Fps(rate)) => {
            let (num, den) = rate.frame_seconds();
            seconds * f64::from(den) / f64::from(num)
        }
        FrameChoice::At(RateRule::Every(step)) => seconds * FRAMES_PER_SECOND / f64::from(step.max(1)),
        FrameChoice::At(RateRule::KeyFrames) => seconds,
        FrameChoice::At(_) => seconds * FRAMES_PER_SECOND,
    };
    options.frames.max_frames.map_or(frames, |most| frames.min(most.into())).max(1.0)
}

/// The number of bytes of a stored frame: 2 bits for each pixel at the usual quality.
fn frame_bytes(options: &PackOptions) -> f64 {
    let pixels = match options.pictures.size {
        FrameSize::ShortSide(side) | FrameSize::ShortSideAlways(side) => f64::from(side) * f64::from(side) * 16.0 / 9.0,
        FrameSize::Exact { width, height } => f64::from(width) * f64::from(height),
        FrameSize::Original => 1280.0 * 720.0,
    };
    let bits = match options.pictures.quality {
        Quality::Level(level) if level < 80 => 1.0,
        Quality::Level(level) if level > 94 => 3.0,
        _ => 2.0,
    };
    (pixels * bits / 8.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of shards of so many videos, each a file of so many bytes.
    fn shards_of(videos: u64, bytes: u64, options: &str) -> u32 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.mp4");
        std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
        let job = PackPlan::from_inputs(&[path], &crate::InputOptions::default()).unwrap().jobs.remove(0);
        // Each video is a file of its own, which is looked up by its metadata alone.
        let copy = |i: u64| {
            let path = dir.path().join(format!("{i}.mp4"));
            std::fs::hard_link(&job.path, &path).unwrap();
            Job { path, ..job.clone() }
        };
        let plan = PackPlan { jobs: (0..videos).map(copy).collect(), ..PackPlan::default() };
        shards(&plan, videos, &PackOptions::from_json(options).unwrap())
    }

    #[test]
    fn a_shard_has_some_256_mb_or_takes_some_45_seconds() {
        assert_eq!(shards_of(0, 0, "{}"), 1);
        assert_eq!(shards_of(500, 300_000, "{}"), 1, "small sets have one shard");
        assert_eq!(shards_of(2000, 300_000, r#"{"frames": 16}"#), 4, "2000 clips of 16 frames of 29 kB");
        assert_eq!(shards_of(300, 5_000_000, "{}"), 3, "HD takes two cores a fifth of a second each");
        assert_eq!(shards_of(3, 4_000_000_000, r#"{"frames": "all"}"#), 3, "a long video has a shard of its own");
        assert_eq!(shards_of(9, 0, r#"{"shards": 20}"#), 9, "never more than videos");
        assert_eq!(shards_of(9, 0, r#"{"shards": "each:4"}"#), 3);
        assert_eq!(shards_of(9, 0, r#"{"shards": "600KB"}"#), 5, "two clips of 8 frames");
    }
}

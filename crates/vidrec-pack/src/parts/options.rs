//! The options of a pack as a plan stores them, in the words of the command line.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::options::PackOptions;
use crate::plan::InputOptions;
use crate::run::{MaxFailures, RunOptions};
use crate::track::TrackSpec;
use crate::video::AudioOptions;
use crate::work::{FrameOptions, PictureOptions, Resources, VideoLimits};
use vidrec_dataset::writer::Sharding;
use vidrec_format::error::{Error, Result};

/// All options that decide what a video becomes, or whether a part fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlannedOptions {
    frames: u32,
    sample: String,
    short: String,
    seed: u64,
    draws: u32,
    pace: Option<String>,
    max_frames: Option<u32>,
    picture_fps: Option<String>,
    segment_clock: String,
    decode: String,
    size: String,
    quality: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target_quality: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    effort: u8,
    optimize: bool,
    pass_through: bool,
    reduce_depth: bool,
    shuffle_seed: Option<u64>,
    /// The sharding within a part.
    shards: String,
    on_error: String,
    /// The most videos that may fail in all parts, as a number.
    max_failures: Option<u64>,
    timeout: Duration,
    max_pixels: u64,
    max_duration: Option<Duration>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tracks: Vec<TrackSpec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audio: Option<(u32, String)>,
}

impl PlannedOptions {
    /// Returns the options for a plan of so many videos.
    pub fn of(options: &PackOptions, videos: u64) -> Self {
        let PackOptions { input, frames, pictures, audio, limits, run, .. } = options;
        PlannedOptions {
            frames: frames.count,
            sample: frames.rule.to_string(),
            short: frames.short.to_string(),
            seed: frames.seed,
            draws: frames.draws,
            pace: frames.pace.as_ref().map(ToString::to_string),
            max_frames: frames.max_frames,
            picture_fps: frames.picture_rate.as_ref().map(ToString::to_string),
            segment_clock: frames.segment_clock.to_string(),
            decode: frames.decode.to_string(),
            size: pictures.size.to_string(),
            quality: pictures.quality,
            target_quality: pictures.target.map(|target| target.to_string()),
            effort: pictures.effort,
            optimize: pictures.optimize,
            pass_through: pictures.pass_through,
            reduce_depth: pictures.reduce_depth,
            shuffle_seed: input.shuffle_seed,
            shards: run.sharding.to_string(),
            on_error: run.on_error.to_string(),
            max_failures: run.max_failures.map(|most| most.count(videos)),
            timeout: limits.timeout,
            max_pixels: limits.max_pixels,
            max_duration: limits.max_duration,
            tracks: input.tracks.clone(),
            audio: audio.map(|audio| (audio.rate, audio.channels.to_string())),
        }
    }

    /// Converts back to options, with `resources`.
    pub fn to_options(&self, resources: &Resources) -> Result<PackOptions> {
        Ok(PackOptions {
            input: InputOptions {
                shuffle_seed: self.shuffle_seed,
                tracks: self.tracks.clone(),
                ..InputOptions::default()
            },
            frames: FrameOptions {
                count: self.frames,
                rule: read(&self.sample)?,
                short: read(&self.short)?,
                seed: self.seed,
                draws: self.draws,
                pace: self.pace.as_deref().map(read).transpose()?,
                max_frames: self.max_frames,
                picture_rate: self.picture_fps.as_deref().map(read).transpose()?,
                segment_clock: read(&self.segment_clock)?,
                decode: read(&self.decode)?,
            },
            pictures: PictureOptions {
                size: read(&self.size)?,
                quality: self.quality,
                target: self.target_quality.as_deref().map(read).transpose()?,
                effort: self.effort,
                optimize: self.optimize,
                pass_through: self.pass_through,
                reduce_depth: self.reduce_depth,
            },
            audio: match &self.audio {
                Some((rate, channels)) => Some(AudioOptions { rate: *rate, channels: read(channels)? }),
                None => None,
            },
            limits: VideoLimits { timeout: self.timeout, max_pixels: self.max_pixels, max_duration: self.max_duration },
            resources: resources.clone(),
            run: RunOptions {
                sharding: read::<Sharding>(&self.shards)?,
                on_error: read(&self.on_error)?,
                max_failures: self.max_failures.map(MaxFailures::Count),
                ..RunOptions::default()
            },
        })
    }

    /// Returns the most videos that may fail, in all parts together.
    pub fn max_failures(&self) -> Option<u64> {
        self.max_failures
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u8) -> bool {
    *value == 0
}

fn read<T: FromStr>(word: &str) -> Result<T>
where
    T::Err: Display,
{
    word.parse().map_err(|e| Error::usage(format!("the plan has an unknown option: {e}")).found(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SegmentClock;
    use crate::run::OnError;
    use crate::video::{AudioChannels, Decode, FrameSize};
    use vidrec_jpeg::QualityTarget;
    use vidrec_sampler::{Pace, Rule, Short};

    #[test]
    fn options_read_back_as_themselves() {
        let plain = PackOptions::default();
        let other = PackOptions {
            input: InputOptions {
                shuffle_seed: Some(3),
                tracks: vec!["a=b,rate=50,nan".parse().unwrap()],
                ..InputOptions::default()
            },
            frames: FrameOptions {
                count: 5,
                rule: Rule::RandomClip { stride: 4 },
                short: Short::Skip,
                seed: u64::MAX,
                draws: 7,
                pace: Some(Pace::Fps("30000/1001".parse().unwrap())),
                max_frames: Some(9),
                picture_rate: Some("12.5".parse().unwrap()),
                segment_clock: SegmentClock::FirstFrame,
                decode: Decode::All,
            },
            pictures: PictureOptions {
                size: FrameSize::ShortSideAlways(64),
                quality: 77,
                target: Some(QualityTarget::Ssim(0.975)),
                effort: 1,
                optimize: true,
                pass_through: true,
                reduce_depth: true,
            },
            limits: VideoLimits {
                timeout: Duration::from_nanos(1_234_567_891),
                max_pixels: 99,
                max_duration: Some(Duration::from_millis(1500)),
            },
            audio: Some(AudioOptions { rate: 8000, channels: AudioChannels::Stereo }),
            run: RunOptions { sharding: Sharding::Bytes(1 << 33), on_error: OnError::Stop, ..RunOptions::default() },
            resources: Resources::default(),
        };
        for size in [FrameSize::Original, FrameSize::ShortSide(9), FrameSize::Exact { width: 3, height: 4 }] {
            let pictures = PictureOptions { size, ..PictureOptions::default() };
            for options in [&plain, &other, &PackOptions { pictures, ..plain.clone() }] {
                let text = serde_json::to_string(&PlannedOptions::of(options, 10)).unwrap();
                let planned: PlannedOptions = serde_json::from_str(&text).unwrap();
                assert_eq!(planned.to_options(&Resources::default()).unwrap(), *options, "{text}");
            }
        }
    }

    #[test]
    fn a_share_of_failures_is_one_of_all_videos() {
        let run = RunOptions { max_failures: Some(MaxFailures::Percent(2.0)), ..RunOptions::default() };
        let planned = PlannedOptions::of(&PackOptions { run, ..PackOptions::default() }, 1000);
        assert_eq!(planned.max_failures(), Some(20));
        let options = planned.to_options(&Resources::default()).unwrap();
        assert_eq!(options.run.max_failures, Some(MaxFailures::Count(20)));
    }

    #[test]
    fn an_unknown_word_is_an_error() {
        let mut planned = PlannedOptions::of(&PackOptions::default(), 1);
        planned.sample = "magic".into();
        let e = planned.to_options(&Resources::default()).unwrap_err().to_string();
        assert!(e.contains("magic"), "{e}");
    }
}

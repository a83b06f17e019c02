//! All options of a pack, and which of them determine the bytes.

use serde::Serialize;
use serde_json::Value;

use super::plan::{InputOptions, SegmentClock};
use super::run::RunOptions;
use super::track::{PlannedTrack, TrackSpec};
use super::work::{FrameOptions, PictureOptions, Recipe, Resources, SOUND, VideoLimits, VideoStore};
use crate::video::{AudioOptions, Decode, FrameSize};
use vidrec_dataset::writer::Sharding;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::json_object::JsonObject;
use vidrec_format::limits;
use vidrec_jpeg::QualityTarget;
use vidrec_sampler::Short;

/// How videos are packed. The same inputs and options give the same bytes, whatever [`Resources`] the pack uses.
///
/// ```
/// # mod vidrec { pub use vidrec_pack as pack; pub use vidrec_dataset::writer::Sharding; }
/// use vidrec::pack::{FrameOptions, PackOptions, PictureOptions};
///
/// let options = PackOptions {
///     frames: FrameOptions { count: 16, ..FrameOptions::default() },
///     pictures: PictureOptions { quality: 85, ..PictureOptions::default() },
///     ..PackOptions::default()
/// };
/// assert_eq!(options.run.sharding, vidrec::Sharding::One);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackOptions {
    /// How inputs are read.
    pub input: InputOptions,
    /// Which frames of a video become a clip.
    pub frames: FrameOptions,
    /// How frames are stored.
    pub pictures: PictureOptions,
    /// Whether and how the sound of videos becomes the track `audio`. Default: it does not.
    pub audio: Option<AudioOptions>,
    /// The limits of what one video may use.
    pub limits: VideoLimits,
    /// How much of the machine the work may use.
    pub resources: Resources,
    /// What a run writes, and what it does when something goes wrong.
    pub run: RunOptions,
}

/// The options that determine the bytes, as `dataset.json` stores them. Options that change nothing are absent.
#[derive(Serialize)]
struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u32>,
    sample: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    short: Option<Short>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_frames: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<u32>,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture_fps: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment_clock: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decode: Option<String>,
    #[serde(flatten)]
    pictures: PictureSettings,
    #[serde(skip_serializing_if = "Option::is_none")]
    shuffle_seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shards: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_pixels: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_duration: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tracks: Vec<TrackSpec>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audio: Option<AudioSetting>,
}

/// How sound is stored.
#[derive(Serialize)]
struct AudioSetting {
    rate: u32,
    channels: String,
}

/// The options that determine the bytes of an image.
#[derive(Serialize)]
struct PictureSettings {
    size: SizeSetting,
    scaling: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_quality: Option<String>,
    chroma: &'static str,
    #[serde(skip_serializing_if = "is_zero")]
    effort: u8,
    #[serde(skip_serializing_if = "is_off")]
    optimize: bool,
    #[serde(skip_serializing_if = "is_off")]
    pass_through: bool,
    #[serde(skip_serializing_if = "is_off")]
    reduce_depth: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SizeSetting {
    Word(&'static str),
    ShortSide {
        short_side: u32,
        #[serde(skip_serializing_if = "is_off")]
        enlarge: bool,
    },
    Exact {
        width: u32,
        height: u32,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_off(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u8) -> bool {
    *value == 0
}

impl PictureSettings {
    fn of(options: &PictureOptions) -> Self {
        PictureSettings {
            size: match options.size {
                FrameSize::ShortSide(short_side) => SizeSetting::ShortSide { short_side, enlarge: false },
                FrameSize::ShortSideAlways(short_side) => SizeSetting::ShortSide { short_side, enlarge: true },
                FrameSize::Exact { width, height } => SizeSetting::Exact { width, height },
                FrameSize::Original => SizeSetting::Word("original"),
            },
            scaling: "bicubic",
            quality: options.target.is_none().then_some(options.quality),
            target_quality: options.target.map(|target| target.to_string()),
            chroma: "4:2:0",
            effort: options.effort,
            optimize: options.optimize,
            pass_through: options.pass_through,
            reduce_depth: options.reduce_depth,
        }
    }
}

impl Settings {
    fn of(options: &PackOptions) -> Self {
        let frames = &options.frames;
        let FrameOptions { count, rule, short, pace, .. } = *frames;
        let (shards, shard_bytes) = match options.run.sharding {
            Sharding::One => (None, None),
            Sharding::Count(n) => (Some(n), None),
            Sharding::Bytes(n) => (None, Some(n)),
        };
        Settings {
            frames: pace.is_none().then_some(count),
            sample: pace.map_or_else(|| rule.to_string(), |pace| pace.to_string()),
            short: pace.is_none().then_some(short),
            max_frames: frames.max_frames.filter(|_| pace.is_some()),
            draws: Some(frames.draws).filter(|&draws| draws > 1),
            seed: frames.seed,
            picture_fps: frames.picture_rate.map(|rate| rate.to_string()),
            segment_clock: Some(frames.segment_clock)
                .filter(|clock| *clock != SegmentClock::default())
                .map(|clock| clock.to_string()),
            decode: Some(frames.decode).filter(|decode| *decode != Decode::default()).map(|decode| decode.to_string()),
            pictures: PictureSettings::of(&options.pictures),
            shuffle_seed: options.input.shuffle_seed,
            shards,
            shard_bytes,
            max_pixels: Some(options.limits.max_pixels).filter(|&most| most != limits::MAX_PIXELS),
            max_duration: options.limits.max_duration.map(|most| most.as_secs_f64()),
            tracks: options.input.tracks.clone(),
            audio: options.audio.map(|audio| AudioSetting { rate: audio.rate, channels: audio.channels.to_string() }),
        }
    }
}

impl PackOptions {
    pub(super) fn check(&self) -> Result<()> {
        self.frames.check()?;
        self.run.sharding.check()?;
        if self.audio.is_some() && self.input.tracks.iter().any(|track| track.name == SOUND) {
            return Err(
                Error::usage(format!("two tracks have the name \"{SOUND}\"")).hint(Hint::OnlyOne("audio", "track"))
            );
        }
        self.pictures.target.map_or(Ok(()), QualityTarget::check)?;
        vidrec_jpeg::Encoder::new(self.pictures.quality)?.set_effort(self.pictures.effort)
    }

    /// Returns the options that decide what a video becomes.
    pub(super) fn recipe<'a>(
        &'a self,
        store: &'a VideoStore,
        (tracks, channels): (&'a [PlannedTrack], Option<u32>),
    ) -> Recipe<'a> {
        Recipe {
            frames: &self.frames,
            pictures: &self.pictures,
            limits: &self.limits,
            store,
            tracks,
            audio: self.audio,
            channels,
            measure: false,
        }
    }

    /// Returns everything that determines the bytes, as it is stored.
    pub(super) fn settings(&self) -> Result<JsonObject> {
        match serde_json::to_value(Settings::of(self)) {
            Ok(Value::Object(settings)) => Ok(JsonObject(settings)),
            other => Err(Error::internal(format!("settings: {other:?}"))),
        }
    }
}

/// This version of vidrec, as data sets name it.
pub(super) const TOOL: &str = concat!("vidrec ", env!("CARGO_PKG_VERSION"));

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::plan::InputOptions;
    use super::*;
    use crate::video::AudioChannels;
    use vidrec_sampler::{Pace, Rule};

    #[test]
    fn settings_that_change_nothing_are_absent() {
        let settings = PackOptions::default().settings().unwrap();
        let expected = json!({
            "frames": 8, "sample": "uniform", "short": "repeat-last", "seed": 0,
            "size": {"short_side": 256}, "scaling": "bicubic", "quality": 90, "chroma": "4:2:0", "effort": 1,
        });
        assert_eq!(settings, JsonObject::of(expected).unwrap());
    }

    #[test]
    fn settings_name_all_that_determines_the_bytes() {
        let options = PackOptions {
            input: InputOptions {
                shuffle_seed: Some(3),
                tracks: vec!["a=b,frames".parse().unwrap()],
                ..InputOptions::default()
            },
            frames: FrameOptions {
                rule: Rule::RandomClip { stride: 2 },
                draws: 4,
                picture_rate: Some("30000/1001".parse().unwrap()),
                segment_clock: SegmentClock::FirstFrame,
                decode: Decode::All,
                ..FrameOptions::default()
            },
            pictures: PictureOptions {
                size: FrameSize::ShortSideAlways(64),
                effort: 1,
                optimize: true,
                pass_through: true,
                reduce_depth: true,
                ..PictureOptions::default()
            },
            limits: VideoLimits {
                max_pixels: 9,
                max_duration: Some(std::time::Duration::from_millis(1500)),
                ..VideoLimits::default()
            },
            run: RunOptions { sharding: Sharding::Count(2), ..RunOptions::default() },
            resources: Resources::default(),
            audio: Some(AudioOptions { rate: 16_000, channels: AudioChannels::Stereo }),
        };
        let expected = json!({
            "frames": 8, "sample": "random-clip:2", "short": "repeat-last", "seed": 0, "draws": 4,
            "picture_fps": "30000/1001", "segment_clock": "first-frame", "decode": "all", "shuffle_seed": 3,
            "size": {"short_side": 64, "enlarge": true}, "scaling": "bicubic", "quality": 90, "chroma": "4:2:0",
            "effort": 1, "optimize": true, "pass_through": true, "reduce_depth": true, "shards": 2, "max_pixels": 9, "max_duration": 1.5,
            "tracks": ["a=b,frames"], "audio": {"rate": 16_000, "channels": "stereo"},
        });
        assert_eq!(options.settings().unwrap(), JsonObject::of(expected).unwrap());
        let by_pace = PackOptions {
            frames: FrameOptions { pace: Some(Pace::Every(3)), max_frames: Some(5), ..FrameOptions::default() },
            pictures: PictureOptions {
                size: FrameSize::Original,
                target: Some(QualityTarget::Psnr(40.0)),
                ..PictureOptions::default()
            },
            run: RunOptions { sharding: Sharding::Bytes(7), ..RunOptions::default() },
            ..PackOptions::default()
        };
        let expected = json!({
            "sample": "every:3", "max_frames": 5, "seed": 0, "size": "original", "scaling": "bicubic", "target_quality": "psnr:40",
            "chroma": "4:2:0", "effort": 1, "shard_bytes": 7,
        });
        assert_eq!(by_pace.settings().unwrap(), JsonObject::of(expected).unwrap());
    }
}

//! One video to one clip: sample, encode, describe. Runs on the worker threads.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Item, PackOptions};
use crate::jpeg::Encoder;
use crate::sampler::{self, Selection};
use crate::video::{self, SampledVideo, Stage, Timeline, VideoError, VideoFacts, VideoOptions};
use crate::{ClipInfo, Error};

/// Where in the work on a video something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PackStage {
    /// While the video was read.
    Video(Stage),
    /// While a frame was encoded.
    Encode,
    /// Left out as asked for: too few frames under [`Short::Skip`](crate::sampler::Short::Skip).
    LeftOut,
    /// While a clip that was packed before was read again, to retry others.
    Copy,
    /// The process that decoded it ended before its time.
    Crash,
    /// A fault in vidrec itself.
    Internal,
}

impl fmt::Display for PackStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackStage::Video(stage) => stage.fmt(f),
            PackStage::Encode => f.write_str("encode"),
            PackStage::LeftOut => f.write_str("short"),
            PackStage::Copy => f.write_str("copy"),
            PackStage::Crash => f.write_str("crash"),
            PackStage::Internal => f.write_str("internal"),
        }
    }
}

/// Why a video gave no clip.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ClipFailure {
    pub stage: PackStage,
    pub message: String,
}

impl ClipFailure {
    pub fn to_error(&self, path: &Path) -> Error {
        Error::decode(format!("{}: {}", self.stage, self.message)).file(path)
    }
}

impl From<VideoError> for ClipFailure {
    fn from(e: VideoError) -> Self {
        let stage = PackStage::Video(e.stage);
        let error = e.error.without_file();
        let cause = std::error::Error::source(&error).map(|c| format!(": {c}")).unwrap_or_default();
        ClipFailure { stage, message: format!("{error}{cause}") }
    }
}

/// A frame of a packed clip; a frame that is repeated shares its JPEG.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct PackedFrame {
    /// Place in [`PackedClip::jpegs`].
    pub jpeg: usize,
    pub pts: i64,
    pub source_index: u32,
}

/// A clip that is ready to be written.
pub(super) struct PackedClip {
    pub info: ClipInfo,
    pub jpegs: Vec<Vec<u8>>,
    pub frames: Vec<PackedFrame>,
    pub facts: VideoFacts,
}

impl PackedClip {
    /// Frames that stand for one that is missing.
    pub fn repeated_frames(&self) -> u64 {
        if self.info.short { (self.frames.len() - self.jpegs.len().min(self.frames.len())) as u64 } else { 0 }
    }
}

/// Samples and encodes a video. A panic, which would be a fault of ours, fails this video alone.
pub(super) fn pack_one(item: &Item, ordinal: u64, options: &PackOptions) -> Result<PackedClip, ClipFailure> {
    catch_unwind(AssertUnwindSafe(|| sample_and_encode(item, ordinal, options))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(ClipFailure { stage: PackStage::Internal, message: format!("{text}; please report this as a bug") })
    })
}

fn sample_and_encode(item: &Item, ordinal: u64, options: &PackOptions) -> Result<PackedClip, ClipFailure> {
    // What the sampler said last: the first answer may rest on a guess at the number of frames.
    let chosen: RefCell<Option<Selection>> = RefCell::new(None);
    let declined = Cell::new(false);
    let choose = |timeline: &Timeline| {
        let n = timeline.frame_count();
        let selection = sampler::select(options.rule, options.short, n, options.frames, options.seed, ordinal)?;
        declined.set(selection.is_none());
        let selection = selection.ok_or_else(|| Error::usage(too_few(n, options)))?;
        let mut wanted = selection.frames.clone();
        wanted.sort_unstable();
        *chosen.borrow_mut() = Some(selection);
        Ok(wanted)
    };
    let video_options = VideoOptions {
        size: options.size,
        timeout: options.timeout,
        max_pixels: options.max_pixels,
        max_duration: options.max_duration,
        ..VideoOptions::default()
    };
    let sampled = video::sample(&item.path, &video_options, &choose).map_err(|e| {
        let left_out = e.stage == Stage::Sample && declined.get();
        let failure = ClipFailure::from(e);
        if left_out { ClipFailure { stage: PackStage::LeftOut, ..failure } } else { failure }
    })?;
    let selection = chosen.into_inner().unwrap_or(Selection { frames: Vec::new(), short: false });
    encode(item, &sampled, &selection, options)
}

fn too_few(n: u32, options: &PackOptions) -> String {
    format!("{n} frames decode, too few for {} by rule \"{}\"; left out as asked for", options.frames, options.rule)
}

fn encode(
    item: &Item,
    sampled: &SampledVideo,
    selection: &Selection,
    options: &PackOptions,
) -> Result<PackedClip, ClipFailure> {
    let failed = |e: Error| ClipFailure { stage: PackStage::Encode, message: e.to_string() };
    let internal = || ClipFailure { stage: PackStage::Internal, message: "a chosen frame is missing".into() };
    let mut encoder = Encoder::new(options.quality).map_err(failed)?;
    let mut jpegs = Vec::with_capacity(sampled.frames.len());
    for frame in &sampled.frames {
        let mut jpeg = Vec::new();
        encoder.encode(&frame.image, &mut jpeg).map_err(failed)?;
        jpegs.push(jpeg);
    }
    let mut frames = Vec::with_capacity(selection.frames.len());
    for &wanted in &selection.frames {
        let jpeg = sampled.frames.binary_search_by_key(&wanted, |f| f.source_index).map_err(|_| internal())?;
        frames.push(PackedFrame { jpeg, pts: sampled.frames[jpeg].pts, source_index: wanted });
    }
    let image = &sampled.frames.first().ok_or_else(internal)?.image;
    let mut attributes = item.attributes.clone();
    attributes.insert(
        "video".into(),
        describe(sampled, selection.frames.len().saturating_sub(jpegs.len()) as u64, selection.short),
    );
    let info = ClipInfo {
        label: item.label,
        source: item.source.clone(),
        class: item.class.clone(),
        attributes,
        width: image.width(),
        height: image.height(),
        time_base: sampled.time_base,
        short: selection.short,
    };
    Ok(PackedClip { info, jpegs, frames, facts: sampled.facts.clone() })
}

/// What is kept of the source in the clip's attributes, under the key `video`.
fn describe(sampled: &SampledVideo, repeated: u64, short: bool) -> Value {
    let mut facts = serde_json::to_value(&sampled.facts).unwrap_or_default();
    if let Value::Object(map) = &mut facts {
        map.insert("frames".into(), sampled.frame_count.into());
        if short {
            map.insert("repeated_frames".into(), repeated.into());
        }
        map.retain(|_, v| !v.is_null());
    }
    facts
}

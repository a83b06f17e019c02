//! One video to its clip, or its draws: sample, encode, describe. Runs on the worker threads.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::memory::Held;
use super::{Item, PackOptions, memory, pictures};
use crate::allocation;
use crate::jpeg::Encoder;
use crate::machine::Shortage;
use crate::sampler::{self, Pace, Selection};
use crate::video::{Choose, SampledFrame, SampledVideo, Stage, Timeline, Video, VideoError, VideoFacts, VideoOptions};
use crate::{ClipInfo, Error, Result};

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
    /// What the machine ran out of: then it is not the video that failed.
    pub shortage: Option<Shortage>,
}

impl ClipFailure {
    pub fn new(stage: PackStage, message: impl Into<String>) -> Self {
        ClipFailure { stage, message: message.into(), shortage: None }
    }

    /// A failure with the error's words and its cause's.
    pub fn of(stage: PackStage, e: &Error) -> Self {
        let cause = std::error::Error::source(e).map(|c| format!(": {c}")).unwrap_or_default();
        ClipFailure { stage, message: format!("{e}{cause}"), shortage: e.shortage() }
    }

    pub fn missing_frame() -> Self {
        ClipFailure::new(PackStage::Internal, "a chosen frame is missing")
    }

    pub fn to_error(&self, path: &Path) -> Error {
        let e = Error::decode(format!("{}: {}", self.stage, self.message)).file(path);
        match self.shortage {
            Some(shortage) => e.blame(shortage),
            None => e,
        }
    }

    /// The failure of a video that was alone: where it got no memory although there is as much as it should need, it asked
    /// for too much itself.
    fn when_alone(self, needed: u64) -> Self {
        if self.shortage != Some(Shortage::Memory) || !allocation::can_allocate(needed) {
            return self;
        }
        let message = format!("{} (it asks for more than any sound video needs, also when it is alone)", self.message);
        ClipFailure { message, shortage: None, ..self }
    }
}

impl From<VideoError> for ClipFailure {
    fn from(e: VideoError) -> Self {
        ClipFailure::of(PackStage::Video(e.stage), &e.error.without_file())
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
    /// Those that were taken from the source; all its draws share them.
    pub jpegs: Arc<Vec<Vec<u8>>>,
    pub frames: Vec<PackedFrame>,
    pub facts: VideoFacts,
}

impl PackedClip {
    /// Frames that stand for one that is missing.
    pub fn repeated_frames(&self) -> u64 {
        if self.info.short { repeated_frames(&self.frames) } else { 0 }
    }
}

/// Bytes of the JPEGs of a video's clips, which share them.
pub(super) fn jpeg_bytes(clips: &[PackedClip]) -> u64 {
    clips.first().map_or(0, |clip| clip.jpegs.iter().map(|jpeg| jpeg.len() as u64).sum())
}

fn repeated_frames(frames: &[PackedFrame]) -> u64 {
    let distinct: BTreeSet<usize> = frames.iter().map(|f| f.jpeg).collect();
    (frames.len() - distinct.len()) as u64
}

/// A frame that was taken from a source, encoded.
pub(super) struct Picture {
    pub jpeg: Vec<u8>,
    /// Width and height in pixels.
    pub size: (u32, u32),
    pub pts: i64,
    pub source_index: u32,
}

/// What was taken from a video or a folder of pictures.
#[derive(Default)]
pub(super) struct Source {
    /// Ascending by ordinal, without repeats.
    pub pictures: Vec<Picture>,
    pub time_base: (u32, u32),
    /// Frames that there are.
    pub frame_count: u32,
    pub facts: VideoFacts,
}

/// Samples and encodes a video: its clip, or as many as there are draws. A panic, which would be a fault of ours, fails
/// this video alone. Its JPEGs are counted in `held` as they are made. If nothing else is packed at the time, it is `alone`.
pub(super) fn pack_one(
    item: &Item,
    options: &PackOptions,
    held: &mut Held<'_>,
    alone: bool,
) -> Result<Vec<PackedClip>, ClipFailure> {
    let needed = Cell::new(memory::PER_THREAD);
    let pack = AssertUnwindSafe(|| sample_and_encode(item, options, held, &needed));
    let packed = catch_unwind(pack).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(ClipFailure::new(PackStage::Internal, format!("{text}; please report this as a bug")))
    });
    let packed = packed.map_err(|failure| if alone { failure.when_alone(needed.get()) } else { failure });
    // What was made and thrown away no longer counts.
    held.set(packed.as_ref().map_or(0, |clips| jpeg_bytes(clips)));
    packed
}

fn sample_and_encode(
    item: &Item,
    options: &PackOptions,
    held: &mut Held<'_>,
    needed: &Cell<u64>,
) -> Result<Vec<PackedClip>, ClipFailure> {
    if let Some(fault) = &item.fault {
        return Err(ClipFailure::new(PackStage::Video(Stage::Open), fault));
    }
    super::fault::decoder(&item.source);
    // What was chosen last: the first answer may rest on a guess at the number of frames.
    let chosen: RefCell<Vec<Selection>> = RefCell::default();
    let declined = Cell::new(false);
    let choose = |timeline: &Timeline| {
        declined.set(false);
        let selections = select(item, options, timeline, &declined)?;
        let mut wanted: Vec<u32> = selections.iter().flat_map(|s| s.frames.iter().copied()).collect();
        wanted.sort_unstable();
        *chosen.borrow_mut() = selections;
        Ok(wanted)
    };
    let source = if item.path.is_dir() {
        needs_times(item, options)?;
        pictures::sample(&item.path, options, &choose)
    } else {
        from_video(item, options, held, needed, &choose)
    };
    let mut source = source.map_err(|failure| {
        let left_out = failure.stage == PackStage::Video(Stage::Sample) && declined.get();
        if left_out { ClipFailure { stage: PackStage::LeftOut, ..failure } } else { failure }
    })?;
    let jpegs = Arc::new(source.pictures.iter_mut().map(|p| std::mem::take(&mut p.jpeg)).collect());
    let clip = |(draw, selection)| assemble(item, &source, &jpegs, selection, draw, options);
    (0..).zip(&chosen.into_inner()).map(clip).collect()
}

/// Samples a video, and encodes each frame as it comes: one uncompressed picture is in memory at a time.
fn from_video(
    item: &Item,
    options: &PackOptions,
    held: &mut Held<'_>,
    needed: &Cell<u64>,
    choose: Choose<'_>,
) -> Result<Source, ClipFailure> {
    let video_options = VideoOptions {
        size: options.size,
        decode: options.decode,
        timeout: options.timeout,
        max_pixels: options.max_pixels,
        max_duration: options.max_duration,
        ..VideoOptions::default()
    };
    let video = Video::open(&item.path, &video_options)?;
    let pixels = video.picture_size().map_or(0, |(width, height)| u64::from(width) * u64::from(height));
    let bytes = video.memory_needed().saturating_add(pixels * ENCODER_BYTES_PER_PIXEL);
    needed.set(bytes.max(memory::PER_THREAD));
    let _share = held.memory().share(bytes);
    let mut encoder = encoder(options).map_err(not_encoded)?;
    let mut make = |frame: SampledFrame| {
        let picture = encode(&mut encoder, &frame)?;
        held.add(picture.jpeg.len());
        Ok(picture)
    };
    let SampledVideo { frames, time_base, frame_count, facts } = video.sample_with(choose, &mut make)?;
    let pictures = frames.into_iter().collect::<Result<_, ClipFailure>>()?;
    Ok(Source { pictures, time_base, frame_count, facts })
}

/// Refuses to choose pictures by time when nobody said how much time lies between them.
fn needs_times(item: &Item, options: &PackOptions) -> Result<(), ClipFailure> {
    let by_time = item.segment.is_some() || matches!(options.pace, Some(Pace::Fps(_)));
    if by_time && options.picture_rate.is_none() {
        let message = "pictures have no times of their own to choose by; say how many are a second (--picture-fps)";
        return Err(ClipFailure::new(PackStage::Video(Stage::Sample), message));
    }
    Ok(())
}

/// The frames of each draw, as ordinals of the whole video. `declined` is set if it is to be left out for its length.
fn select(item: &Item, options: &PackOptions, timeline: &Timeline, declined: &Cell<bool>) -> Result<Vec<Selection>> {
    let Some(segment) = item.segment else {
        return select_within(item, options, timeline, declined);
    };
    let inside = segment.frames(timeline, options.segment_clock);
    if inside.is_empty() {
        let (first, last) = options.segment_clock.span(timeline).unwrap_or_default();
        let found = format!("{} frames from {first:.3} to {last:.3} s", timeline.pts.len());
        return Err(Error::usage(format!("no frame lies {segment}")).found(found));
    }
    let pick = |i: &u32| (timeline.pts[*i as usize], timeline.key[*i as usize]);
    let (pts, key) = inside.iter().map(pick).unzip();
    let part = Timeline { pts, key, time_base: timeline.time_base, player_zero: timeline.player_zero };
    let mut selections = select_within(item, options, &part, declined)?;
    for frame in selections.iter_mut().flat_map(|s| &mut s.frames) {
        *frame = inside[*frame as usize];
    }
    Ok(selections)
}

fn select_within(
    item: &Item,
    options: &PackOptions,
    timeline: &Timeline,
    declined: &Cell<bool>,
) -> Result<Vec<Selection>> {
    if let Some(pace) = options.pace {
        let frames = pace.choose(&timeline.pts, &timeline.key, timeline.time_base, options.max_frames)?;
        return Ok(vec![Selection { frames, short: false }]);
    }
    let n = timeline.frame_count();
    let draw = |draw| {
        let PackOptions { rule, short, frames, seed, .. } = *options;
        sampler::select_draw(rule, short, n, frames, seed, item.ordinal, draw)?.ok_or_else(|| {
            declined.set(true);
            Error::usage(format!("{n} frames decode, too few for {frames} by rule \"{rule}\"; left out as asked for"))
        })
    };
    (0..options.draws).map(draw).collect()
}

/// The encoder that the options ask for.
pub(super) fn encoder(options: &PackOptions) -> Result<Encoder, Error> {
    let mut encoder = Encoder::new(options.quality)?;
    encoder.optimize_tables(options.optimize)?;
    Ok(encoder)
}

/// What an encoder keeps for itself: room for the largest JPEG, and a copy of luma with even sides.
const ENCODER_BYTES_PER_PIXEL: u64 = 6;

fn encode(encoder: &mut Encoder, frame: &SampledFrame) -> Result<Picture, ClipFailure> {
    let mut jpeg = Vec::new();
    encoder.encode(&frame.image, &mut jpeg).map_err(not_encoded)?;
    let size = (frame.image.width(), frame.image.height());
    Ok(Picture { jpeg, size, pts: frame.pts, source_index: frame.source_index })
}

fn not_encoded(e: Error) -> ClipFailure {
    ClipFailure::of(PackStage::Encode, &e)
}

impl Source {
    /// Keeps what was found of a further picture.
    pub fn take_facts(&mut self, facts: VideoFacts) {
        if self.pictures.is_empty() {
            self.facts = facts;
            return;
        }
        self.facts.decode_errors += facts.decode_errors;
        self.facts.corrupt_packets += facts.corrupt_packets;
        self.facts.damaged_frames += facts.damaged_frames;
        self.facts.logged_errors += facts.logged_errors;
        self.facts.first_error = self.facts.first_error.take().or(facts.first_error);
    }

    /// What is kept of the source in the clip's attributes, under the key `video`.
    fn describe(&self) -> Value {
        let mut facts = serde_json::to_value(&self.facts).unwrap_or_default();
        if let Value::Object(map) = &mut facts {
            map.insert("frames".into(), self.frame_count.into());
            map.retain(|_, v| !v.is_null());
        }
        facts
    }
}

/// The clip of one draw.
fn assemble(
    item: &Item,
    source: &Source,
    jpegs: &Arc<Vec<Vec<u8>>>,
    selection: &Selection,
    draw: u32,
    options: &PackOptions,
) -> Result<PackedClip, ClipFailure> {
    let mut sizes = Vec::with_capacity(selection.frames.len());
    let mut frames = Vec::with_capacity(selection.frames.len());
    for &wanted in &selection.frames {
        let jpeg = source.pictures.binary_search_by_key(&wanted, |p| p.source_index);
        let jpeg = jpeg.map_err(|_| ClipFailure::missing_frame())?;
        let Picture { pts, size, .. } = source.pictures[jpeg];
        sizes.push(size);
        frames.push(PackedFrame { jpeg, pts, source_index: wanted });
    }
    let first = *sizes.first().ok_or_else(ClipFailure::missing_frame)?;
    let (width, height) = if sizes.iter().all(|&size| size == first) { first } else { (0, 0) };
    let mut attributes = item.attributes.to_map();
    attributes.insert("video".into(), source.describe());
    if options.draws > 1 {
        attributes.insert("draw".into(), draw.into());
    }
    let info = ClipInfo {
        label: item.label,
        source: item.source.clone(),
        class: item.class.clone(),
        attributes,
        width,
        height,
        time_base: source.time_base,
        short: selection.short,
    };
    let mut clip = PackedClip { info, jpegs: Arc::clone(jpegs), frames, facts: source.facts.clone() };
    if let (true, Some(Value::Object(video))) = (selection.short, clip.info.attributes.get_mut("video")) {
        video.insert("repeated_frames".into(), repeated_frames(&clip.frames).into());
    }
    Ok(clip)
}

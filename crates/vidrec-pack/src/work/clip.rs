//! Turns one video into its clip or draws: sample, encode, describe. Runs on the worker threads.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde_json::Value;

use super::choose::{check_times, clock_start, select};
use super::memory::{self, HeldMemory};
use super::options::ClipRecipe;
use super::packed::{PackedClip, PackedFrame, PackedVideo, repeated_frames};
use super::video::EncodedFrame;
use super::{pictures, tracks, video};
use crate::plan::{Job, nanoseconds};
use crate::video::{SampledVideo, Stage, Timeline, VideoError};
use vidrec_core::dataset::writer::{ClipInfo, EncodedTrack};
use vidrec_format::error::Error;
use vidrec_format::json_object::JsonObject;
use vidrec_format::sampler::Selection;

/// One video in this many has its frames compared with the encoded JPEGs, for the report. The number is high
/// enough that the comparison costs next to nothing.
const ONE_MEASURED_OF: u64 = 32;

/// Samples and encodes a video, and returns its clip, or one clip for each draw.
///
/// A panic is a bug in vidrec and fails only this video. `held` counts the JPEGs as they are made. `alone` says
/// that no other video is being packed.
pub(crate) fn pack_one(
    job: &Job,
    recipe: ClipRecipe<'_>,
    held: &mut HeldMemory<'_>,
    alone: bool,
) -> Result<PackedVideo, VideoError> {
    let mut needed = memory::PER_THREAD;
    let pack = AssertUnwindSafe(|| sample_and_encode(job, recipe, held, &mut needed));
    let packed = catch_unwind(pack).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(VideoError::internal(format!("{text}; please report this as a bug")))
    });
    let packed = packed.map_err(|failure| if alone { failure.when_alone(needed) } else { failure });
    // JPEGs that were made and then thrown away no longer count.
    held.set(packed.as_ref().map_or(0, PackedVideo::held_bytes));
    packed
}

fn sample_and_encode(
    job: &Job,
    recipe: ClipRecipe<'_>,
    held: &mut HeldMemory<'_>,
    needed: &mut u64,
) -> Result<PackedVideo, VideoError> {
    if let Some(fault) = &job.fault {
        return Err(VideoError::new(Stage::Open, Error::decode(&**fault)));
    }
    #[cfg(debug_assertions)]
    super::tests::fault::decoder(&job.source, recipe.store)?;
    let recipe = ClipRecipe { measure: recipe.measure || job.ordinal.is_multiple_of(ONE_MEASURED_OF), ..recipe };
    // A timeout beyond the range of the clock means no timeout.
    let deadline = Instant::now().checked_add(recipe.limits.timeout.0);
    let too_few = Cell::new(false);
    let choose = |timeline: &Timeline| {
        let selections = select(job, recipe, timeline, &too_few)?.selections;
        let mut wanted: Vec<u32> = selections.iter().flat_map(|s| s.frames.iter().copied()).collect();
        wanted.sort_unstable();
        Ok(wanted)
    };
    let source = if recipe.store.is_folder(&job.path) {
        check_times(job, recipe)?;
        pictures::sample(job, recipe, &choose)
    } else {
        video::sample(&job.path, recipe, held, needed, &choose)
    };
    let mut source = source.map_err(|failure| match failure.stage {
        Stage::Sample if too_few.get() => VideoError { stage: Stage::Short, ..failure },
        _ => failure,
    })?;
    let timeline = &source.timeline;
    let sample = |e| VideoError::new(Stage::Sample, e);
    let choice = select(job, recipe, timeline, &too_few).map_err(sample)?;
    let window = tracks::window(job, recipe, timeline);
    let begin = clock_start(job, recipe.input.segments, timeline);
    let (sound, facts) = tracks::sound_of_video(job, recipe, tracks::part(window.as_ref()), deadline)?;
    source.facts.audio = facts;
    (source.facts.thinned, source.facts.time_gap) = (choice.thinned, choice.gap);
    let jpegs = source.frames.iter_mut().map(|frame| std::mem::take(&mut frame.jpeg)).collect();
    let psnr = source.frames.iter().filter_map(|frame| frame.psnr).collect();
    source.frames.iter_mut().for_each(|frame| frame.pts = frame.pts.saturating_sub(begin));
    let begin_ns = nanoseconds(begin, source.time_base);
    let draws = recipe.frames.draws > 1;
    let clip = |(draw, selection): (u32, &Selection)| {
        let mut clip = assemble(job, &source, selection, draws.then_some(draw))?;
        let mut tracks = tracks::of_clip(job, recipe, window.as_ref(), &selection.frames, held.memory())?;
        tracks.extend(sound.clone());
        clip.tracks = tracks.into_iter().map(|track| earlier(track, begin_ns)).collect::<Result<_, _>>()?;
        held.add(clip.tracks.iter().map(|track| track.bytes.len()).sum());
        Ok(clip)
    };
    let clips = (0..).zip(&choice.selections).map(clip).collect::<Result<_, _>>()?;
    Ok(PackedVideo { clips, jpegs, psnr, facts: source.facts })
}

/// Moves a track to a clock that begins later.
fn earlier(track: EncodedTrack, by_ns: i64) -> Result<EncodedTrack, VideoError> {
    if by_ns == 0 {
        return Ok(track);
    }
    let Some((facts, bytes)) = track.payload().earlier(by_ns) else {
        let e = Error::limit(format!("track \"{}\": a time does not fit into 64 bits", track.schema.name));
        return Err(VideoError::new(Stage::Track, e));
    };
    let bytes = bytes.into_owned();
    Ok(EncodedTrack { facts, bytes, ..track })
}

/// Assembles the clip of one draw, without its JPEGs and tracks. `draw` is its number if the video has several draws.
fn assemble(
    job: &Job,
    source: &SampledVideo<EncodedFrame>,
    selection: &Selection,
    draw: Option<u32>,
) -> Result<PackedClip, VideoError> {
    let mut sizes = Vec::with_capacity(selection.frames.len());
    let mut frames = Vec::with_capacity(selection.frames.len());
    for &wanted in &selection.frames {
        let jpeg = source.frames.binary_search_by_key(&wanted, |frame| frame.source_index);
        let jpeg = jpeg.map_err(|_| VideoError::missing_frame())?;
        let EncodedFrame { pts, size, .. } = source.frames[jpeg];
        sizes.push(size);
        frames.push(PackedFrame { jpeg, pts, source_index: wanted });
    }
    let first = *sizes.first().ok_or_else(VideoError::missing_frame)?;
    let (width, height) = if sizes.iter().all(|&size| size == first) { first } else { (0, 0) };
    let mut video = serde_json::to_value(&source.facts).unwrap_or_default();
    if let Value::Object(video) = &mut video {
        video.insert("frames".into(), source.frame_count.into());
        video.retain(|_, v| !v.is_null());
        if selection.short {
            video.insert("repeated_frames".into(), repeated_frames(&frames).into());
        }
    }
    let mut attributes = job.attributes.to_map();
    attributes.insert("video".into(), video);
    attributes.extend(draw.map(|draw| ("draw".into(), draw.into())));
    let info = ClipInfo {
        label: job.label,
        source: job.source.clone(),
        class: job.class.to_string(),
        attributes: JsonObject(attributes),
        width,
        height,
        time_base: source.time_base,
        short: selection.short,
    };
    Ok(PackedClip { info, frames, tracks: Vec::new() })
}

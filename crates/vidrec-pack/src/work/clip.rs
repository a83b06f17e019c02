//! Turns one video into its clip or draws: sample, encode, describe. Runs on the worker threads.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::choose::{ChoiceNotes, needs_times, select, zero};
use super::encoded_source::{EncodedPicture, EncodedSource};
use super::failure::{ClipFailure, PackStage};
use super::memory::{self, HeldMemory};
use super::options::ClipRecipe;
use super::packed::{PackedClip, PackedFrame, held_bytes, repeated_frames};
use super::quality::Quality;
use super::tracks::TrackSource;
use super::{fault, pictures, sound, video};
use crate::plan::{self, Job, nanoseconds};
use crate::video::{Stage, Timeline};
use vidrec_core::dataset::writer::{ClipInfo, EncodedTrack};
use vidrec_core::store::location::is_remote;
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
) -> Result<Vec<PackedClip>, ClipFailure> {
    let needed = Cell::new(memory::PER_THREAD);
    let pack = AssertUnwindSafe(|| sample_and_encode(job, recipe, held, &needed));
    let packed = catch_unwind(pack).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(ClipFailure::new(PackStage::Internal, format!("{text}; please report this as a bug")))
    });
    let packed = packed.map_err(|failure| if alone { failure.when_alone(needed.get()) } else { failure });
    // JPEGs that were made and then thrown away no longer count.
    held.set(packed.as_ref().map_or(0, |clips| held_bytes(clips)));
    packed
}

fn sample_and_encode(
    job: &Job,
    recipe: ClipRecipe<'_>,
    held: &mut HeldMemory<'_>,
    needed: &Cell<u64>,
) -> Result<Vec<PackedClip>, ClipFailure> {
    if let Some(fault) = &job.fault {
        return Err(ClipFailure::new(PackStage::Video(Stage::Open), &**fault));
    }
    fault::decoder(&job.source, recipe.store)?;
    let recipe = ClipRecipe { measure: recipe.measure || job.ordinal.is_multiple_of(ONE_MEASURED_OF), ..recipe };
    // The last choice counts: the first one may rest on an estimate of the number of frames.
    let chosen: RefCell<Vec<Selection>> = RefCell::default();
    // A timeout beyond the range of the clock means no timeout.
    let deadline = Instant::now().checked_add(recipe.limits.timeout.0);
    let notes = ChoiceNotes::default();
    let tracks = TrackSource::new(job, recipe);
    let begin = Cell::new(0);
    let choose = |timeline: &Timeline| {
        notes.declined.set(false);
        tracks.see(timeline);
        begin.set(zero(job, recipe.input.segments, timeline));
        let selections = select(job, recipe, timeline, &notes)?;
        let mut wanted: Vec<u32> = selections.iter().flat_map(|s| s.frames.iter().copied()).collect();
        wanted.sort_unstable();
        *chosen.borrow_mut() = selections;
        Ok(wanted)
    };
    let is_kept = recipe.pictures.quality == Quality::Original && plan::is_jpeg(&job.path) && !is_remote(&job.path);
    let source = if recipe.store.is_folder(&job.path) || is_kept {
        needs_times(job, recipe)?;
        pictures::sample(job, recipe, &choose)
    } else {
        video::sample(&job.path, recipe, held, needed, &choose)
    };
    let mut source = source.map_err(|failure| {
        let skipped = failure.stage == PackStage::Video(Stage::Sample) && notes.declined.get();
        if skipped { ClipFailure { stage: PackStage::Short, ..failure } } else { failure }
    })?;
    let (sound, facts) = sound::of_video(job, recipe, tracks.part(), deadline)?;
    source.facts.audio = facts;
    source.facts.thinned = notes.thinned.get();
    source.facts.time_gap = notes.gap.get();
    let jpegs = Arc::new(source.pictures.iter_mut().map(|p| std::mem::take(&mut p.jpeg)).collect());
    let measured = Arc::new(source.pictures.iter().filter_map(|p| p.measured).collect());
    let quality = recipe.pictures.quality.target().and_then(|_| source.describe_quality());
    let draws = recipe.frames.draws > 1;
    source.pictures.iter_mut().for_each(|picture| picture.pts = picture.pts.saturating_sub(begin.get()));
    let begin_ns = nanoseconds(begin.get(), source.time_base);
    let clip = |(draw, selection): (u32, &Selection)| {
        let clip = assemble(job, &source, &jpegs, selection, draws.then_some(draw))?;
        let clip = PackedClip { measured: Arc::clone(&measured), ..with_quality(clip, quality.as_ref()) };
        let mut tracks = tracks.of_clip(&selection.frames, held.memory())?;
        tracks.extend(sound.clone());
        tracks = tracks.into_iter().map(|track| earlier(track, begin_ns)).collect::<Result<_, _>>()?;
        held.add(tracks.iter().map(|track| track.bytes.len()).sum());
        Ok(PackedClip { tracks, ..clip })
    };
    (0..).zip(&chosen.into_inner()).map(clip).collect()
}

/// Moves a track to a clock that begins later.
fn earlier(track: EncodedTrack, by_ns: i64) -> Result<EncodedTrack, ClipFailure> {
    if by_ns == 0 {
        return Ok(track);
    }
    let Some((facts, bytes)) = track.payload().earlier(by_ns) else {
        let e = Error::limit(format!("track \"{}\": a time does not fit into 64 bits", track.schema.name));
        return Err(ClipFailure::of(PackStage::Track, &e));
    };
    let bytes = bytes.into_owned();
    Ok(EncodedTrack { facts, bytes, ..track })
}

/// Adds the quality of the JPEGs to the attributes of the clip. It goes into the object `video`, next to the facts
/// about the video.
fn with_quality(mut clip: PackedClip, quality: Option<&Value>) -> PackedClip {
    if let (Some(quality), Some(Value::Object(video))) = (quality, clip.info.attributes.0.get_mut("video")) {
        video.insert("jpeg".into(), quality.clone());
    }
    clip
}

/// Assembles the clip of one draw. `draw` is its number if the video has several draws.
fn assemble(
    job: &Job,
    source: &EncodedSource,
    jpegs: &Arc<Vec<Vec<u8>>>,
    selection: &Selection,
    draw: Option<u32>,
) -> Result<PackedClip, ClipFailure> {
    let mut sizes = Vec::with_capacity(selection.frames.len());
    let mut frames = Vec::with_capacity(selection.frames.len());
    for &wanted in &selection.frames {
        let jpeg = source.pictures.binary_search_by_key(&wanted, |p| p.source_index);
        let jpeg = jpeg.map_err(|_| ClipFailure::missing_frame())?;
        let EncodedPicture { pts, size, .. } = source.pictures[jpeg];
        sizes.push(size);
        frames.push(PackedFrame { jpeg, pts, source_index: wanted });
    }
    let first = *sizes.first().ok_or_else(ClipFailure::missing_frame)?;
    let (width, height) = if sizes.iter().all(|&size| size == first) { first } else { (0, 0) };
    let mut attributes = job.attributes.to_map();
    attributes.insert("video".into(), source.describe());
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
    let mut clip = PackedClip {
        info,
        jpegs: Arc::clone(jpegs),
        frames,
        measured: Arc::default(),
        facts: source.facts.clone(),
        tracks: Vec::new(),
    };
    if let (true, Some(Value::Object(video))) = (selection.short, clip.info.attributes.0.get_mut("video")) {
        video.insert("repeated_frames".into(), repeated_frames(&clip.frames).into());
    }
    Ok(clip)
}

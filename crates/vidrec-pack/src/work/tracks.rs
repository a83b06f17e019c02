//! Makes the tracks of a clip from its row of the manifest.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use super::memory::MemoryBound;
use super::options::ClipRecipe;
use super::video;
use crate::plan::{Job, Segment};
use crate::track::{EpisodeFrames, ReadVideo, TrackFiles, Window};
use crate::video::{AudioFacts, AudioOptions, MAX_AUDIO_BYTES, Sound, Stage, Timeline, VideoError, read_audio};
use vidrec_core::dataset::writer::{EncodedTrack, Track, TrackTimes, TrackValues};
use vidrec_format::error::Error;
use vidrec_format::track::schema::TrackSchema;

/// Returns the part of a video that its clip covers, if the clip has tracks or sound.
pub(super) fn window(job: &Job, recipe: ClipRecipe<'_>, timeline: &Timeline) -> Option<Window> {
    let is_needed = job.tracks.is_some() || recipe.input.audio.is_some();
    is_needed.then(|| recipe.input.segments.window(timeline, job.segment))
}

/// Returns a part of a video in nanoseconds on the clock of its pts. An open side is the least or the greatest number.
pub(super) fn part(window: Option<&Window>) -> (i64, i64) {
    let segment = window.and_then(|window| Some((window.segment?, window.to_clip)));
    segment.map_or((i64::MIN, i64::MAX), |(segment, to_clip)| {
        let start = if segment.from_first { i64::MIN } else { segment.start.saturating_add(to_clip) };
        (start, if segment.end == i64::MAX { i64::MAX } else { segment.end.saturating_add(to_clip) })
    })
}

/// Returns the tracks of a clip with these frames. Videos are decoded within `memory`.
pub(super) fn of_clip(
    job: &Job,
    recipe: ClipRecipe<'_>,
    window: Option<&Window>,
    frames: &[u32],
    memory: &MemoryBound,
) -> Result<Vec<EncodedTrack>, VideoError> {
    let (Some(row), Some(window)) = (&job.tracks, window) else { return Ok(Vec::new()) };
    let window = Window { chosen: frames.iter().map(|&frame| frame as usize).collect(), ..window.clone() };
    // If the machine or the network is at fault, the run has to stop, as with the video of the frames.
    let failed = RefCell::new(None);
    let to_error = |failure: VideoError| {
        let e = Error::usage(&*failure.message);
        *failed.borrow_mut() = Some(failure);
        e
    };
    let open = |path: &Path| recipe.store.open(path);
    let list = |folder: &Path| recipe.store.pictures(folder).map_err(to_error);
    let video: ReadVideo<'_> = &|(path, frames), choose, encode| {
        let episode = frames.map(|frames| Ok((frames, segment(job, frames)?))).transpose();
        let episode = episode.map_err(|e: String| Error::usage(e))?;
        video::numbers((path, episode), recipe, memory, choose, encode).map_err(to_error)
    };
    let how = TrackFiles { open: &open, list: &list, video };
    let tracks = recipe.tracks.iter().enumerate();
    let made = tracks.filter_map(|(number, track)| track.of_clip(number, row, &window, how).transpose());
    made.collect::<Result<_, _>>().map_err(|e| match failed.take() {
        Some(failure) => VideoError { stage: Stage::Track, message: format!("{e:#}"), ..failure },
        None => VideoError::new(Stage::Track, e),
    })
}

/// Returns the part of its video that an episode is. If the clip is all of its own video, so is the episode.
fn segment(job: &Job, frames: EpisodeFrames) -> Result<Segment, String> {
    let whole = job.segment.filter(|segment| segment.end_us.is_none());
    whole.map_or_else(|| frames.segment(), Ok)
}

/// The name of the track.
const SOUND: &str = "audio";

/// Returns the type and timing of the track of sound.
pub(crate) fn sound_schema(options: &AudioOptions) -> TrackSchema {
    track(options, Sound { samples: Vec::new(), channels: options.channels.count(), first_ns: 0 }).schema()
}

fn track(options: &AudioOptions, sound: Sound) -> Track {
    let shape = if sound.channels == 1 { Vec::new() } else { vec![sound.channels] };
    Track {
        name: SOUND.into(),
        values: TrackValues::I16(sound.samples),
        shape,
        times: TrackTimes::Rate { first_ns: sound.first_ns, rate: (options.rate, 1) },
        nan: false,
        coding: options.coding,
        lists: None,
    }
}

/// Reads the sound of `part` of a video, if the options ask for it and the video has any. Also returns the facts
/// about the sound.
///
/// `part` is in nanoseconds on the clock of the video's pts.
pub(super) fn sound_of_video(
    job: &Job,
    recipe: ClipRecipe<'_>,
    part: (i64, i64),
    deadline: Option<Instant>,
) -> Result<(Option<EncodedTrack>, Option<AudioFacts>), VideoError> {
    let Some(options) = recipe.input.audio else { return Ok((None, None)) };
    if recipe.store.is_folder(&job.path) {
        return Ok((None, Some(AudioFacts::default())));
    }
    let deadline = deadline.unwrap_or_else(|| Instant::now() + Duration::from_secs(100 * 365 * 86_400));
    let file = recipe.store.file(&job.path)?;
    let read = match job.segment {
        // Other clips of the video follow.
        Some(_) => {
            let kept = &recipe.store.open_videos.sound;
            let stamp = recipe.shared.map(|stamp| (stamp.bytes, stamp.modified_ns));
            kept.read_part((&file, stamp), &options, part, deadline)
        }
        None => read_audio(&file, &options, part, MAX_AUDIO_BYTES, deadline),
    };
    let (sound, facts) = read.map_err(|e| match e.stage {
        // Errors that concern only the sound get a stage of their own.
        Stage::Decode => VideoError { stage: Stage::Track, ..e },
        _ => e,
    })?;
    let encoded = sound.map(|sound| track(&options, sound).encode(0)).transpose();
    Ok((encoded.map_err(|e| VideoError::new(Stage::Track, e))?, Some(facts)))
}

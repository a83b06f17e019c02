//! Reads the sound of a video as a track.

use std::time::{Duration, Instant};

use super::failure::{ClipFailure, PackStage};
use super::options::ClipRecipe;
use super::packed::PackedClip;
use crate::plan::Job;
use crate::video::{AudioFacts, AudioOptions, MAX_AUDIO_BYTES, Sound, Stage, read_audio};
use vidrec_core::dataset::writer::Track;
use vidrec_core::dataset::writer::{EncodedTrack, TrackTimes, TrackValues};
use vidrec_format::track::schema::TrackSchema;

/// The name of the track.
pub(crate) const SOUND: &str = "audio";

/// Returns the schema that the sound tracks of all clips share.
pub(crate) fn sound_schema(options: &AudioOptions, channels: Option<u32>) -> TrackSchema {
    let channels = options.channels.count().or(channels).unwrap_or(1);
    track(options, Sound { samples: Vec::new(), channels, first_ns: 0 }).schema()
}

/// Returns the number of channels of a clip's sound; `None` if it has no sound.
pub(crate) fn sound_channels(clip: &PackedClip) -> Option<u32> {
    let track = clip.tracks.iter().find(|track| track.schema.name == SOUND)?;
    Some(track.schema.shape.first().copied().unwrap_or(1))
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
    }
}

/// Reads the sound of `part` of a video, if the options ask for it and the video has any. Also returns the facts
/// about the sound.
///
/// `part` is in nanoseconds on the clock of the video's pts.
pub(super) fn of_video(
    job: &Job,
    recipe: ClipRecipe<'_>,
    part: (i64, i64),
    deadline: Option<Instant>,
) -> Result<(Option<EncodedTrack>, Option<AudioFacts>), ClipFailure> {
    let Some(options) = recipe.input.audio else { return Ok((None, None)) };
    if recipe.store.is_folder(&job.path) {
        return Ok((None, Some(AudioFacts::default())));
    }
    let deadline = deadline.unwrap_or_else(|| Instant::now() + Duration::from_secs(100 * 365 * 86_400));
    let file = recipe.store.file(&job.path)?;
    let options_and_channels = (&options, recipe.channels);
    let read = match job.segment {
        // Other clips of the video follow.
        Some(_) => {
            let kept = &recipe.store.open.sound;
            let stamp = recipe.shared.map(|stamp| (stamp.bytes, stamp.modified_ns));
            kept.read_part((&file, stamp), options_and_channels, part, deadline)
        }
        None => read_audio(&file, options_and_channels, part, MAX_AUDIO_BYTES, deadline),
    };
    let (sound, facts) = read.map_err(|e| {
        let failure = ClipFailure::from(e);
        // Errors that concern only the sound get a stage of their own.
        match failure.stage {
            PackStage::Video(Stage::Decode) => ClipFailure { stage: PackStage::Track, ..failure },
            _ => failure,
        }
    })?;
    let encoded = sound.map(|sound| track(&options, sound).encode(0)).transpose();
    Ok((encoded.map_err(|e| ClipFailure::of(PackStage::Track, &e))?, Some(facts)))
}

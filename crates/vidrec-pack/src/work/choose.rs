//! Chooses which frames of a video go into its clips.

use std::cell::Cell;

use super::failure::{ClipFailure, PackStage};
use super::frame_choice::FrameChoice;
use super::options::{ClipRecipe, FrameOptions};
use crate::plan::Job;
use crate::track::PlannedTrack;
use crate::video::{Stage, Timeline};
use vidrec_format::error::{Error, Result};
use vidrec_format::track::schema::TrackTiming;
use vidrec_sampler::{Most, Pace, Selection};

/// Fails if frames of a folder of pictures would have to be chosen by time, but no picture rate was given.
pub(super) fn needs_times(job: &Job, recipe: ClipRecipe<'_>) -> Result<(), ClipFailure> {
    let options = recipe.frames;
    let has_times = |track: &PlannedTrack| track.schema().timing != TrackTiming::Frames;
    let by_time = job.segment.is_some()
        || (job.tracks.is_some() && recipe.tracks.iter().any(has_times))
        || matches!(options.frames, FrameChoice::At(Pace::Fps(_)));
    if by_time && recipe.input.picture_fps.is_none() && job.column.is_none() {
        let e = Error::usage("images have no times to choose by: give their frame rate");
        return Err(ClipFailure::of(PackStage::Video(Stage::Sample), &e));
    }
    Ok(())
}

/// What there is to say of the choice of frames.
#[derive(Default)]
pub(super) struct ChoiceNotes {
    /// The video is too short, and the options say to skip it.
    pub declined: Cell<bool>,
    /// The video has more frames than a clip may have.
    pub thinned: Cell<bool>,
}

/// Returns the frames of each draw, as ordinals of the whole video.
///
pub(super) fn select(
    job: &Job,
    ClipRecipe { input, frames: options, .. }: ClipRecipe<'_>,
    timeline: &Timeline,
    notes: &ChoiceNotes,
) -> Result<Vec<Selection>> {
    if input.images {
        // Of an animated picture, what programs show that do not know of animation.
        notes.thinned.set(timeline.frame_count() > 1);
        return Ok(vec![Selection { frames: (0..timeline.frame_count().min(1)).collect(), short: false }]);
    }
    let Some(segment) = job.segment else {
        return select_within(job, options, timeline, notes);
    };
    let inside = segment.frames(timeline, input.segments);
    if let Some(episode) = &job.episode {
        episode.check(timeline, &inside, input.segments)?;
    }
    if inside.is_empty() {
        let (first, last) = input.segments.span(timeline).unwrap_or_default();
        let found = format!("{} frames from {first:.3} to {last:.3} s", timeline.pts.len());
        return Err(Error::usage(format!("no frame lies {segment}")).found(found));
    }
    let pick = |i: &u32| (timeline.pts[*i as usize], timeline.key[*i as usize]);
    let (pts, key) = inside.iter().map(pick).unzip();
    let part = Timeline { pts, key, time_base: timeline.time_base, player_zero: timeline.player_zero };
    let mut selections = select_within(job, options, &part, notes)?;
    for frame in selections.iter_mut().flat_map(|s| &mut s.frames) {
        *frame = inside[*frame as usize];
    }
    Ok(selections)
}

fn select_within(
    job: &Job,
    options: &FrameOptions,
    timeline: &Timeline,
    notes: &ChoiceNotes,
) -> Result<Vec<Selection>> {
    let count = match options.frames {
        FrameChoice::Count(count) => count,
        FrameChoice::At(pace) => return paced(pace, options, timeline, &notes.thinned),
    };
    let n = timeline.frame_count();
    let draw = |draw| {
        let FrameOptions { sample: rule, short, seed, .. } = *options;
        vidrec_sampler::select_draw(rule, short, n, count, seed, job.ordinal, draw)?.ok_or_else(|| {
            notes.declined.set(true);
            Error::usage(format!("{n} frames decode, too few for {count} by rule \"{rule}\"; skipped as requested"))
        })
    };
    (0..options.draws).map(draw).collect()
}

/// Returns the frames of a video at a pace, at most as many as the options say. Sets `thinned` if there are more.
fn paced(pace: Pace, options: &FrameOptions, timeline: &Timeline, thinned: &Cell<bool>) -> Result<Vec<Selection>> {
    let choose = |most| pace.choose(&timeline.pts, &timeline.key, timeline.time_base, most);
    let most = options.max_frames.map(|most| if options.cut { Most::First(most) } else { Most::Spread(most) });
    if let Some(most) = options.max_frames {
        thinned.set(choose(Some(Most::First(most.saturating_add(1))))?.len() > most as usize);
    }
    Ok(vec![Selection { frames: choose(most)?, short: false }])
}

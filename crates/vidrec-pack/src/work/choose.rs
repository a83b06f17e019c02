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
use vidrec_sampler::{Pace, Selection};

/// Fails if frames of a folder of pictures would have to be chosen by time, but no picture rate was given.
pub(super) fn needs_times(job: &Job, recipe: ClipRecipe<'_>) -> Result<(), ClipFailure> {
    let options = recipe.frames;
    let has_times = |track: &PlannedTrack| track.schema().timing != TrackTiming::Frames;
    let by_time = job.segment.is_some()
        || (job.tracks.is_some() && recipe.tracks.iter().any(has_times))
        || matches!(options.frames, FrameChoice::At(Pace::Fps(_)));
    if by_time && recipe.input.picture_fps.is_none() {
        let e = Error::usage("images have no times to choose by: give their frame rate");
        return Err(ClipFailure::of(PackStage::Video(Stage::Sample), &e));
    }
    Ok(())
}

/// Returns the frames of each draw, as ordinals of the whole video.
///
/// Sets `declined` if the video is too short and the options say to skip it.
pub(super) fn select(
    job: &Job,
    ClipRecipe { input, frames: options, .. }: ClipRecipe<'_>,
    timeline: &Timeline,
    declined: &Cell<bool>,
) -> Result<Vec<Selection>> {
    let Some(segment) = job.segment else {
        return select_within(job, options, timeline, declined);
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
    let mut selections = select_within(job, options, &part, declined)?;
    for frame in selections.iter_mut().flat_map(|s| &mut s.frames) {
        *frame = inside[*frame as usize];
    }
    Ok(selections)
}

fn select_within(
    job: &Job,
    options: &FrameOptions,
    timeline: &Timeline,
    declined: &Cell<bool>,
) -> Result<Vec<Selection>> {
    let count = match options.frames {
        FrameChoice::Count(count) => count,
        FrameChoice::At(pace) => return paced(pace, options, timeline),
    };
    let n = timeline.frame_count();
    let draw = |draw| {
        let FrameOptions { sample: rule, short, seed, .. } = *options;
        vidrec_sampler::select_draw(rule, short, n, count, seed, job.ordinal, draw)?.ok_or_else(|| {
            declined.set(true);
            Error::usage(format!("{n} frames decode, too few for {count} by rule \"{rule}\"; skipped as requested"))
        })
    };
    (0..options.draws).map(draw).collect()
}

/// Returns the frames of a video at a pace: all, or at most as many as the options say.
fn paced(pace: Pace, options: &FrameOptions, timeline: &Timeline) -> Result<Vec<Selection>> {
    let most = options.max_frames;
    let thin = most.filter(|_| !options.cut);
    let mut frames = pace.choose(&timeline.pts, &timeline.key, timeline.time_base, thin)?;
    if let Some(most) = most {
        frames.truncate(most as usize);
    }
    Ok(vec![Selection { frames, short: false }])
}

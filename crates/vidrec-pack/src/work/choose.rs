//! Chooses which frames of a video go into its clips.

use std::cell::Cell;

use super::frame_choice::FrameChoice;
use super::grid::Grid;
use super::options::{ClipRecipe, FrameOptions};
use crate::plan::{Job, SegmentClock};
use crate::track::PlannedTrack;
use crate::video::{Stage, TimeGap, Timeline, VideoError};
use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::{self, Most, Pace, Selection};
use vidrec_format::track::schema::TrackTiming;

/// Fails if frames of a folder of pictures would have to be chosen by time, but no picture rate was given.
pub(super) fn check_times(job: &Job, recipe: ClipRecipe<'_>) -> Result<(), VideoError> {
    let options = recipe.frames;
    let has_times = |track: &PlannedTrack| track.schema().timing != TrackTiming::Frames;
    let by_time = job.segment.is_some()
        || (job.tracks.is_some() && recipe.tracks.iter().any(has_times))
        || matches!(options.frames, FrameChoice::At(Pace::Fps(_)));
    if by_time && recipe.input.picture_fps.is_none() && job.column.is_none() {
        let e = Error::usage("images have no times to choose by: give their frame rate");
        return Err(VideoError::new(Stage::Sample, e));
    }
    Ok(())
}

/// Returns the pts at which the clock of the clip begins. That of an episode begins with its first frame, because its cameras
/// may be in files that hold other episodes before it, or in none. Other clips keep the clock of their video.
pub(super) fn clock_start(job: &Job, clock: SegmentClock, timeline: &Timeline) -> i64 {
    let inside = job.segment.filter(|_| job.episode.is_some()).map(|segment| segment.frames(timeline, clock));
    let first = inside.and_then(|inside| inside.first().map(|&first| timeline.pts[first as usize]));
    first.unwrap_or(0)
}

/// The frames of a video's clips.
pub(super) struct Choice {
    /// The frames of each draw, as ordinals of the whole video.
    pub selections: Vec<Selection>,
    /// Whether the video has more frames than a clip may have.
    pub thinned: bool,
    /// A gap between frames that the grid skips.
    pub gap: Option<TimeGap>,
}

/// Chooses frames. Sets `too_few` if the video is too short, and the options say to skip it.
pub(super) fn select(
    job: &Job,
    ClipRecipe { input, frames: options, .. }: ClipRecipe<'_>,
    timeline: &Timeline,
    too_few: &Cell<bool>,
) -> Result<Choice> {
    too_few.set(false);
    let count = timeline.frame_count();
    if input.images {
        // Of an animated picture, programs that do not know of animation show the first frame.
        let first = Selection { frames: (0..count.min(1)).collect(), short: false };
        return Ok(Choice { selections: vec![first], thinned: count > 1, gap: None });
    }
    let inside = job.segment.map_or_else(|| (0..count).collect(), |segment| segment.frames(timeline, input.segments));
    if let Some(episode) = &job.episode {
        episode.check(timeline, &inside, input.segments)?;
    }
    if let (Some(segment), true) = (job.segment, inside.is_empty()) {
        let (first, last) = input.segments.span(timeline).unwrap_or_default();
        let found = format!("{} frames from {first:.3} to {last:.3} s", timeline.pts.len());
        return Err(Error::usage(format!("no frame lies {segment}")).found(found));
    }
    let (frames, mut choice) = match options.frames {
        FrameChoice::At(Pace::Fps(rate)) => {
            let grid = match job.segment {
                // The segment of an episode begins between its frames and those of the episode before.
                Some(segment) if job.episode.is_none() => Grid::of_segment(timeline, rate, segment, input.segments),
                _ => Grid::of_frames(timeline, rate, &inside),
            };
            let choose = |most| Pace::Fps(rate).choose(&grid.shown, &[], Some(grid.end), most);
            (grid.frames, Choice { gap: grid.gap, ..at_most(choose, options)? })
        }
        FrameChoice::At(pace) => {
            let (pts, key): (Vec<i64>, Vec<bool>) =
                inside.iter().map(|&i| (timeline.pts[i as usize], timeline.key[i as usize])).unzip();
            let choice = at_most(|most| pace.choose(&pts, &key, None, most), options)?;
            (inside, choice)
        }
        FrameChoice::Count(frames) => {
            let selections = draws(job, frames, inside.len() as u32, options, too_few)?;
            (inside, Choice { selections, thinned: false, gap: None })
        }
    };
    for frame in choice.selections.iter_mut().flat_map(|s| &mut s.frames) {
        *frame = frames[*frame as usize];
    }
    Ok(choice)
}

/// Returns the places of each draw among `n` frames.
fn draws(job: &Job, count: u32, n: u32, options: &FrameOptions, too_few: &Cell<bool>) -> Result<Vec<Selection>> {
    let draw = |draw| {
        let FrameOptions { sample: rule, short, seed, .. } = *options;
        sampler::select_draw(rule, short, n, count, seed, job.ordinal, draw)?.ok_or_else(|| {
            too_few.set(true);
            Error::usage(format!("{n} frames decode, too few for {count} by rule \"{rule}\"; skipped as requested"))
        })
    };
    (0..options.draws).map(draw).collect()
}

/// Returns the places that `choose` returns, at most as many as the options say.
fn at_most(choose: impl Fn(Option<Most>) -> Result<Vec<u32>>, options: &FrameOptions) -> Result<Choice> {
    let most = options.max_frames.map(|most| if options.cut { Most::First(most) } else { Most::Spread(most) });
    let thinned = match options.max_frames {
        Some(most) => choose(Some(Most::First(most.saturating_add(1))))?.len() > most as usize,
        None => false,
    };
    Ok(Choice { selections: vec![Selection { frames: choose(most)?, short: false }], thinned, gap: None })
}

//! Chooses which frames of a video go into its clips.

use std::cell::Cell;

use super::failure::{ClipFailure, PackStage};
use super::frame_choice::FrameChoice;
use super::grid::Grid;
use super::options::{ClipRecipe, FrameOptions};
use crate::plan::{Job, SegmentClock};
use crate::track::PlannedTrack;
use crate::video::{Stage, TimeGap, Timeline};
use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::{FrameLimit, Rate, RateRule, Selection};
use vidrec_format::track::schema::TrackTiming;

/// Fails if frames of a folder of pictures would have to be chosen by time, but no picture rate was given.
pub(super) fn needs_times(job: &Job, recipe: ClipRecipe<'_>) -> Result<(), ClipFailure> {
    let options = recipe.frames;
    let has_times = |track: &PlannedTrack| track.schema().timing != TrackTiming::Frames;
    let by_time = job.segment.is_some()
        || (job.tracks.is_some() && recipe.tracks.iter().any(has_times))
        || matches!(options.frames, FrameChoice::At(RateRule::Fps(_)));
    if by_time && recipe.input.picture_fps.is_none() {
        let e = Error::usage("images have no times to choose by: give their frame rate");
        return Err(ClipFailure::of(PackStage::Video(Stage::Sample), &e));
    }
    Ok(())
}

/// Returns the pts at which the clock of the clip begins. That of an episode begins with its first frame, because its cameras
/// may be in files that hold other episodes before it, or in none. Other clips keep the clock of their video.
pub(super) fn zero(job: &Job, clock: SegmentClock, timeline: &Timeline) -> i64 {
    let inside = job.segment.filter(|_| job.episode.is_some()).map(|segment| segment.frames(timeline, clock));
    let first = inside.and_then(|inside| inside.first().map(|&first| timeline.pts[first as usize]));
    first.unwrap_or(0)
}

/// What there is to say of the choice of frames.
#[derive(Default)]
pub(super) struct ChoiceNotes {
    /// The video is too short, and the options say to skip it.
    pub declined: Cell<bool>,
    /// The video has more frames than a clip may have.
    pub thinned: Cell<bool>,
    /// A gap between frames that the grid skips.
    pub gap: Cell<Option<TimeGap>>,
}

/// Returns the frames of each draw, as ordinals of the whole video.
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
    let all = || (0..timeline.frame_count()).collect();
    let inside = job.segment.map_or_else(all, |segment| segment.frames(timeline, input.segments));
    if let Some(episode) = &job.episode {
        episode.check(timeline, &inside, input.segments)?;
    }
    if let (Some(segment), true) = (job.segment, inside.is_empty()) {
        let (first, last) = input.segments.span(timeline).unwrap_or_default();
        let found = format!("{} frames from {first:.3} to {last:.3} s", timeline.pts.len());
        return Err(Error::usage(format!("no frame lies {segment}")).found(found));
    }
    let (frames, mut selections) = match options.frames {
        FrameChoice::At(RateRule::Fps(rate)) => {
            let grid = match job.segment {
                // The segment of an episode begins between its frames and those of the episode before.
                Some(segment) if job.episode.is_none() => Grid::of_segment(timeline, rate, segment, input.segments),
                _ => Grid::of_frames(timeline, rate, &inside),
            };
            on_grid(rate, grid, options, notes)?
        }
        FrameChoice::At(pace) => paced(pace, inside, timeline, options, notes)?,
        FrameChoice::Count(count) => {
            let drawn = drawn(job, count, inside.len() as u32, options, notes)?;
            (inside, drawn)
        }
    };
    for frame in selections.iter_mut().flat_map(|s| &mut s.frames) {
        *frame = frames[*frame as usize];
    }
    Ok(selections)
}

/// Returns the places of each draw among `n` frames.
fn drawn(job: &Job, count: u32, n: u32, options: &FrameOptions, notes: &ChoiceNotes) -> Result<Vec<Selection>> {
    let draw = |draw| {
        let FrameOptions { sample: rule, short, seed, .. } = *options;
        vidrec_format::sampler::select_draw(rule, short, n, count, seed, job.ordinal, draw)?.ok_or_else(|| {
            notes.declined.set(true);
            Error::usage(format!("{n} frames decode, too few for {count} by rule \"{rule}\"; skipped as requested"))
        })
    };
    (0..options.draws).map(draw).collect()
}

/// Frames by ordinal, and the places of the chosen ones among them.
type Chosen = (Vec<u32>, Vec<Selection>);

fn on_grid(rate: Rate, grid: Grid, options: &FrameOptions, notes: &ChoiceNotes) -> Result<Chosen> {
    notes.gap.set(grid.gap);
    let choose = |most| RateRule::Fps(rate).choose(&grid.shown, &[], Some(grid.end), most);
    let selections = at_most(choose, options, &notes.thinned)?;
    Ok((grid.frames, selections))
}

fn paced(
    pace: RateRule,
    inside: Vec<u32>,
    timeline: &Timeline,
    options: &FrameOptions,
    notes: &ChoiceNotes,
) -> Result<Chosen> {
    let (pts, key): (Vec<i64>, Vec<bool>) =
        inside.iter().map(|&i| (timeline.pts[i as usize], timeline.key[i as usize])).unzip();
    let selections = at_most(|most| pace.choose(&pts, &key, None, most), options, &notes.thinned)?;
    Ok((inside, selections))
}

/// Returns what `choose` returns, at most as many frames as the options say. Sets `thinned` if there are more.
fn at_most(
    choose: impl Fn(Option<FrameLimit>) -> Result<Vec<u32>>,
    options: &FrameOptions,
    thinned: &Cell<bool>,
) -> Result<Vec<Selection>> {
    let most =
        options.max_frames.map(|most| if options.cut { FrameLimit::First(most) } else { FrameLimit::Spread(most) });
    if let Some(most) = options.max_frames {
        thinned.set(choose(Some(FrameLimit::First(most.saturating_add(1))))?.len() > most as usize);
    }
    Ok(vec![Selection { frames: choose(most)?, short: false }])
}

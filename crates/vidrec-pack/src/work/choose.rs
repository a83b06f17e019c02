//! Chooses which frames of a video go into its clips.

use std::cell::Cell;

use super::options::{ClipRecipe, FrameChoice, FrameOptions};
use crate::plan::{Job, Segment, SegmentClock};
use crate::track::PlannedTrack;
use crate::video::{Stage, TimeGap, Timeline, VideoError};
use vidrec_format::error::{Error, Result};
use vidrec_format::sampler::{self, FrameLimit, Rate, RateRule, Selection, nanoseconds_after_first};
use vidrec_format::track::schema::TrackTiming;

/// Fails if frames of a folder of pictures would have to be chosen by time, but no picture rate was given.
pub(super) fn check_times(job: &Job, recipe: ClipRecipe<'_>) -> Result<(), VideoError> {
    let options = recipe.frames;
    let has_times = |track: &PlannedTrack| track.schema().timing != TrackTiming::Frames;
    let by_time = job.segment.is_some()
        || (job.tracks.is_some() && recipe.tracks.iter().any(has_times))
        || matches!(options.frames, FrameChoice::At(RateRule::Fps(_)));
    if by_time && recipe.input.picture_fps.is_none() {
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
        FrameChoice::At(RateRule::Fps(rate)) => {
            let grid = match job.segment {
                // The segment of an episode begins between its frames and those of the episode before.
                Some(segment) if job.episode.is_none() => Grid::of_segment(timeline, rate, segment, input.segments),
                _ => Grid::of_frames(timeline, rate, &inside),
            };
            let choose = |most| RateRule::Fps(rate).choose(&grid.shown, &[], Some(grid.end), most);
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
fn at_most(choose: impl Fn(Option<FrameLimit>) -> Result<Vec<u32>>, options: &FrameOptions) -> Result<Choice> {
    let most =
        options.max_frames.map(|most| if options.cut { FrameLimit::First(most) } else { FrameLimit::Spread(most) });
    let thinned = match options.max_frames {
        Some(most) => choose(Some(FrameLimit::First(most.saturating_add(1))))?.len() > most as usize,
        None => false,
    };
    Ok(Choice { selections: vec![Selection { frames: choose(most)?, short: false }], thinned, gap: None })
}

/// The frames on the screen while a grid lasts.
pub(super) struct Grid {
    /// The ordinals of the frames.
    pub frames: Vec<u32>,
    /// When each of them is first shown, in nanoseconds after the grid begins. The first one may be shown before.
    pub shown: Vec<i64>,
    /// When the grid ends.
    pub end: i64,
    /// The longest gap in it that no rate explains, and that the grid therefore skips.
    pub gap: Option<TimeGap>,
}

/// Half a microsecond. The times of segments are rounded to microseconds, so a grid on a segment begins that much later and ends
/// that much earlier. A frame at the very start that was written is then on the screen when the grid begins.
const HALF_US: i64 = 500;

impl Grid {
    /// The grid of a rate on frames that follow each other, from the first of them to the end of the last.
    pub fn of_frames(timeline: &Timeline, rate: Rate, frames: &[u32]) -> Self {
        let exact = timeline.exact_at(rate);
        // The first of these frames is at 0 exactly: differences of times that were rounded down would put frames after their tick.
        let first = frames.first().and_then(|&first| exact.pts.get(first as usize)).copied().unwrap_or(0);
        let mut shown = nanoseconds_after_first(&[&[first], &exact.pts[..], &[exact.end]].concat(), exact.time_base);
        let end = shown.pop().unwrap_or(0);
        let shown = &shown[1..];
        let stop = frames.last().and_then(|&last| shown.get(last as usize + 1)).copied().unwrap_or(end);
        Grid::within(shown, end, (0, stop))
    }

    /// The grid of a rate on a segment: from its start, or from the first frame if that comes later, to its end or that of the last
    /// frame.
    pub fn of_segment(timeline: &Timeline, rate: Rate, segment: Segment, clock: SegmentClock) -> Self {
        let exact = timeline.exact_at(rate);
        let (shown, end) = clock.nanoseconds(timeline, &exact);
        let ns = |us: u64| i64::try_from(us).unwrap_or(i64::MAX).saturating_mul(1000);
        let first = shown.first().copied().unwrap_or(0);
        let start = if segment.start_us == 0 { first } else { first.max(ns(segment.start_us).saturating_add(HALF_US)) };
        let stop = segment.end_us.map_or(i64::MAX, |end| ns(end) - HALF_US);
        Grid::within(&shown, end, (start, end.min(stop)))
    }

    /// The grid from `start` to `stop` on frames that are shown at these times, the last one until `end`.
    fn within(shown: &[i64], end: i64, (start, stop): (i64, i64)) -> Self {
        let gaps = Gaps::of(shown, end);
        let first = shown.iter().rposition(|&ns| ns <= start).unwrap_or(0);
        let is_on_screen = |&(i, &ns): &(usize, &i64)| start < stop && (i == first || (i > first && ns < stop));
        let (frames, shown) = shown
            .iter()
            .enumerate()
            .filter(is_on_screen)
            .map(|(i, &ns)| (i as u32, gaps.closed(ns).saturating_sub(gaps.closed(start))))
            .unzip();
        let end = gaps.closed(stop).saturating_sub(gaps.closed(start));
        Grid { frames, shown, end, gap: gaps.longest_within(start, stop) }
    }
}

/// The gaps between frames that no rate of the video explains.
///
/// A few frames that a broken clock puts hours after all others would otherwise stand for hours of video. A gap counts if it is longer
/// than a minute, than ten times the middle step from frame to frame, and than thirty times all shorter steps together. The frame before
/// it lasts for the middle step, and a grid goes on from there with the frame after the gap.
struct Gaps {
    /// The start of each gap and its length, in nanoseconds, ascending.
    gaps: Vec<(i64, i64)>,
}

const MINUTE: i64 = 60_000_000_000;

impl Gaps {
    fn of(shown: &[i64], end: i64) -> Self {
        let next = shown.iter().skip(1).copied().chain([end]);
        let steps: Vec<(i64, i64)> = shown.iter().zip(next).map(|(&ns, next)| (ns, next.saturating_sub(ns))).collect();
        if steps.iter().all(|&(_, step)| step <= MINUTE) {
            return Gaps { gaps: Vec::new() };
        }
        let mut lengths: Vec<i64> = steps.iter().map(|&(_, step)| step).collect();
        let middle = (lengths.len() - 1) / 2;
        let middle = *lengths.select_nth_unstable(middle).1;
        let usual = MINUTE.max(middle.saturating_mul(10));
        let together: i64 = steps
            .iter()
            .filter(|&&(_, step)| (0..=usual).contains(&step))
            .map(|&(_, step)| step)
            .fold(0, i64::saturating_add);
        let most = usual.max(together.saturating_mul(30));
        let gap = |&(ns, step): &(i64, i64)| (step > most).then(|| (ns.saturating_add(middle), step - middle));
        Gaps { gaps: steps.iter().filter_map(gap).collect() }
    }

    /// Returns the time if all gaps before it are left out.
    fn closed(&self, ns: i64) -> i64 {
        let before = |&(start, length): &(i64, i64)| ns.saturating_sub(start).clamp(0, length);
        self.gaps.iter().map(before).fold(ns, i64::saturating_sub)
    }

    fn longest_within(&self, start: i64, stop: i64) -> Option<TimeGap> {
        let within = self.gaps.iter().filter(|&&(gap, length)| gap < stop && gap.saturating_add(length) > start);
        let (gap, length) = within.max_by_key(|(_, length)| *length)?;
        let seconds = |ns: i64| (ns as f64 / 1e6).round() / 1e3;
        Some(TimeGap { after_seconds: seconds(gap.saturating_sub(start)), seconds: seconds(*length) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slides_and_pauses_are_no_gaps() {
        for (shown, end) in [
            (vec![0], 7_200_000),
            (vec![0, 600_000], 1_200_000),
            (vec![0, 600_000, 630_000], 660_000),
            (vec![0, 40, 80, 120, 59_000], 59_040),
            ((0..3000).map(|i| i * 40 + if i > 1500 { 1_800_000 } else { 0 }).collect(), 2_000_000),
        ] {
            let end = end * 1_000_000;
            let shown: Vec<i64> = shown.iter().map(|ms| ms * 1_000_000).collect();
            let grid = Grid::within(&shown, end, (0, end));
            assert_eq!((grid.frames, grid.shown, grid.end), ((0..shown.len() as u32).collect(), shown, end));
        }
    }
}

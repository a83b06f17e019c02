//! The frames of a sample: which of the stored frames of a clip the rule of the options chooses.

use super::key::DrawKey;
use crate::dataset::{Clip, different_clocks};
use crate::loader::options::{Frames, ShortClips, Start, WindowPad};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::random::stream;
use vidrec_format::sampler::{self, RateRule, nanoseconds_after_first, unrounded_times};

/// The frames of a sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ChosenFrames {
    /// The frame at each place of the sample. `None` where zeros pad it.
    pub places: Vec<Option<u32>>,
    /// Whether each of them is a frame that was asked for.
    pub meant: Vec<bool>,
    /// The frame from which tracks count. `None` for a clip without frames.
    pub current: Option<u32>,
}

impl ChosenFrames {
    /// The frames, without those that pad the sample.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.places.iter().copied().flatten()
    }

    /// A sample without places yet, of which so many are to come.
    fn new(current: Option<u32>, places: usize) -> Self {
        ChosenFrames { places: Vec::with_capacity(places), meant: Vec::with_capacity(places), current }
    }

    /// Adds a place.
    fn push(&mut self, frame: Option<u32>, meant: bool) {
        self.places.push(frame);
        self.meant.push(meant);
    }

    /// Pads or cuts the sample to `length` places.
    fn resize(&mut self, length: u32) {
        self.places.resize(length as usize, None);
        self.meant.resize(length as usize, false);
    }
}

impl Frames {
    /// The number of frames of a clip that samples choose from: all, or those at the rate.
    pub(crate) fn in_clip(&self, clip: &Clip<'_>) -> Result<u32> {
        Ok(self.ticks(clip)?.map_or(clip.frame_count(), |ticks| ticks.len() as u32))
    }

    /// The stored frame on the screen at each tick of the rate. `None` without a rate or frames: each stored frame is then
    /// a tick.
    ///
    /// # Errors
    ///
    /// An index entry is damaged, or the rate is higher than that of the stored frames.
    pub(crate) fn ticks(&self, clip: &Clip<'_>) -> Result<Option<Vec<u32>>> {
        let Some(rate) = self.fps().filter(|_| clip.frame_count() > 0) else { return Ok(None) };
        let pts: Vec<i64> = clip.frame_entries()?.iter().map(|entry| entry.pts).collect();
        let stored = frames_per_second(&pts, clip.time_base());
        let (den, num) = rate.frame_seconds();
        // Times are rounded to the units of the stream, so 8 frames a second may appear to be 7.99.
        if f64::from(num) / f64::from(den) > stored * 1.01 {
            return Err(Error::usage("loader option fps: the rate is above that of the stored frames")
                .in_clip(clip.ordinal())
                .expected(format!("at most {stored:.3}"))
                .found(rate));
        }
        let exact = unrounded_times(&pts, clip.time_base(), Some(rate));
        let (pts, time_base) = exact.map_or((pts, clip.time_base()), |exact| (exact.pts, exact.time_base));
        let ticks = RateRule::Fps(rate).choose(&nanoseconds_after_first(&pts, time_base), &[], None, None);
        ticks.map(Some).map_err(|e| e.in_clip(clip.ordinal()))
    }

    /// The number of frames of a sample of a clip, at most `most`.
    pub(crate) fn length(&self, clip: &Clip<'_>, most: u32) -> Result<u32> {
        let frames = match self.count() {
            _ if clip.frame_count() == 0 => 0,
            Some(count) => count,
            None => self.in_clip(clip)?,
        };
        Ok(frames.min(self.most()).min(most))
    }

    /// The number of frames of the longest sample, of clips of at most `longest` frames.
    pub(crate) fn longest(&self, longest: u32) -> u32 {
        self.count().unwrap_or(longest.min(self.most()))
    }

    /// The number of frames that a clip must have for a sample of `count` frames.
    pub(crate) fn needs(&self, count: u32) -> u64 {
        match self {
            Frames::Windows { pad: WindowPad::Edge | WindowPad::Zero, .. } => 1,
            Frames::Windows { offsets, stride, .. } => {
                let (before, after) = offsets.reach();
                before.saturating_add(after).saturating_mul((*stride).into()).saturating_add(1)
            }
            Frames::Run { count, stride, .. } | Frames::Views { count, stride, .. } => sampler::span(*count, *stride),
            _ => count.into(),
        }
    }

    /// The number of samples of a clip of `n` frames that differ in time. Each has `count` frames.
    pub(crate) fn samples(&self, n: u32, count: u32) -> u64 {
        match *self {
            Frames::Views { views, .. } => views.into(),
            Frames::Windows { hop, .. } => u64::from(n).saturating_sub(self.needs(count)) / u64::from(hop) + 1,
            _ => 1,
        }
    }

    /// The number that [`SampleParams::view`](crate::loader::SampleParams::view) has for sample `number` of a clip.
    pub(crate) fn view(&self, number: u64) -> u32 {
        if let Frames::Views { .. } = self { number as u32 } else { 0 }
    }

    /// Chooses the frames of sample `number` of a clip of `n` frames, for a batch of `length` frames. If the clip is short,
    /// frames come more than once, unless they are padded.
    pub(crate) fn choose(&self, n: u32, length: u32, number: u64, key: DrawKey) -> ChosenFrames {
        let mut chosen = match self {
            _ if n == 0 => ChosenFrames::default(),
            Frames::Windows { offsets, stride, hop, pad, short, .. } => {
                // Without a pad, the first window begins at the first frame.
                let before =
                    if *pad == WindowPad::Drop { offsets.reach().0.saturating_mul((*stride).into()) } else { 0 };
                let current = i128::from(before) + i128::from(number) * i128::from(*hop);
                let repeats = *pad == WindowPad::Edge || *pad == WindowPad::Drop && *short == ShortClips::Repeat;
                window(n, current, offsets.iter().map(|offset| i128::from(offset) * i128::from(*stride)), repeats)
            }
            Frames::Run { count, stride, .. } | Frames::Views { count, stride, .. } => {
                self.runs(n, (*count, *stride), number, key)
            }
            _ => self.spread(n, length, key),
        };
        chosen.resize(length);
        chosen
    }

    /// The frames of one run, or several.
    fn runs(&self, n: u32, (count, stride): (u32, u32), number: u64, key: DrawKey) -> ChosenFrames {
        let repeats = self.short() != ShortClips::Pad;
        let is_short = self.needs(count) > n.into();
        // As many frames as the clip allows. Padding fills the rest of the run.
        let most = if repeats { count } else { n.div_ceil(stride).min(count) };
        let room = u64::from(n).saturating_sub(sampler::span(most, stride));
        let starts = match *self {
            Frames::Views { views: 1, .. } => vec![room / 2],
            // Both factors fit 32 bits.
            Frames::Views { views, .. } => vec![if is_short { 0 } else { number * room / u64::from(views - 1) }],
            Frames::Run { at: Start::Center, runs, .. } => {
                let middle = |run: u32| u128::from(2 * u64::from(run) + 1) * u128::from(room) / (2 * u128::from(runs));
                (0..runs).map(|run| middle(run) as u64).collect()
            }
            Frames::Run { runs, .. } => {
                let mut random = key.random(stream::TEMPORAL);
                let mut starts: Vec<u64> = (0..runs).map(|_| random.below(room + 1)).collect();
                starts.sort_unstable();
                starts
            }
            _ => Vec::new(),
        };
        let mut chosen = ChosenFrames::default();
        for start in starts {
            let run = window(n, start.into(), (0..count).map(|i| i128::from(i) * i128::from(stride)), repeats);
            chosen.current = chosen.current.or(run.current);
            chosen.places.extend(run.places);
            chosen.meant.extend(run.meant);
        }
        chosen
    }

    /// Frames that are spread over the clip.
    fn spread(&self, n: u32, length: u32, key: DrawKey) -> ChosenFrames {
        let count = self.count().unwrap_or(n.min(self.most())).min(length);
        let count = if self.short() == ShortClips::Pad { count.min(n) } else { count };
        let frames = match *self {
            Frames::Random { .. } => sampler::random(n, count, &mut key.random(stream::TEMPORAL)),
            Frames::Uniform { ends: true, rounding, .. } => sampler::linspace(n, count, rounding),
            _ => sampler::uniform(n, count),
        };
        let mut chosen = ChosenFrames::new(frames.first().copied(), length as usize);
        for (i, &frame) in frames.iter().enumerate() {
            chosen.push(Some(frame), count <= n || i == 0 || frame != frames[i - 1]);
        }
        chosen
    }
}

/// The frames at these offsets from a current frame, each with whether it exists. If it does not, the first or the last frame of the
/// clip is in its place, or nothing.
fn window(n: u32, current: i128, offsets: impl Iterator<Item = i128>, repeats: bool) -> ChosenFrames {
    let last = i128::from(n) - 1;
    let mut chosen = ChosenFrames::new(Some(current.clamp(0, last) as u32), offsets.size_hint().0);
    for offset in offsets {
        let place = current + offset;
        let exists = (0..=last).contains(&place);
        chosen.push((exists || repeats).then_some(place.clamp(0, last) as u32), exists);
    }
    chosen
}

/// The mean rate of frames with these times. NaN for a single frame, infinite if all times are equal.
fn frames_per_second(pts: &[i64], (num, den): (u32, u32)) -> f64 {
    let (first, last) = (pts.first().copied().unwrap_or(0), pts.iter().copied().max().unwrap_or(0));
    let seconds = last.saturating_sub(first) as f64 * f64::from(num) / f64::from(den);
    pts.len().saturating_sub(1) as f64 / seconds
}

/// Returns the frames of `other` that are nearest in time to `frames` of `clip`.
///
/// # Errors
///
/// The clips are not known to share a clock, no frame of `other` is within the mean time from one of its frames to the next,
/// or its frames are not in order of time.
pub(crate) fn together(clip: &Clip<'_>, frames: &[u32], other: &Clip<'_>) -> Result<Vec<u32>> {
    if frames.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(found) = different_clocks(clip, other)? {
        let e = Error::usage("the cameras of an episode are not known to share a clock").in_clip(other.ordinal());
        return Err(e.found(found).hint(Hint::Clock));
    }
    let times: Vec<f64> = (0..other.frame_count()).map(|t| other.seconds(t)).collect::<Result<_>>()?;
    let refuse = |what: &str| Error::usage(what).in_clip(other.ordinal());
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Err(refuse("the clip has no frames")) };
    if !times.is_sorted() {
        return Err(refuse("the frames of a camera are not in order of time"));
    }
    let apart = (last - first) / (times.len().max(2) - 1) as f64;
    let mut found = Vec::with_capacity(frames.len());
    for &t in frames {
        let time = clip.seconds(t)?;
        let after = times.partition_point(|&other| other < time).min(times.len() - 1);
        let before = after.saturating_sub(1);
        let nearest = if (time - times[before]).abs() <= (times[after] - time).abs() { before } else { after };
        // The clocks of several cameras differ by microseconds.
        if (times[nearest] - time).abs() > apart.max(1e-3) {
            return Err(refuse("a camera has no frame at the time of another camera's frame")
                .expected(format!("a frame at {time:.3} s"))
                .found(format!("frames from {first:.3} to {last:.3} s"))
                .help("the videos must be equally long"));
        }
        found.push(nearest as u32);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(rule: &Frames, n: u32, number: u64) -> Vec<u32> {
        rule.choose(n, 3, number, DrawKey { seed: 1, epoch: 0, sample: 2 }).frames().collect()
    }

    #[test]
    fn the_drawing_is_true() {
        assert_eq!(frames(&Frames::uniform(3), 10, 0), [1, 5, 8]);
        assert_eq!(frames(&Frames::uniform(3).with_ends(true), 10, 0), [0, 4, 9]);
        assert_eq!(frames(&Frames::run(3).with_stride(2).with_at(Start::Center), 10, 0), [2, 4, 6]);
        assert_eq!(frames(&Frames::run(1).with_runs(3).with_at(Start::Center), 10, 0), [1, 4, 7]);
        let views = Frames::views(3, 3).with_stride(2);
        assert_eq!([0, 1, 2].map(|k| frames(&views, 10, k)), [[0, 2, 4], [2, 4, 6], [5, 7, 9]]);
        assert_eq!(frames(&Frames::views(1, 3).with_stride(2), 10, 0), [2, 4, 6]);
        let dense = Frames::windows(3).with_stride(2).with_hop(3);
        assert_eq!(
            (dense.samples(10, 3), frames(&dense, 10, 0), frames(&dense, 10, 1)),
            (2, vec![0, 2, 4], vec![3, 5, 7])
        );
        let history = Frames::windows([-3, 0]);
        assert_eq!(
            (history.samples(10, 2), frames(&history, 10, 0), frames(&history, 10, 6)),
            (7, vec![0, 3], vec![6, 9])
        );
    }

    #[test]
    fn random_runs_begin_everywhere_and_stay_inside() {
        let rule = Frames::run(3).with_stride(3);
        let mut counts = [0; 4];
        for i in 0..4000 {
            let found: Vec<u32> = rule.choose(10, 3, 0, DrawKey { seed: 1, epoch: 0, sample: i }).frames().collect();
            assert!(found[1] == found[0] + 3 && found[2] == found[0] + 6);
            counts[found[0] as usize] += 1;
        }
        assert!(counts.iter().all(|c| (880..1120).contains(c)), "{counts:?}");
    }

    #[test]
    fn a_window_of_extremes_does_not_overflow() {
        for pad in [WindowPad::Edge, WindowPad::Zero] {
            let rule = Frames::windows([-2, -1, 0]).with_stride(u32::MAX).with_hop(u32::MAX).with_pad(pad);
            let number = rule.samples(u32::MAX, 3) - 1;
            let key = DrawKey { seed: 1, epoch: 0, sample: 2 };
            assert_eq!(rule.choose(u32::MAX, 3, number, key).meant, [false, false, true]);
            assert_eq!(rule.choose(0, 3, 0, key).places, [None; 3]);
        }
    }
}

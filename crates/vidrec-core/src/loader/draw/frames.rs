//! The frames of a sample: which of the stored frames of a clip the rule of the options chooses.

use super::key::DrawKey;
use crate::dataset::{Clip, different_clocks};
use crate::loader::options::{Frames, ShortClips, Start, WindowPad};
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::random::stream;
use vidrec_format::sampler::{self, RateRule, nanoseconds_after_first, unrounded_times};

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
        match self.stride() {
            _ if self.pad() != WindowPad::Drop => 1,
            Some(stride) => sampler::span(count, stride),
            None => count.into(),
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

    /// Chooses the frames of sample `number` of a clip, at most `length` of `n` frames. Returns them, and for each picture
    /// of the sample whether it is a frame that was asked for. If the clip is short, frames come more than once, unless they
    /// are padded. A window that is padded with zeros has only those frames that exist.
    pub(crate) fn choose(&self, n: u32, length: u32, number: u64, key: DrawKey) -> (Vec<u32>, Vec<bool>) {
        let count = self.count().unwrap_or(n.min(self.most())).min(length);
        if n == 0 {
            return Default::default();
        }
        if self.needs(count) > n.into() && self.short() == ShortClips::Pad {
            // As many frames as the clip allows. Padding fills the rest of the sample.
            let frames = self.drawn(n, n.div_ceil(self.stride().unwrap_or(1)).min(count), 0, key);
            let is_asked_for = vec![true; frames.len()];
            return (frames, is_asked_for);
        }
        if let Frames::Windows { stride, hop, past, pad: pad @ (WindowPad::Edge | WindowPad::Zero), .. } = *self {
            let current = i128::from(number) * i128::from(hop);
            let place = |i: u32| current + (i128::from(i) - i128::from(past)) * i128::from(stride);
            let exists: Vec<bool> = (0..count).map(|i| (0..n.into()).contains(&place(i))).collect();
            let kept = (0..count).zip(&exists).filter(|(_, exists)| pad == WindowPad::Edge || **exists);
            return (kept.map(|(i, _)| place(i).clamp(0, i128::from(n) - 1) as u32).collect(), exists);
        }
        let frames = self.drawn(n, count, number, key);
        let asked_for = match self.stride() {
            _ if self.needs(count) <= n.into() => vec![true; frames.len()],
            // The run of a short clip begins at its first frame.
            Some(stride) => (0..count).map(|i| u64::from(i) * u64::from(stride) < n.into()).collect(),
            None => (0..frames.len()).map(|i| i == 0 || frames[i] != frames[i - 1]).collect(),
        };
        (frames, asked_for)
    }

    /// The `count` frames of sample `number` of a clip of `n` frames; of a window, without padding.
    fn drawn(&self, n: u32, count: u32, number: u64, key: DrawKey) -> Vec<u32> {
        let room = |stride| u64::from(n).saturating_sub(sampler::span(count, stride));
        let random = || key.random(stream::TEMPORAL);
        match *self {
            Frames::Stored | Frames::Uniform { .. } | Frames::AllFrames { .. } => sampler::uniform(n, count),
            Frames::Random { .. } => sampler::random(n, count, &mut random()),
            Frames::Run { stride, at: Start::Center, .. } | Frames::Views { stride, views: 1, .. } => {
                sampler::centered(n, count, stride)
            }
            Frames::Run { stride, at: Start::Random, .. } => {
                sampler::run(n, count, stride, random().below(room(stride) + 1))
            }
            // Both factors fit 32 bits.
            Frames::Views { stride, views, .. } => {
                sampler::run(n, count, stride, number * room(stride) / u64::from(views - 1))
            }
            Frames::Windows { stride, hop, .. } => sampler::run(n, count, stride, number * u64::from(hop)),
        }
    }
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

    fn windows(stride: u32, hop: u32, past: u32, pad: WindowPad) -> Frames {
        Frames::windows(3).with_stride(stride).with_hop(hop).with_past(past).with_pad(pad)
    }

    fn frames(rule: Frames, n: u32, count: u32, number: u64) -> Vec<u32> {
        rule.drawn(n, count, number, DrawKey { seed: 1, epoch: 0, sample: 2 })
    }

    #[test]
    fn the_drawing_is_true() {
        assert_eq!(frames(Frames::uniform(3), 10, 3, 0), [1, 5, 8]);
        assert_eq!(frames(Frames::run(3).with_stride(2).with_at(Start::Center), 10, 3, 0), [2, 4, 6]);
        let views = Frames::views(3, 3).with_stride(2);
        assert_eq!([0, 1, 2].map(|k| frames(views, 10, 3, k)), [[0, 2, 4], [2, 4, 6], [5, 7, 9]]);
        assert_eq!(frames(Frames::views(1, 3).with_stride(2), 10, 3, 0), [2, 4, 6]);
        let dense = windows(2, 3, 0, WindowPad::Drop);
        assert_eq!(
            (dense.samples(10, 3), frames(dense, 10, 3, 0), frames(dense, 10, 3, 1)),
            (2, vec![0, 2, 4], vec![3, 5, 7])
        );
        assert_eq!(frames(Frames::uniform(3), 6, 6, 0), [0, 1, 2, 3, 4, 5], "all of them");
    }

    #[test]
    fn random_runs_begin_everywhere_and_stay_inside() {
        let rule = Frames::run(3).with_stride(3);
        let mut counts = [0; 4];
        for i in 0..4000 {
            let found = rule.drawn(10, 3, 0, DrawKey { seed: 1, epoch: 0, sample: i });
            assert!(found[1] == found[0] + 3 && found[2] == found[0] + 6);
            counts[found[0] as usize] += 1;
        }
        assert!(counts.iter().all(|c| (880..1120).contains(c)), "{counts:?}");
    }

    #[test]
    fn a_window_of_extremes_does_not_overflow() {
        for pad in [WindowPad::Edge, WindowPad::Zero] {
            let rule = windows(u32::MAX, u32::MAX, 2, pad);
            let number = rule.samples(u32::MAX, 3) - 1;
            let key = DrawKey { seed: 1, epoch: 0, sample: 2 };
            assert_eq!(rule.choose(u32::MAX, 3, number, key).1, [false, false, true]);
            assert!(rule.choose(0, 3, 0, key).0.is_empty());
        }
    }
}

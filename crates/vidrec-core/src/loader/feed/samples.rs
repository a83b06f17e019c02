//! The samples of a loader, counted from 0, and the clip and view of each.

use crate::dataset::Dataset;
use crate::loader::draw::DrawKey;
use crate::loader::options::{Frames, LoaderOptions, ShortClips};
use vidrec_format::SectionId;
use vidrec_format::error::{Error, Hint, Result};

/// A sample at a place in a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedSample {
    /// The number of the sample.
    pub sample: u64,
    /// Ordinal of the clip.
    pub clip: u64,
    /// The number of the sample among those of the clip that differ in time.
    pub number: u64,
    /// The number of the crop.
    pub crop: u32,
    /// The number of the camera. The clip comes this many clips after the clip of the first camera.
    pub camera: u32,
    pub key: DrawKey,
    /// Whether the sample counts.
    pub counts: bool,
}

/// All samples: those of each source of a mix, or of the only data set.
#[derive(Debug)]
pub(crate) struct Samples {
    sources: Vec<SourceSamples>,
    /// The number of samples.
    pub len: u64,
    /// The number of clips with fewer frames than a sample needs.
    pub short: u64,
    /// Whether short clips are skipped.
    pub skips_short: bool,
    /// The number of frames of the longest sample.
    pub frames: u32,
    /// Whether all samples have as many frames.
    pub exact: bool,
}

/// The samples of a source: each clip, or each of its views or starts, times the crops of each. If an epoch has one draw
/// of each video, a video counts as one clip.
#[derive(Debug, Default)]
struct SourceSamples {
    first_clip: u64,
    first_sample: u64,
    /// The number of samples of every clip that differ in time, unless clips differ in it.
    even: u64,
    /// If clips differ in it, the number of samples of all clips up to and including each.
    ends: Vec<u64>,
    crops: u32,
    /// The number of consecutive clips of which an epoch has one; at least 1.
    draws: u32,
    /// Whether these are clips of several cameras. The first clip stands for all.
    is_of_cameras: bool,
    len: u64,
    /// The number of frames that every clip must have, because samples were counted without reading each entry.
    equal: Option<u32>,
    /// The number of frames of the longest clip.
    longest: u32,
    short: u64,
}

/// The number of samples of a clip of `n` frames, and whether the clip is short. A clip without frames is a sample.
fn count_samples(frames: &Frames, n: u32) -> (u64, bool) {
    let Some(count) = frames.count().filter(|_| n > 0) else { return (1, false) };
    let is_short = u64::from(n) < frames.needs(count);
    let is_skipped = is_short && frames.short() == ShortClips::Skip;
    (if is_skipped { 0 } else { frames.samples(n, count) }, is_short)
}

/// The error about a clip that should have `expected` frames.
pub(super) fn unequal(clip: u64, expected: u32, found: u32) -> Error {
    Error::usage("the clips do not all have the same number of frames")
        .in_clip(clip)
        .expected(expected)
        .found(found)
        .hint(Hint::Set("frames"))
}

impl Samples {
    /// Counts the samples of each source. `options` are those of its first camera. `cameras` is the number of consecutive
    /// clips that make one sample.
    ///
    /// # Errors
    ///
    /// Rules that a clip does not fit, or more samples than 64 bits can count.
    pub fn new(sources: &[Dataset], options: &[&LoaderOptions], cameras: Option<u32>) -> Result<Self> {
        let (mut clips, mut len, mut short) = (0, 0u64, 0);
        let mut all = Vec::with_capacity(sources.len());
        for (dataset, options) in sources.iter().zip(options) {
            let in_all = |e: Error| match e.clip() {
                Some(clip) => e.in_clip(clips + clip),
                None => e,
            };
            let mut source = SourceSamples::new(dataset, options, cameras).map_err(in_all)?;
            (source.first_clip, source.first_sample) = (clips, len);
            clips += dataset.len();
            len = len.checked_add(source.len).ok_or_else(too_many)?;
            short += source.short;
            all.push(source);
        }
        // Sources without frames fit all others.
        let with_frames = || all.iter().zip(options).filter(|(source, _)| source.longest > 0 || source.len == 0);
        let lengths = || with_frames().map(|(source, own)| (own.frames.longest(source.longest.max(1)), source));
        let frames = lengths().map(|(length, _)| length).max().unwrap_or(0);
        let is_any = options.iter().any(|own| matches!(own.frames, Frames::AllFrames { .. }));
        let first = lengths().next().map_or(0, |(length, _)| length);
        let other = lengths().find(|(length, _)| *length != first);
        if let Some((length, source)) = other.filter(|_| options.iter().all(|own| own.frames == Frames::Stored)) {
            let e = unequal(source.first_clip, first, length);
            return Err(e.also_help("give sources frames of their own, so that frame_mask says which frames they have"));
        }
        let exact = !is_any && other.is_none();
        let skips_short = options.iter().any(|own| own.frames.short() == ShortClips::Skip);
        Ok(Samples { sources: all, len, short, skips_short, frames, exact })
    }

    /// The number of the source of a clip.
    pub fn source(&self, clip: u64) -> usize {
        self.sources.partition_point(|source| source.first_clip <= clip).saturating_sub(1)
    }

    /// The number of frames that a clip must have, if samples rely on it.
    pub fn clip_frames(&self, clip: u64) -> Option<u32> {
        self.sources[self.source(clip)].equal
    }

    /// The number of samples of each source.
    pub fn lens(&self) -> Vec<u64> {
        self.sources.iter().map(|source| source.len).collect()
    }

    /// Sample `sample`, which must be less than `len`, of the first camera. `key` decides on its draws.
    pub fn get(&self, sample: u64, key: DrawKey, counts: bool) -> PlannedSample {
        let at = self.sources.partition_point(|source| source.first_sample <= sample) - 1;
        let (clip, number, crop) = self.sources[at].place(sample, key.epoch);
        PlannedSample { sample, clip, number, crop, camera: 0, key, counts }
    }

    /// The clip of sample `sample` of `epoch`.
    pub fn clip(&self, sample: u64, epoch: u64) -> u64 {
        self.get(sample, DrawKey { seed: 0, epoch, sample }, true).clip
    }
}

fn too_many() -> Error {
    Error::limit("there are more views of clips than 64 bits can count")
}

impl SourceSamples {
    fn new(dataset: &Dataset, options: &LoaderOptions, cameras: Option<u32>) -> Result<Self> {
        let frames = &options.frames;
        let (draws, is_of_cameras) = (cameras.unwrap_or(dataset.draws().max(1)), cameras.is_some());
        let clips = dataset.len() / u64::from(draws);
        let crops = options.crop.count();
        let mut space = SourceSamples { even: 1, crops, draws, is_of_cameras, ..SourceSamples::default() };
        match dataset.likely_frames_per_clip()? {
            // Counts samples as if all clips had `n` frames.
            Some(n) if frames.fps().is_none() => {
                let (samples, short) = count_samples(frames, n);
                let relied_on = short || matches!(frames, Frames::Stored | Frames::Windows { .. });
                space.equal = relied_on.then_some(n);
                (space.even, space.longest) = (samples, n);
                space.short = if short { clips } else { 0 };
            }
            _ if dataset.is_empty() => {}
            _ => space.count_each(frames, dataset)?,
        }
        let groups = space.ends.last().copied().or_else(|| clips.checked_mul(space.even));
        space.len = groups.and_then(|groups| groups.checked_mul(crops.into())).ok_or_else(too_many)?;
        Ok(space)
    }

    /// All draws of a video have the same number of frames, so the first stands for all.
    fn count_each(&mut self, frames: &Frames, dataset: &Dataset) -> Result<()> {
        let tables = [SectionId::CLIPS, SectionId::FRAMES];
        dataset.prefetch_all(if frames.fps().is_some() { &tables } else { &tables[..1] })?;
        let mut end = 0u64;
        let mut ends = Vec::with_capacity(usize::try_from(dataset.len() / u64::from(self.draws)).unwrap_or(0));
        let mut even = None;
        let mut is_even = true;
        for ordinal in (0..dataset.len()).step_by(self.draws as usize) {
            let n = frames.in_clip(&dataset.clip(ordinal)?)?;
            let (samples, short) = count_samples(frames, n);
            if *frames == Frames::Stored && n > 0 && self.longest > 0 && n != self.longest {
                return Err(unequal(ordinal, self.longest, n));
            }
            self.longest = self.longest.max(n);
            self.short += u64::from(short);
            is_even &= *even.get_or_insert(samples) == samples;
            end = end.saturating_add(samples);
            ends.push(end);
        }
        self.even = even.unwrap_or(0);
        self.ends = if is_even { Vec::new() } else { ends };
        Ok(())
    }

    /// The clip of a sample of this source in `epoch`, its number among those of the clip that differ in time, and its crop.
    fn place(&self, sample: u64, epoch: u64) -> (u64, u64, u32) {
        let sample = sample - self.first_sample;
        let (group, crop) = (sample / u64::from(self.crops), (sample % u64::from(self.crops)) as u32);
        let draws = u64::from(self.draws);
        let draw = if self.is_of_cameras { 0 } else { epoch % draws };
        let (video, number) = if self.ends.is_empty() {
            let even = self.even.max(1);
            (group / even, group % even)
        } else {
            let clip = self.ends.partition_point(|&end| end <= group);
            let before = clip.checked_sub(1).map_or(0, |last| self.ends[last]);
            (clip as u64, group - before)
        };
        (self.first_clip + video * draws + draw, number, crop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::options::WindowPad;
    use proptest::prelude::*;

    proptest! {
        /// Compares samples, with and without a table, to a list of all starts.
        #[test]
        fn every_start_of_every_clip_is_one_sample(
            lengths in prop::collection::vec(1u32..9, 0..20),
            (frames, stride, hop) in (1u32..5, 1u32..4, 1u32..4),
            crops in 1u32..4,
            (skip, is_padded) in prop_oneof![Just((true, false)), Just((false, false)), Just((false, true))],
        ) {
            let pad = if is_padded { WindowPad::Edge } else { WindowPad::Drop };
            let short = if skip { ShortClips::Skip } else { ShortClips::Pad };
            let rule = Frames::windows(frames).with_stride(stride).with_hop(hop).with_pad(pad);
            let rule = rule.with_short(short);
            let starts = |n: u32| {
                let is_in = |start: &u32| is_padded || start + (frames - 1) * stride < n;
                let fits: Vec<u64> = (0..n).step_by(hop as usize).filter(is_in).map(u64::from).collect();
                if fits.is_empty() && !skip { vec![0] } else { fits }
            };
            let check = |even: u64, ends: Vec<u64>, lengths: &[u32]| {
                let all = (0u64..).zip(lengths).flat_map(|(clip, &n)| starts(n).into_iter().map(move |s| (clip, s)));
                let all: Vec<_> = all.flat_map(|(clip, s)| (0..crops).map(move |crop| (clip, s, crop))).collect();
                let space = SourceSamples { even, ends, crops, draws: 1, ..SourceSamples::default() };
                let start = |(clip, number, crop): (u64, u64, u32)| (clip, number * u64::from(hop), crop);
                (0..all.len() as u64).map(|s| start(space.place(s, 5))).eq(all)
            };
            let mut end = 0;
            let ends = lengths.iter().map(|&n| { end += count_samples(&rule, n).0; end }).collect();
            prop_assert!(check(0, ends, &lengths));
            let even = vec![7; lengths.len()];
            prop_assert!(check(count_samples(&rule, 7).0, Vec::new(), &even));
        }
    }
}

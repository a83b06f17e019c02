//! The samples of a loader, counted from 0, and the clip and view that each stands for.

use crate::dataset::Dataset;
use crate::loader::draw::Temporal;
use crate::loader::options::{Draws, LoaderOptions};
use crate::{Error, Result, sampler};

/// What a sample stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SamplePlace {
    /// Ordinal of the clip.
    pub clip: u64,
    /// Number of the temporal view.
    pub view: u32,
    /// First frame, where every start is a sample.
    pub start: u32,
    /// Number of the crop.
    pub crop: u32,
}

/// All samples: each clip, each of its views, or each of its starts, times the crops of each. Where an epoch has one
/// draw of each video, a video counts as one clip.
#[derive(Debug)]
pub(super) struct Space {
    kind: Kind,
    crops: u32,
    /// Clips in a row of which an epoch has one; at least 1.
    draws: u32,
    len: u64,
}

#[derive(Debug)]
enum Kind {
    Views(u32),
    /// Starts in every clip.
    Starts(u64),
    /// For each clip, the starts in all clips up to it.
    Table(Vec<u64>),
}

impl Space {
    /// `frames_per_clip` is that of every clip, if all have the same number.
    pub fn new(dataset: &Dataset, options: &LoaderOptions, frames_per_clip: Option<u32>) -> Result<Self> {
        let crops = options.augmentation.crop.count();
        let draws = if options.sampling.draws == Draws::Rotate { dataset.draws().max(1) } else { 1 };
        let clips = dataset.len() / u64::from(draws);
        let kind = match options.temporal {
            Temporal::Dense { stride } => {
                let starts = |n: u32| starts(n, options.frames.unwrap_or(n), stride);
                match frames_per_clip {
                    Some(n) => Kind::Starts(starts(n)),
                    None => Kind::Table(table(dataset, draws, starts)?),
                }
            }
            other => Kind::Views(other.views()),
        };
        let groups = match &kind {
            Kind::Views(views) => clips.checked_mul((*views).into()),
            Kind::Starts(starts) => clips.checked_mul(*starts),
            Kind::Table(ends) => Some(ends.last().copied().unwrap_or(0)),
        };
        let len = groups.and_then(|groups| groups.checked_mul(crops.into()));
        let len = len.ok_or_else(|| Error::limit("more views of clips than 64 bits can count"))?;
        Ok(Space { kind, crops, draws, len })
    }

    /// Number of samples.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether samples would be wrong if clips had different numbers of frames.
    pub fn relies_on_equal_clips(&self) -> bool {
        matches!(self.kind, Kind::Starts(_))
    }

    /// What sample `sample`, which must be less than `len`, stands for in `epoch`.
    pub fn place(&self, sample: u64, epoch: u64) -> SamplePlace {
        let (group, crop) = (sample / u64::from(self.crops), (sample % u64::from(self.crops)) as u32);
        let draws = u64::from(self.draws);
        let place = |video: u64, view: u64, start: u64| SamplePlace {
            clip: video * draws + epoch % draws,
            view: view as u32,
            start: start as u32,
            crop,
        };
        match &self.kind {
            Kind::Views(views) => place(group / u64::from(*views), group % u64::from(*views), 0),
            Kind::Starts(starts) => place(group / (*starts).max(1), 0, group % (*starts).max(1)),
            Kind::Table(ends) => {
                let clip = ends.partition_point(|&end| end <= group);
                let before = clip.checked_sub(1).map_or(0, |last| ends[last]);
                place(clip as u64, 0, group - before)
            }
        }
    }
}

/// Places where a run of `count` frames can begin in a clip of `n`.
fn starts(n: u32, count: u32, stride: u32) -> u64 {
    (u64::from(n) + 1).saturating_sub(sampler::span(count, stride))
}

/// All draws of a video have the same number of frames, so the first stands for all.
fn table(dataset: &Dataset, draws: u32, starts: impl Fn(u32) -> u64) -> Result<Vec<u64>> {
    let mut end = 0;
    let mut ends = Vec::with_capacity(usize::try_from(dataset.len() / u64::from(draws)).unwrap_or(0));
    for clip in (0..dataset.len()).step_by(draws as usize) {
        end += starts(dataset.clip(clip)?.frame_count());
        ends.push(end);
    }
    Ok(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn space(kind: Kind, crops: u32, len: u64) -> Space {
        Space { kind, crops, draws: 1, len }
    }

    #[test]
    fn views_and_crops_of_a_clip_stand_side_by_side() {
        let space = space(Kind::Views(2), 3, 12);
        let places: Vec<_> = (0..12).map(|s| space.place(s, 5)).map(|p| (p.clip, p.view, p.crop)).collect();
        let of = |clip| [(clip, 0, 0), (clip, 0, 1), (clip, 0, 2), (clip, 1, 0), (clip, 1, 1), (clip, 1, 2)];
        assert_eq!(places, [of(0), of(1)].concat());
    }

    #[test]
    fn an_epoch_has_one_draw_of_each_video() {
        let space = Space { draws: 3, ..space(Kind::Views(2), 1, 4) };
        let clips = |epoch| (0..4).map(|s| space.place(s, epoch)).map(|p| (p.clip, p.view)).collect::<Vec<_>>();
        assert_eq!(clips(0), [(0, 0), (0, 1), (3, 0), (3, 1)]);
        assert_eq!(clips(2), [(2, 0), (2, 1), (5, 0), (5, 1)]);
        assert_eq!(clips(4), [(1, 0), (1, 1), (4, 0), (4, 1)]);
        assert_eq!(clips(u64::MAX), clips(0), "2^64 - 1 is a multiple of 3");
    }

    proptest! {
        /// With and without a table, against a list of all starts.
        #[test]
        fn every_start_of_every_clip_is_one_sample(
            lengths in prop::collection::vec(0u32..9, 0..20), count in 1u32..5, stride in 1u32..4, crops in 1u32..4,
        ) {
            let check = |kind: Kind, lengths: &[u32]| {
                let fits = |n: u32| (0..n).filter(move |start| start + (count - 1) * stride < n);
                let all: Vec<_> = (0u64..).zip(lengths).flat_map(|(clip, &n)| fits(n).map(move |s| (clip, s))).collect();
                let all: Vec<_> = all.iter().flat_map(|&(clip, s)| (0..crops).map(move |crop| (clip, s, crop))).collect();
                let space = space(kind, crops, 0);
                (0..all.len() as u64).map(|s| space.place(s, 5)).map(|p| (p.clip, p.start, p.crop)).eq(all)
            };
            let mut end = 0;
            let ends = lengths.iter().map(|&n| { end += starts(n, count, stride); end }).collect();
            prop_assert!(check(Kind::Table(ends), &lengths));
            let even = vec![7; lengths.len()];
            prop_assert!(check(Kind::Starts(starts(7, count, stride)), &even));
        }
    }
}

//! Which of a clip's stored frames make a sample.

use super::space::Place;
use crate::random::Random;
use crate::{Error, Result, sampler};

/// How the frames of a sample are chosen from those that are stored of a clip.
///
/// ```text
/// 10 frames stored             0   1   2   3   4   5   6   7   8   9
/// Uniform, 3                   [     1     ) [     5     ) [     8     )   centres of 3 equal segments
/// RandomSegments, 3            [ one draw  ) [ one draw  ) [ one draw  )   one in each of them
/// Clip of stride 2, 3          |<- start ->|   2       4       6           a run, at random or in the middle
/// Views of stride 2, 3 views   0   2   4 | 2   4   6   (k = 1) | 5   7   9  runs from the start to the end
/// Dense of stride 2            0 2 4 | 1 3 5 | 2 4 6 | 3 5 7 | ...         each run is a sample of its own
/// ```
///
/// Only the frames chosen are read. A clip that is shorter than a run gives its last frame again and again.
///
/// A *sample* is what a loader counts, shuffles and batches: a clip, but for [`Views`](Self::Views),
/// [`Dense`](Self::Dense) and [`Crop::Three`](super::Crop::Three), which make several samples of a clip. With
/// V temporal views and three crops, sample `(clip * V + temporal view) * 3 + crop` is one of `clip`; dense samples are
/// counted through all starts of a clip, then those of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Temporal {
    /// The centres of equal segments ([`sampler::uniform`]); all frames, if as many are asked for. The default.
    #[default]
    Uniform,
    /// One at random in each of those segments, as TSN trains.
    RandomSegments,
    /// Frames in a row, each `stride` (1 or more) after the one before.
    Clip {
        /// Frames from one to the next.
        stride: u32,
        /// Where the run begins.
        start: Start,
    },
    /// Several runs of each clip, from its start to its end, for testing: run `k` of `views` begins at
    /// floor(k (F - span) / (views - 1)), one alone in the middle. Each is a sample.
    Views {
        /// Frames from one to the next.
        stride: u32,
        /// Runs of each clip, 1 or more.
        views: u32,
    },
    /// Every run that lies whole in any clip is a sample. Clips shorter than a run have none.
    ///
    /// The number of samples takes no memory if all clips have as many frames, and 8 bytes a clip otherwise.
    Dense {
        /// Frames from one to the next.
        stride: u32,
    },
}

/// Where a run of frames begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Start {
    /// Anywhere with equal probability, drawn once a sample and epoch. The default.
    #[default]
    Random,
    /// As much is left out before it as after it.
    Center,
}

impl Temporal {
    pub(super) fn check(self, frames: Option<u32>) -> Result<()> {
        let (stride, views) = match self {
            Temporal::Uniform | Temporal::RandomSegments => return Ok(()),
            Temporal::Clip { stride, .. } | Temporal::Dense { stride } => (stride, 1),
            Temporal::Views { stride, views } => (stride, views),
        };
        if stride == 0 || views == 0 {
            return Err(Error::usage(format!("loader option temporal: a stride of {stride}, {views} views"))
                .help("ask for 1 or more of each"));
        }
        if frames.is_none() {
            return Err(
                Error::usage("loader option temporal").help("set the loader option frames to the length of a run")
            );
        }
        Ok(())
    }

    /// Samples that differ in time of each clip, where all have as many.
    pub(super) fn views(self) -> u32 {
        if let Temporal::Views { views, .. } = self { views } else { 1 }
    }

    /// The `count` frames of the sample at `place`, of a clip of `n`; empty if `n` is 0.
    pub(super) fn frames(self, n: u32, count: u32, place: &Place, random: impl FnOnce() -> Random) -> Vec<u32> {
        let room = |stride| u64::from(n).saturating_sub(sampler::span(count, stride));
        match self {
            Temporal::Uniform => sampler::uniform(n, count),
            Temporal::RandomSegments => sampler::random(n, count, &mut random()),
            Temporal::Clip { stride, start: Start::Center } => sampler::centred(n, count, stride),
            Temporal::Clip { stride, start: Start::Random } => {
                sampler::run(n, count, stride, random().below(room(stride) + 1))
            }
            Temporal::Views { stride, views: 1 } => sampler::centred(n, count, stride),
            Temporal::Views { stride, views } => {
                // Both factors fit 32 bits.
                let start = u64::from(place.view) * room(stride) / u64::from(views - 1);
                sampler::run(n, count, stride, start)
            }
            Temporal::Dense { stride } => sampler::run(n, count, stride, place.start.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(temporal: Temporal, n: u32, count: u32, view: u32, start: u32) -> Vec<u32> {
        let place = Place { clip: 0, view, start, crop: 0 };
        temporal.frames(n, count, &place, || Random::new(1, &[2]))
    }

    #[test]
    fn the_drawing_is_true() {
        assert_eq!(frames(Temporal::Uniform, 10, 3, 0, 0), [1, 5, 8]);
        assert_eq!(frames(Temporal::Clip { stride: 2, start: Start::Center }, 10, 3, 0, 0), [2, 4, 6]);
        let views = Temporal::Views { stride: 2, views: 3 };
        let all = [0, 1, 2].map(|k| frames(views, 10, 3, k, 0));
        assert_eq!(all, [[0, 2, 4], [2, 4, 6], [5, 7, 9]]);
        assert_eq!(frames(Temporal::Views { stride: 2, views: 1 }, 10, 3, 0, 0), [2, 4, 6]);
        assert_eq!(frames(Temporal::Dense { stride: 2 }, 10, 3, 0, 3), [3, 5, 7]);
        assert_eq!(frames(Temporal::Uniform, 6, 6, 0, 0), [0, 1, 2, 3, 4, 5], "all of them");
    }

    #[test]
    fn random_runs_begin_everywhere_and_stay_inside() {
        let temporal = Temporal::Clip { stride: 3, start: Start::Random };
        let mut counts = [0; 4];
        for i in 0..4000 {
            let place = Place { clip: 0, view: 0, start: 0, crop: 0 };
            let found = temporal.frames(10, 3, &place, || Random::new(1, &[i]));
            assert!(found[1] == found[0] + 3 && found[2] == found[0] + 6);
            counts[found[0] as usize] += 1;
        }
        assert!(counts.iter().all(|c| (880..1120).contains(c)), "{counts:?}");
    }

    #[test]
    fn short_clips_repeat_their_last_frame() {
        for start in [Start::Random, Start::Center] {
            assert_eq!(frames(Temporal::Clip { stride: 2, start }, 4, 4, 0, 0), [0, 2, 3, 3]);
        }
        assert_eq!(frames(Temporal::Views { stride: 1, views: 5 }, 2, 3, 4, 0), [0, 1, 1]);
        assert_eq!(frames(Temporal::RandomSegments, 2, 4, 0, 0), [0, 0, 1, 1]);
        assert!(frames(Temporal::RandomSegments, 0, 4, 0, 0).is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(Temporal::Clip { stride: 0, start: Start::Center }.check(Some(3)).is_err());
        assert!(Temporal::Views { stride: 1, views: 0 }.check(Some(3)).is_err());
        assert!(Temporal::Dense { stride: 1 }.check(None).is_err());
        assert!(Temporal::RandomSegments.check(None).is_ok());
    }
}

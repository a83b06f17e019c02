//! The rules that choose the frames of a sample from the stored frames of a clip.

use std::fmt;
use std::str::FromStr;

use super::frames::Frames;
use super::key::DrawKey;
use crate::require::require;
use vidrec_format::error::Hint;
use vidrec_format::error::{Error, Result};
use vidrec_format::random::stream;
use vidrec_format::words::{unknown, words};

/// The rule that chooses the frames of a sample from the stored frames of a clip.
///
/// ```text
/// 10 frames stored             0   1   2   3   4   5   6   7   8   9
/// Uniform, 3                   [     1     ) [     5     ) [     8     )   centers of 3 equal segments
/// RandomSegments, 3            [ one draw  ) [ one draw  ) [ one draw  )   one in each of them
/// Clip of stride 2, 3          |<- start ->|   2       4       6           a run, at random or in the middle
/// Views of stride 2, 3 views   0   2   4 | 2   4   6   (k = 1) | 5   7   9  runs from the start to the end
/// Dense of stride 2, hop 3     0 2 4 | 3 5 7                              each run is a sample of its own
/// ```
///
/// Only the chosen frames are read. [`ShortClips`](crate::ShortClips) says what happens to a clip that is shorter than
/// a run.
///
/// A *sample* is what a loader counts, shuffles and batches. It is one clip, except that [`Views`](Self::Views),
/// [`Dense`](Self::Dense) and [`Crop::Three`](super::Crop::Three) make several samples of each clip. With V
/// temporal views and three crops, sample `(clip * V + temporal view) * 3 + crop` belongs to `clip`. Dense samples
/// count all starts of a clip, then those of the next clip.
///
/// As a word (`FromStr`, `Display`): `uniform`, `random-segments`, `clip` (a random start), `clip-center`, `views`
/// or `dense`. A word means a stride of 1, 10 views and a hop of 1. [`with_stride`](Self::with_stride),
/// [`with_views`](Self::with_views) and [`with_hop`](Self::with_hop) change these numbers, and `Display` omits
/// them.
///
/// ```
/// # mod vidrec { pub use vidrec_format::error::Error; pub use vidrec_loader::{Start, Temporal}; }
/// use vidrec::{Start, Temporal};
///
/// let temporal: Temporal = "clip".parse()?;
/// assert_eq!(temporal.with_stride(2), Temporal::Clip { stride: 2, start: Start::Random });
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Temporal {
    /// The centers of equal segments ([`vidrec_sampler::uniform`]), or all frames if that many are requested. The
    /// default.
    #[default]
    Uniform,
    /// One frame at random in each of those segments, as in TSN's training.
    RandomSegments,
    /// Frames in a row, each `stride` (1 or more) after the one before.
    Clip {
        /// The distance in frames from one frame of the run to the next.
        stride: u32,
        /// The place where the run begins.
        start: Start,
    },
    /// Several runs of each clip, from its start to its end, for testing. Run `k` of `views` begins at floor(k (F
    /// - span) / (views - 1)) in a clip of F frames. A single run is in the middle. Each run is a sample.
    Views {
        /// The distance in frames from one frame of the run to the next.
        stride: u32,
        /// The number of runs of each clip, 1 or more.
        views: u32,
    },
    /// Every run that begins at frame 0, `hop`, 2 `hop`, … and fits inside a clip is a sample. A clip that is
    /// shorter than a run has one sample, or none with [`ShortClips::Skip`](crate::ShortClips::Skip).
    ///
    /// If all clips have the same number of frames, counting the samples takes no memory; otherwise it takes 8
    /// bytes a clip.
    Dense {
        /// The distance in frames from one frame of the run to the next.
        stride: u32,
        /// The distance in frames from the start of one run to that of the next, 1 or more.
        hop: u32,
    },
}

/// The place where a run of frames begins.
///
/// As a word (`FromStr`, `Display`): `random` or `center`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Start {
    /// Anywhere with equal probability. Each sample has one draw an epoch. The default.
    #[default]
    Random,
    /// In the middle: the clip has as many frames before the run as after it.
    Center,
}

words!(Start, "start", { "random" => Random, "center" => Center });

impl Temporal {
    /// The words that `FromStr` accepts and `Display` prints.
    pub const WORDS: &'static [&'static str] = &["uniform", "random-segments", "clip", "clip-center", "views", "dense"];

    /// Returns the same rule with another stride, if the rule has one.
    #[must_use]
    pub fn with_stride(self, stride: u32) -> Self {
        match self {
            Temporal::Clip { start, .. } => Temporal::Clip { stride, start },
            Temporal::Views { views, .. } => Temporal::Views { stride, views },
            Temporal::Dense { hop, .. } => Temporal::Dense { stride, hop },
            Temporal::Uniform | Temporal::RandomSegments => self,
        }
    }

    /// Returns the same rule with another number of views, if the rule has one.
    #[must_use]
    pub fn with_views(self, views: u32) -> Self {
        if let Temporal::Views { stride, .. } = self { Temporal::Views { stride, views } } else { self }
    }

    /// Returns the same rule with another hop, if the rule has one.
    #[must_use]
    pub fn with_hop(self, hop: u32) -> Self {
        if let Temporal::Dense { stride, .. } = self { Temporal::Dense { stride, hop } } else { self }
    }

    /// Returns an error if a value makes no sense.
    pub(crate) fn check(self, frames: Frames) -> Result<()> {
        let (stride, views, hop) = match self {
            Temporal::Uniform | Temporal::RandomSegments => return Ok(()),
            Temporal::Clip { stride, .. } => (stride, 1, 1),
            Temporal::Views { stride, views } => (stride, views, 1),
            Temporal::Dense { stride, hop } => (stride, 1, hop),
        };
        require(stride > 0, "stride", stride, "1 or more")?;
        require(views > 0, "views", views, "1 or more")?;
        require(hop > 0, "hop", hop, "1 or more")?;
        let random_length = matches!((self, frames), (Temporal::Clip { .. }, Frames::Any { .. }));
        if matches!(frames, Frames::Fixed(_)) || random_length {
            return Ok(());
        }
        Err(Error::usage("loader option temporal: no run length is given").hint(Hint::Set("frames")))
    }

    /// The distance in frames from one frame of a run to the next, if the rule takes runs.
    fn stride(self) -> Option<u32> {
        match self {
            Temporal::Uniform | Temporal::RandomSegments => None,
            Temporal::Clip { stride, .. } | Temporal::Views { stride, .. } | Temporal::Dense { stride, .. } => {
                Some(stride)
            }
        }
    }

    /// The number of frames that a clip must have for a sample of `count` frames.
    pub(crate) fn needs(self, count: u32) -> u64 {
        self.stride().map_or(count.into(), |stride| vidrec_sampler::span(count, stride))
    }

    /// The number of frames of a sample that covers a clip of `n` frames, at most `most`.
    pub(crate) fn length(self, n: u32, most: u32) -> u32 {
        n.div_ceil(self.stride().unwrap_or(1)).min(most)
    }

    /// The number of samples of a clip of `n` frames that differ in time. Each has `count` frames.
    pub(crate) fn samples(self, n: u32, count: u32) -> u64 {
        match self {
            Temporal::Views { views, .. } => views.into(),
            Temporal::Dense { hop, .. } => u64::from(n).saturating_sub(self.needs(count)) / u64::from(hop) + 1,
            _ => 1,
        }
    }

    /// The number that [`SampleParams::view`](crate::SampleParams::view) has for sample `number` of a clip.
    pub(crate) fn view(self, number: u64) -> u32 {
        if let Temporal::Views { .. } = self { number as u32 } else { 0 }
    }

    /// Returns the `count` frames of a sample from a clip of `n` frames; empty if `n` is 0. `number` is the number
    /// of the sample among the clip's [`samples`](Self::samples). If the clip is short, frames come more than
    /// once.
    pub(crate) fn frames(self, n: u32, count: u32, number: u64, key: DrawKey) -> Vec<u32> {
        let room = |stride| u64::from(n).saturating_sub(vidrec_sampler::span(count, stride));
        let random = || key.random(stream::TEMPORAL);
        match self {
            Temporal::Uniform => vidrec_sampler::uniform(n, count),
            Temporal::RandomSegments => vidrec_sampler::random(n, count, &mut random()),
            Temporal::Clip { stride, start: Start::Center } => vidrec_sampler::centered(n, count, stride),
            Temporal::Clip { stride, start: Start::Random } => {
                vidrec_sampler::run(n, count, stride, random().below(room(stride) + 1))
            }
            Temporal::Views { stride, views: 1 } => vidrec_sampler::centered(n, count, stride),
            Temporal::Views { stride, views } => {
                // Both factors fit 32 bits.
                let start = number * room(stride) / u64::from(views - 1);
                vidrec_sampler::run(n, count, stride, start)
            }
            Temporal::Dense { stride, hop } => vidrec_sampler::run(n, count, stride, number * u64::from(hop)),
        }
    }

    /// Whether each of a sample's `frames` is meant: false for a frame that replaces one that the clip does not
    /// have.
    pub(crate) fn meant(self, n: u32, frames: &[u32]) -> Vec<bool> {
        let count = frames.len() as u32;
        if self.needs(count) <= n.into() {
            return vec![true; frames.len()];
        }
        match self.stride() {
            // The run of a short clip begins at its first frame.
            Some(stride) => (0..count).map(|i| u64::from(i) * u64::from(stride) < n.into()).collect(),
            None => (0..frames.len()).map(|i| i == 0 || frames[i] != frames[i - 1]).collect(),
        }
    }
}

impl fmt::Display for Temporal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Temporal::Uniform => "uniform",
            Temporal::RandomSegments => "random-segments",
            Temporal::Clip { start: Start::Random, .. } => "clip",
            Temporal::Clip { start: Start::Center, .. } => "clip-center",
            Temporal::Views { .. } => "views",
            Temporal::Dense { .. } => "dense",
        })
    }
}

impl FromStr for Temporal {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "uniform" => Ok(Temporal::Uniform),
            "random-segments" => Ok(Temporal::RandomSegments),
            "clip" => Ok(Temporal::Clip { stride: 1, start: Start::Random }),
            "clip-center" => Ok(Temporal::Clip { stride: 1, start: Start::Center }),
            "views" => Ok(Temporal::Views { stride: 1, views: 10 }),
            "dense" => Ok(Temporal::Dense { stride: 1, hop: 1 }),
            _ => Err(unknown("temporal", word, Temporal::WORDS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(temporal: Temporal, n: u32, count: u32, number: u64) -> Vec<u32> {
        temporal.frames(n, count, number, DrawKey { seed: 1, epoch: 0, sample: 2 })
    }

    #[test]
    fn the_drawing_is_true() {
        assert_eq!(frames(Temporal::Uniform, 10, 3, 0), [1, 5, 8]);
        assert_eq!(frames(Temporal::Clip { stride: 2, start: Start::Center }, 10, 3, 0), [2, 4, 6]);
        let views = Temporal::Views { stride: 2, views: 3 };
        assert_eq!([0, 1, 2].map(|k| frames(views, 10, 3, k)), [[0, 2, 4], [2, 4, 6], [5, 7, 9]]);
        assert_eq!(frames(Temporal::Views { stride: 2, views: 1 }, 10, 3, 0), [2, 4, 6]);
        let dense = Temporal::Dense { stride: 2, hop: 3 };
        assert_eq!(
            (dense.samples(10, 3), frames(dense, 10, 3, 0), frames(dense, 10, 3, 1)),
            (2, vec![0, 2, 4], vec![3, 5, 7])
        );
        assert_eq!(frames(Temporal::Uniform, 6, 6, 0), [0, 1, 2, 3, 4, 5], "all of them");
    }

    #[test]
    fn random_runs_begin_everywhere_and_stay_inside() {
        let temporal = Temporal::Clip { stride: 3, start: Start::Random };
        let mut counts = [0; 4];
        for i in 0..4000 {
            let found = temporal.frames(10, 3, 0, DrawKey { seed: 1, epoch: 0, sample: i });
            assert!(found[1] == found[0] + 3 && found[2] == found[0] + 6);
            counts[found[0] as usize] += 1;
        }
        assert!(counts.iter().all(|c| (880..1120).contains(c)), "{counts:?}");
    }

    #[test]
    fn short_clips_repeat_frames_and_the_mask_says_which() {
        let both = |temporal: Temporal, n, count, number| {
            let found = frames(temporal, n, count, number);
            let meant = temporal.meant(n, &found);
            (found, meant.iter().map(|&meant| u8::from(meant)).collect::<Vec<_>>())
        };
        for start in [Start::Random, Start::Center] {
            assert_eq!(both(Temporal::Clip { stride: 2, start }, 4, 4, 0), (vec![0, 2, 3, 3], vec![1, 1, 0, 0]));
        }
        assert_eq!(both(Temporal::Views { stride: 1, views: 5 }, 2, 3, 4), (vec![0, 1, 1], vec![1, 1, 0]));
        assert_eq!(both(Temporal::Dense { stride: 1, hop: 1 }, 2, 3, 0), (vec![0, 1, 1], vec![1, 1, 0]));
        assert_eq!(both(Temporal::RandomSegments, 2, 4, 0), (vec![0, 0, 1, 1], vec![1, 0, 1, 0]));
        assert_eq!(both(Temporal::Uniform, 4, 4, 0).1, [1; 4]);
        assert!(frames(Temporal::RandomSegments, 0, 4, 0).is_empty());
    }

    #[test]
    fn samples_of_any_length_take_all_frames_or_a_bound() {
        assert_eq!(Temporal::Uniform.length(9, 100), 9);
        assert_eq!(Temporal::Uniform.length(9, 4), 4);
        let clip = Temporal::Clip { stride: 2, start: Start::Center };
        assert_eq!((clip.length(9, 100), frames(clip, 9, 5, 0)), (5, vec![0, 2, 4, 6, 8]));
    }

    #[test]
    fn every_word_reads_back_as_itself() {
        for word in Temporal::WORDS {
            assert_eq!(word.parse::<Temporal>().unwrap().to_string(), *word);
        }
        assert!("run".parse::<Temporal>().unwrap_err().to_string().contains("clip-center"));
        let views = "views".parse::<Temporal>().unwrap().with_stride(3).with_views(2).with_hop(4);
        assert_eq!(views, Temporal::Views { stride: 3, views: 2 });
        let dense = "dense".parse::<Temporal>().unwrap().with_stride(3).with_views(2).with_hop(4);
        assert_eq!(dense, Temporal::Dense { stride: 3, hop: 4 });
        assert_eq!(Temporal::Uniform.with_stride(3).with_views(2), Temporal::Uniform);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let (fixed, any) = (Frames::Fixed(3), Frames::Any { most: None });
        let refused = |temporal: Temporal, frames| temporal.check(frames).unwrap_err().to_string();
        assert!(refused(Temporal::Clip { stride: 0, start: Start::Center }, fixed).contains("stride"));
        assert!(refused(Temporal::Views { stride: 1, views: 0 }, fixed).contains("views"));
        assert!(refused(Temporal::Dense { stride: 1, hop: 0 }, fixed).contains("hop"));
        assert!(refused(Temporal::Dense { stride: 1, hop: 1 }, Frames::Stored).contains("length"));
        assert!(refused(Temporal::Dense { stride: 1, hop: 1 }, any).contains("length"));
        assert!(Temporal::Clip { stride: 2, start: Start::Random }.check(any).is_ok());
        assert!(Temporal::RandomSegments.check(Frames::Stored).is_ok());
    }
}

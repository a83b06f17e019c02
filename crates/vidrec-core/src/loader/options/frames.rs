//! The frames of a sample.

use serde::{Deserialize, Serialize};

use super::values::{getters, require, setters};
use vidrec_format::error::Result;
use vidrec_format::sampler::{Rate, Rounding};

/// The frames of a sample, and the samples of a clip.
///
/// ```text
/// 10 frames stored                 0   1   2   3   4   5   6   7   8   9
/// Uniform of 3                     [     1     ) [     5     ) [     8     )   centers of 3 equal segments
/// Random of 3                      [ one draw  ) [ one draw  ) [ one draw  )   one in each of them
/// Uniform of 3, with ends          0               4                   9       the same as numpy.linspace
/// Run of 3, stride 2               |<- start ->|   2       4       6           a run, at random or in the middle
/// Views of 3, stride 2, 3 views    0   2   4 | 2   4   6   (k = 1) | 5   7   9  runs from the start to the end
/// Windows of 3, stride 2, hop 3    0 2 4 | 3 5 7                              each run is a sample of its own
/// Windows of [-3, 0], padded       - 0 | - 1 | - 2 | 0 3 | 1 4 | … | 6 9      around each frame, which is the current one
/// ```
///
/// Only the chosen frames are read. A *sample* is what a loader counts, shuffles and batches. It is one clip, except
/// that [`Views`](Self::Views), [`Windows`](Self::Windows) and [`Crop::Three`](super::Crop::Three) make several
/// samples of each clip. With V views and three crops, sample `(clip * V + view) * 3 + crop` belongs to `clip`.
/// Windows count all starts of a clip, then those of the next clip.
///
/// Rules that take runs have a rate, `fps`: frames per second of presentation time, whatever the stored rate. The run
/// is then one of the frames that are on the screen at each tick. A rate above that of a clip's stored frames is an
/// error. A loader with a rate reads every frame's entry once. Rules that spread frames over a clip have no rate,
/// because the distance of their frames follows from the length of the clip.
///
/// [`ShortClips`] says what happens to a clip that has fewer frames than a sample needs. If the data set has several draws of
/// each video ([`Dataset::draws`](crate::dataset::Dataset::draws)), an epoch has one of them: number `epoch` modulo the number
/// of draws. Sample `i` then stands for clips `i K` to `i K + K - 1` with K draws, so orders with weights or indices count
/// videos, not clips.
///
/// As JSON (serde): the name of the variant with its fields, such as `{"Run": {"count": 16, "fps": "4"}}`. Fields
/// with a default may be missing.
///
/// ```
/// use vidrec::{Frames, LoaderOptions};
///
/// // Sixteen frames, four a second, from a random place.
/// let frames = Frames::run(16).with_fps(Some("4".parse()?));
/// let options = LoaderOptions { frames, ..LoaderOptions::default() };
/// assert_eq!(LoaderOptions::default().frames, Frames::Stored);
/// # drop(options);
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub enum Frames {
    /// All frames of the clip; every clip must have the same number. The default.
    #[default]
    Stored,
    /// The centers of equal segments ([`vidrec_format::sampler::uniform`]), or all frames if that many are requested.
    Uniform {
        /// The number of frames, 1 or more.
        count: u32,
        /// Whether the first and the last frame are among them, and the others evenly between
        /// ([`vidrec_format::sampler::linspace`]). Default false.
        #[serde(default)]
        ends: bool,
        /// With `ends`, the frame that stands for a place between two frames.
        #[serde(default)]
        rounding: Rounding,
        /// The treatment of clips that have fewer frames.
        #[serde(default)]
        short: ShortClips,
    },
    /// One frame at random in each of those segments, as in TSN's training.
    Random {
        /// The number of frames, 1 or more.
        count: u32,
        /// The treatment of clips that have fewer frames.
        #[serde(default)]
        short: ShortClips,
    },
    /// A run: frames in a row, each `stride` after the one before. Or several runs, one after another in order of their starts.
    Run {
        /// The number of frames of a run, 1 or more.
        count: u32,
        /// The number of runs, 1 or more. Each has a place of its own: drawn by itself, or in the middle of one of as many equal
        /// parts of the places where a run can begin. Runs may overlap. A sample has `runs * count` frames. Default 1.
        #[serde(default = "one")]
        runs: u32,
        /// The rate of the frames that the run is taken from. Default `None`: all stored frames.
        fps: Option<Rate>,
        /// The distance from one frame of the run to the next, 1 or more. Default 1.
        #[serde(default = "one")]
        stride: u32,
        /// The place where the run begins.
        #[serde(default)]
        at: Start,
        /// The treatment of clips that are shorter than a run.
        #[serde(default)]
        short: ShortClips,
    },
    /// Frames around a current frame: each frame of the clip, or every `hop`-th, whose window fits inside the clip is the current
    /// one of a sample. The first one is as early as the window allows. A clip that is shorter than a window has one sample, or
    /// none with [`ShortClips::Skip`].
    ///
    /// With a `pad` other than [`WindowPad::Drop`], frames 0, `hop`, 2 `hop`, … are the current ones. What reaches beyond
    /// the clip is padded, and [`Batch::frame_mask`](crate::loader::Batch::frame_mask) is false there. No clip is then too
    /// short.
    ///
    /// If all clips have the same number of frames, counting the samples takes no memory; otherwise it takes 8
    /// bytes a clip.
    Windows {
        /// The offsets of the frames from the current one, from which tracks count
        /// ([`TrackAnchor::Current`](super::TrackAnchor::Current)).
        offsets: Offsets,
        /// The rate of the frames that the window is taken from. Default `None`: all stored frames.
        fps: Option<Rate>,
        /// The distance in frames that an offset of 1 stands for, 1 or more. Default 1.
        #[serde(default = "one")]
        stride: u32,
        /// The distance in frames from one current frame to the next, 1 or more. Default 1.
        #[serde(default = "one")]
        hop: u32,
        /// The handling of windows that reach beyond the clip.
        #[serde(default)]
        pad: WindowPad,
        /// The treatment of clips that are shorter than a window.
        #[serde(default)]
        short: ShortClips,
    },
    /// Several runs of each clip, from its start to its end, for testing. Run `k` of `views` begins at floor(k (F
    /// - span) / (views - 1)) in a clip of F frames. A single run is in the middle. Each run is a sample.
    Views {
        /// The number of runs of each clip, 1 or more.
        views: u32,
        /// The number of frames, 1 or more.
        count: u32,
        /// The rate of the frames that the run is taken from. Default `None`: all stored frames.
        fps: Option<Rate>,
        /// The distance from one frame of the run to the next, 1 or more. Default 1.
        #[serde(default = "one")]
        stride: u32,
        /// The treatment of clips that are shorter than a run.
        #[serde(default)]
        short: ShortClips,
    },
    /// All frames of each clip, whatever their number. Each batch is as long as the longest of its clips on any
    /// rank, or as its bucket ([`Batching`](super::Batching)). Shorter clips are padded, and
    /// [`Batch::frame_mask`](crate::loader::Batch::frame_mask) is false for the padding.
    AllFrames {
        /// The maximum number of frames of a sample, 1 or more. A longer clip has this many of them, spread evenly.
        /// Default `None`: no maximum.
        max: Option<u32>,
        /// The rate of the frames, unless there are more than the maximum. Default `None`: all stored frames.
        fps: Option<Rate>,
    },
}

/// The offsets of the frames of a window from its current frame, which is at 0 and need not be one of them.
///
/// As JSON (serde): a number, or a list.
///
/// ```
/// use vidrec::{Frames, Offsets};
///
/// // The current frame, and those 5 and 15 before it.
/// let frames = Frames::windows([-15, -5, 0]);
/// assert_eq!(Offsets::from([0, 1, 2]).iter().collect::<Vec<_>>(), Offsets::Count(3).iter().collect::<Vec<_>>());
/// # drop(frames);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of frames, or a list of offsets")]
pub enum Offsets {
    /// So many, from 0 on: 1 or more.
    Count(u32),
    /// These, in rising order, each once.
    List(Vec<i64>),
}

impl From<u32> for Offsets {
    fn from(count: u32) -> Self {
        Offsets::Count(count)
    }
}

impl<const N: usize> From<[i64; N]> for Offsets {
    fn from(offsets: [i64; N]) -> Self {
        Offsets::List(offsets.into())
    }
}

impl Offsets {
    /// The largest offset, in either direction.
    const MOST: i64 = u32::MAX as i64;

    /// The number of frames.
    pub(crate) fn count(&self) -> u32 {
        let (count, list) = self.parts();
        if list.is_empty() { count } else { u32::try_from(list.len()).unwrap_or(u32::MAX) }
    }

    /// The offsets, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        let (count, list) = self.parts();
        (0..count).map(i64::from).chain(list.iter().copied())
    }

    /// So many from 0 on, and then these.
    fn parts(&self) -> (u32, &[i64]) {
        match self {
            Offsets::Count(count) => (*count, &[]),
            Offsets::List(list) => (0, list),
        }
    }

    /// How far a window reaches before its current frame, and after it.
    pub(crate) fn reach(&self) -> (u64, u64) {
        let (count, list) = self.parts();
        let first = list.first().map_or(0, |&first| first.min(0));
        let last = list.last().map_or(i64::from(count.saturating_sub(1)), |&last| last.max(0));
        (first.unsigned_abs(), last.unsigned_abs())
    }

    fn check(&self) -> Result<()> {
        let Offsets::List(list) = self else { return Ok(()) };
        let is_right = list.is_sorted_by(|a, b| a < b) && list.iter().all(|o| (-Self::MOST..=Self::MOST).contains(o));
        require(is_right, "frames: offsets", format_args!("{list:?}"), "whole numbers in rising order, each once")
    }
}

/// The treatment of a clip that has fewer frames than a sample needs: the number of frames, or those that a run
/// spans.
///
/// [`LoaderStats`](crate::loader::LoaderStats) counts these clips, and [`Loader::warnings`](crate::loader::Loader::warnings) says
/// what happens to them.
///
/// As a word (serde): `repeat`, `pad` or `skip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ShortClips {
    /// Frames come more than once. A run repeats its last frame; other rules spread the repetitions evenly. The
    /// mask of a repeated frame is false. The default.
    #[default]
    Repeat,
    /// Each existing frame comes once. The values of the missing ones are 0, and their mask is false.
    Pad,
    /// The clip is not in the epoch.
    Skip,
}

/// The handling of a window that reaches beyond its clip.
///
/// As a word (serde): `drop`, `edge` or `zero`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WindowPad {
    /// It is not a sample. The default.
    #[default]
    Drop,
    /// The clip's first frame stands for those before it, and the last one for those after it. Their mask is false.
    /// Tracks do the same.
    Edge,
    /// The values of frames beyond the clip are 0, and their mask is false.
    Zero,
}

/// The place where a run of frames begins.
///
/// As a word (serde): `random` or `center`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Start {
    /// Anywhere with equal probability. Each sample has one draw an epoch. The default.
    #[default]
    Random,
    /// In the middle: the clip has as many frames before the run as after it.
    Center,
}

fn one() -> u32 {
    1
}

/// A number of frames, spread evenly.
impl From<u32> for Frames {
    fn from(count: u32) -> Self {
        Frames::uniform(count)
    }
}

impl Frames {
    /// [`Frames::Uniform`] of this many frames, with defaults.
    pub fn uniform(count: u32) -> Self {
        Frames::Uniform { count, ends: false, rounding: Rounding::default(), short: ShortClips::default() }
    }

    /// [`Frames::Random`] of this many frames, with defaults.
    pub fn random(count: u32) -> Self {
        Frames::Random { count, short: ShortClips::default() }
    }

    /// [`Frames::Run`] of this many frames, with defaults.
    pub fn run(count: u32) -> Self {
        Frames::Run { count, runs: 1, fps: None, stride: 1, at: Start::default(), short: ShortClips::default() }
    }

    /// [`Frames::Windows`] of frames at these offsets, or of this many frames from the current one on, with defaults.
    pub fn windows(offsets: impl Into<Offsets>) -> Self {
        let (pad, short) = Default::default();
        Frames::Windows { offsets: offsets.into(), fps: None, stride: 1, hop: 1, pad, short }
    }

    /// [`Frames::Views`]: this many runs of this many frames, with defaults.
    pub fn views(views: u32, count: u32) -> Self {
        Frames::Views { views, count, fps: None, stride: 1, short: ShortClips::default() }
    }

    /// [`Frames::AllFrames`] without a maximum, with defaults.
    pub fn all() -> Self {
        Frames::AllFrames { max: None, fps: None }
    }

    setters! { Frames:
        /// Returns the same rule with another stride, if the rule has one.
        with_stride, stride: u32, Run | Windows | Views;
        /// Returns the same rule with another distance from run to run, if the rule has one.
        with_hop, hop: u32, Windows;
        /// Returns the same rule with or without the first and the last frame, if the rule has the choice.
        with_ends, ends: bool, Uniform;
        /// Returns the same rule with another rounding, if the rule has one.
        with_rounding, rounding: Rounding, Uniform;
        /// Returns the same rule with another number of runs, if the rule has one.
        with_runs, runs: u32, Run;
        /// Returns the same rule with another treatment of windows that reach beyond the clip, if the rule has one.
        with_pad, pad: WindowPad, Windows;
        /// Returns the same rule with another place for its run, if the rule has one.
        with_at, at: Start, Run;
        /// Returns the same rule with another maximum, if the rule has one.
        with_max, max: Option<u32>, AllFrames;
        /// Returns the same rule with another rate, if the rule has one.
        with_fps, fps: Option<Rate>, Run | Windows | Views | AllFrames;
        /// Returns the same rule with another treatment of short clips, if the rule has one.
        with_short, short: ShortClips, Uniform | Random | Run | Windows | Views;
    }

    getters! { Frames:
        /// The rate of the frames; `None` for all stored ones.
        fps: Option<Rate>, fps, of Run | Windows | Views | AllFrames, or None;
        /// The treatment of short clips.
        short: ShortClips, short, of Uniform | Random | Run | Windows | Views, or ShortClips::Repeat;
        /// The distance in frames from one frame of a run to the next, if the rule takes runs.
        stride: Option<u32>, Some(stride), of Run | Windows | Views, or None;
        /// The treatment of frames of a sample that lie before the first frame of the clip or after its last.
        pad: WindowPad, pad, of Windows, or WindowPad::Drop;
    }

    /// The number of frames of a sample, if all samples have the same.
    pub(crate) fn count(&self) -> Option<u32> {
        match self {
            Frames::Stored | Frames::AllFrames { .. } => None,
            Frames::Uniform { count, .. } | Frames::Random { count, .. } | Frames::Views { count, .. } => Some(*count),
            Frames::Run { count, runs, .. } => Some(count.saturating_mul(*runs)),
            Frames::Windows { offsets, .. } => Some(offsets.count()),
        }
    }

    /// The offsets of the frames of a sample from its current one, if they are the same in all samples.
    pub(crate) fn offsets(&self) -> Option<impl Iterator<Item = i64>> {
        let (stride, (count, list)) = match self {
            Frames::Run { count, stride, runs: 1, .. } | Frames::Views { count, stride, .. } => {
                (*stride, (*count, &[][..]))
            }
            Frames::Windows { offsets, stride, .. } => (*stride, offsets.parts()),
            _ => return None,
        };
        let offsets = (0..count).map(i64::from).chain(list.iter().copied());
        Some(offsets.map(move |offset| offset.saturating_mul(stride.into())))
    }

    /// The maximum number of frames of a sample.
    pub(crate) fn most(&self) -> u32 {
        if let Frames::AllFrames { max: Some(max), .. } = *self { max } else { self.count().unwrap_or(u32::MAX) }
    }

    /// Returns an error that names the field if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        require(self.stride() != Some(0), "frames: stride", 0, "1 or more")?;
        self.check_fields()?;
        require(self.most() > 0, "frames", 0, "1 or more")
    }

    fn check_fields(&self) -> Result<()> {
        match self {
            Frames::Views { views, .. } => require(*views > 0, "frames: views", views, "1 or more"),
            Frames::Run { count, runs, .. } => {
                let is_right = *runs > 0 && count.checked_mul(*runs).is_some();
                require(is_right, "frames: runs", runs, "1 or more, and fewer than 2^32 frames in all")
            }
            Frames::Uniform { ends, rounding, .. } => {
                let is_right = *ends || *rounding == Rounding::default();
                require(is_right, "frames: rounding", format_args!("{rounding:?}"), "none without ends")
            }
            Frames::Windows { offsets, hop, pad, short, .. } => {
                require(*hop > 0, "frames: hop", hop, "1 or more")?;
                offsets.check()?;
                let is_free = *pad == WindowPad::Drop || *short == ShortClips::Repeat;
                require(
                    is_free,
                    "frames: short",
                    format_args!("{short:?}"),
                    "none with a pad, because no clip is then too short",
                )
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named() {
        for (named, frames) in [
            ("frames", Frames::uniform(0)),
            ("frames", Frames::all().with_max(Some(0))),
            ("stride", Frames::run(3).with_stride(0)),
            ("views", Frames::views(0, 3)),
            ("hop", Frames::windows(3).with_hop(0)),
            ("runs", Frames::run(3).with_runs(0)),
            ("runs", Frames::run(1 << 31).with_runs(2)),
            ("rounding", Frames::uniform(3).with_rounding(Rounding::Nearest)),
            ("frames", Frames::windows([])),
            ("frames", Frames::windows(0)),
            ("offsets", Frames::windows([0, 0])),
            ("offsets", Frames::windows([0, i64::MAX])),
            ("short", Frames::windows(3).with_pad(WindowPad::Zero).with_short(ShortClips::Skip)),
        ] {
            assert!(frames.check().unwrap_err().to_string().contains(named), "{frames:?}");
        }
        Frames::all().check().unwrap();
    }
}

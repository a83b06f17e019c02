//! The frames of a sample.

use serde::{Deserialize, Serialize};

use super::values::{getters, require, setters};
use vidrec_format::error::Result;
use vidrec_format::sampler::Rate;

/// The frames of a sample, and the samples of a clip.
///
/// ```text
/// 10 frames stored                 0   1   2   3   4   5   6   7   8   9
/// Uniform of 3                     [     1     ) [     5     ) [     8     )   centers of 3 equal segments
/// Random of 3                      [ one draw  ) [ one draw  ) [ one draw  )   one in each of them
/// Clip of 3, stride 2              |<- start ->|   2       4       6           a run, at random or in the middle
/// Views of 3, stride 2, 3 views    0   2   4 | 2   4   6   (k = 1) | 5   7   9  runs from the start to the end
/// Windows of 3, stride 2, hop 3    0 2 4 | 3 5 7                              each run is a sample of its own
/// Windows of 2, stride 3, past 1   - 0 | - 1 | - 2 | 0 3 | 1 4 | … | 6 9      padded: the same around each frame
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
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
    /// A run: frames in a row, each `stride` after the one before.
    Run {
        /// The number of frames, 1 or more.
        count: u32,
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
    /// Every run that begins at frame 0, `hop`, 2 `hop`, … and fits inside a clip is a sample. A clip that is
    /// shorter than a run has one sample, or none with [`ShortClips::Skip`].
    ///
    /// With a `pad` other than [`WindowPad::Drop`], there is a sample around each of the frames 0, `hop`, 2 `hop`, …:
    /// the current frame, the `past` frames before it, and the others after it, `stride` apart. What reaches beyond
    /// the clip is padded, and [`Batch::frame_mask`](crate::loader::Batch::frame_mask) is false there. No clip is then too
    /// short.
    ///
    /// If all clips have the same number of frames, counting the samples takes no memory; otherwise it takes 8
    /// bytes a clip.
    Windows {
        /// The number of frames, 1 or more.
        count: u32,
        /// The rate of the frames that the run is taken from. Default `None`: all stored frames.
        fps: Option<Rate>,
        /// The distance from one frame of the run to the next, 1 or more. Default 1.
        #[serde(default = "one")]
        stride: u32,
        /// The distance in frames from the start of one run to that of the next, 1 or more. Default 1.
        #[serde(default = "one")]
        hop: u32,
        /// The number of frames of the run before the current one, from which tracks count
        /// ([`TrackAnchor::Current`](super::TrackAnchor::Current)); less than `count`. Default 0: the current frame is
        /// the first. `count - 1` makes it the last, so that the run is a history.
        #[serde(default)]
        past: u32,
        /// The handling of runs that reach beyond the clip.
        #[serde(default)]
        pad: WindowPad,
        /// The treatment of clips that are shorter than a run.
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
        Frames::Uniform { count, short: ShortClips::default() }
    }

    /// [`Frames::Random`] of this many frames, with defaults.
    pub fn random(count: u32) -> Self {
        Frames::Random { count, short: ShortClips::default() }
    }

    /// [`Frames::Run`] of this many frames, with defaults.
    pub fn run(count: u32) -> Self {
        Frames::Run { count, fps: None, stride: 1, at: Start::default(), short: ShortClips::default() }
    }

    /// [`Frames::Windows`] of this many frames, with defaults.
    pub fn windows(count: u32) -> Self {
        let (pad, short) = Default::default();
        Frames::Windows { count, fps: None, stride: 1, hop: 1, past: 0, pad, short }
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
        /// Returns the same rule with another number of frames before the current one, if the rule has one.
        with_past, past: u32, Windows;
        /// Returns the same rule with another treatment of runs that reach beyond the clip, if the rule has one.
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
        /// The number of frames of a sample, if all samples have the same.
        count: Option<u32>, Some(count), of Uniform | Random | Run | Windows | Views, or None;
        /// The rate of the frames; `None` for all stored ones.
        fps: Option<Rate>, fps, of Run | Windows | Views | AllFrames, or None;
        /// The treatment of short clips.
        short: ShortClips, short, of Uniform | Random | Run | Windows | Views, or ShortClips::Repeat;
        /// The distance in frames from one frame of a run to the next, if the rule takes runs.
        stride: Option<u32>, Some(stride), of Run | Windows | Views, or None;
        /// The treatment of frames of a sample that lie before the first frame of the clip or after its last.
        pad: WindowPad, pad, of Windows, or WindowPad::Drop;
        /// The number of frames of a sample before the current one, if the sample has all frames.
        past: u32, past, of Windows, or 0;
    }

    /// The maximum number of frames of a sample.
    pub(crate) fn most(&self) -> u32 {
        if let Frames::AllFrames { max: Some(max), .. } = *self { max } else { self.count().unwrap_or(u32::MAX) }
    }

    /// Returns an error that names the field if a value makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        require(self.most() > 0, "frames", 0, "1 or more")?;
        require(self.stride() != Some(0), "frames: stride", 0, "1 or more")?;
        match *self {
            Frames::Views { views, .. } => require(views > 0, "frames: views", views, "1 or more"),
            Frames::Windows { count, hop, past, pad, short, .. } => {
                require(hop > 0, "frames: hop", hop, "1 or more")?;
                require(past < count, "frames: past", past, &format!("less than the {count} frames of the run"))?;
                let is_free = pad == WindowPad::Drop || short == ShortClips::Repeat;
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
            ("past", Frames::windows(3).with_past(3)),
            ("short", Frames::windows(3).with_pad(WindowPad::Zero).with_short(ShortClips::Skip)),
        ] {
            assert!(frames.check().unwrap_err().to_string().contains(named), "{frames:?}");
        }
        Frames::all().check().unwrap();
    }
}

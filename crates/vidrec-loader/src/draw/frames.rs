//! The number of frames of a sample, and the treatment of clips that have fewer.

use std::str::FromStr;

use vidrec_format::error::{Error, Result};
use vidrec_format::words::words;

/// The number of frames of a sample.
///
/// ```
/// # mod vidrec { pub use vidrec_loader::{Frames, LoaderOptions}; }
/// use vidrec::{Frames, LoaderOptions};
///
/// let options = LoaderOptions { frames: Frames::Fixed(8), ..LoaderOptions::default() };
/// assert_eq!(LoaderOptions::default().frames, Frames::Stored);
/// # drop(options);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Frames {
    /// All frames of the clip; every clip must have the same number. The default.
    #[default]
    Stored,
    /// This many frames of each clip, 1 or more. [`ShortClips`] says what happens to a clip with fewer.
    Fixed(u32),
    /// All frames of each clip, whatever their number. Each batch is as long as the longest of its clips on any
    /// rank, or as its bucket ([`Batching::buckets`](crate::Batching::buckets)). Shorter clips are padded, and
    /// [`Batch::frame_mask`](crate::Batch::frame_mask) is false for the padding.
    Any {
        /// The maximum number of frames of a sample, 1 or more.
        /// [`LoaderOptions::temporal`](crate::LoaderOptions::temporal) samples a longer clip down to this number.
        most: Option<u32>,
    },
}

/// As a word: `all` for [`Frames::Any`] without a bound, or a number for [`Frames::Fixed`].
impl FromStr for Frames {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word.parse() {
            _ if word == "all" => Ok(Frames::Any { most: None }),
            Ok(frames) if frames > 0 => Ok(Frames::Fixed(frames)),
            _ => Err(Error::usage("frames").expected("a number of 1 or more, or all").found(word)),
        }
    }
}

/// The treatment of a clip that has fewer frames than a sample needs. A sample needs the number in
/// [`Frames::Fixed`], or the frames that a run spans. The same holds for every [`Temporal`](crate::Temporal).
///
/// [`LoaderStats`](crate::LoaderStats) counts these clips, and [`Loader::warnings`](crate::Loader::warnings) says
/// what happens to them.
///
/// As a word (`FromStr`, `Display`): `repeat`, `pad`, `skip` or `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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
    /// The loader is not created. The error names the first such clip.
    Error,
}

words!(ShortClips, "short", { "repeat" => Repeat, "pad" => Pad, "skip" => Skip, "error" => Error });

//! Which frames of a video become a clip: a number of them, or as many as the video has at a pace.

use std::fmt;
use std::str::FromStr;

use vidrec_format::error::{Error, Result};
use vidrec_format::limits::MAX_FRAMES_PER_CLIP;
use vidrec_format::sampler::RateRule;
use vidrec_format::words::serde_by_text;

/// How many frames of a video become a clip.
///
/// In text (`FromStr`, `Display`, serde): a number such as `8`, `fps:RATE`, `every:K`, `all` or `keyframes`.
///
/// ```
/// use vidrec::pack::FrameChoice;
/// use vidrec::sampler::RateRule;
///
/// assert_eq!("8".parse::<FrameChoice>()?, FrameChoice::Count(8));
/// assert_eq!("every:5".parse::<FrameChoice>()?, FrameChoice::At(RateRule::Every(5)));
/// # Ok::<(), vidrec::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameChoice {
    /// This many frames of each video, which a [`Rule`](vidrec_format::sampler::Rule) chooses.
    Count(u32),
    /// As many frames as the video has at this pace. Clips then differ in length. In a segment, the pace starts at
    /// its first frame.
    At(RateRule),
}

impl Default for FrameChoice {
    fn default() -> Self {
        FrameChoice::Count(8)
    }
}

impl From<RateRule> for FrameChoice {
    fn from(pace: RateRule) -> Self {
        FrameChoice::At(pace)
    }
}

impl FrameChoice {
    /// The pace, if the number of frames is not fixed.
    pub(crate) fn pace(self) -> Option<RateRule> {
        match self {
            FrameChoice::Count(_) => None,
            FrameChoice::At(pace) => Some(pace),
        }
    }

    pub(super) fn check(self) -> Result<()> {
        match self {
            FrameChoice::Count(n) if !(1..=MAX_FRAMES_PER_CLIP).contains(&n) => {
                Err(Error::usage("the number of frames in a clip is out of range")
                    .expected(format!("1 to {MAX_FRAMES_PER_CLIP}"))
                    .found(n))
            }
            FrameChoice::At(RateRule::Every(0)) => Err(Error::usage("the step from frame to frame must be at least 1")),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for FrameChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameChoice::Count(n) => write!(f, "{n}"),
            FrameChoice::At(pace) => write!(f, "{pace}"),
        }
    }
}

impl FromStr for FrameChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = |_| {
            let expected = format!("a number from 1 to {MAX_FRAMES_PER_CLIP}, {}", RateRule::WORDS.join(", "));
            Error::usage("not a choice of frames").expected(expected).found(text)
        };
        let choice = match text.parse() {
            Ok(n) => FrameChoice::Count(n),
            Err(_) => FrameChoice::At(text.parse().map_err(unknown)?),
        };
        choice.check().map(|()| choice)
    }
}

serde_by_text!(FrameChoice);

/// The options of the program, of which one can be given.
#[cfg(feature = "clap")]
mod flags {
    use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
    use vidrec_format::sampler::{Rate, RateRule};

    use super::FrameChoice;
    use crate::arguments::number_of;

    #[derive(Args)]
    #[group(multiple = false)]
    struct FrameFlags {
        /// Frames to take from each video. [default: 8]
        #[arg(short = 'n', long, value_name = "N", value_parser = number_of::<u32>("frames"))]
        frames: Option<u32>,
        /// Instead of N frames: this many a second, such as 8, 29.97 or 30000/1001, by the time at which frames are shown.
        #[arg(long, value_name = "RATE")]
        fps: Option<Rate>,
        /// Instead of N frames: the first and every Kth after it.
        #[arg(long, value_name = "K", hide_short_help = true, value_parser = number_of::<u32>("every"))]
        every: Option<u32>,
        /// Instead of N frames: all.
        #[arg(long, hide_short_help = true)]
        all: bool,
        /// Instead of N frames: the key frames.
        #[arg(long, hide_short_help = true)]
        keyframes: bool,
    }

    impl FrameFlags {
        fn choice(self) -> Option<FrameChoice> {
            let (fps, every) = (self.fps.map(RateRule::Fps), self.every.map(RateRule::Every));
            let pace =
                fps.or(every).or(self.all.then_some(RateRule::All)).or(self.keyframes.then_some(RateRule::KeyFrames));
            pace.map(FrameChoice::At).or(self.frames.map(FrameChoice::Count))
        }
    }

    impl FromArgMatches for FrameChoice {
        fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
            Ok(FrameFlags::from_arg_matches(matches)?.choice().unwrap_or_default())
        }

        fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
            Ok(FrameFlags::from_arg_matches_mut(matches)?.choice().unwrap_or_default())
        }

        fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
            *self = Self::from_arg_matches(matches)?;
            Ok(())
        }
    }

    impl Args for FrameChoice {
        fn augment_args(command: Command) -> Command {
            FrameFlags::augment_args(command)
        }

        fn augment_args_for_update(command: Command) -> Command {
            FrameFlags::augment_args(command)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_reads_back_as_itself_and_others_are_refused() {
        for text in ["8", "fps:30000/1001", "every:3", "all", "keyframes"] {
            let choice: FrameChoice = text.parse().unwrap();
            assert_eq!(choice.to_string(), text);
            let json = serde_json::to_value(choice).unwrap();
            assert_eq!(serde_json::from_value::<FrameChoice>(json).unwrap(), choice);
        }
        for text in ["", "0", "-1", "1.5", "every:0", "fps:", "fps:x", "some", "4294967296"] {
            assert!(text.parse::<FrameChoice>().is_err(), "{text}");
        }
    }
}

//! The options by which videos become clips: which frames, as which images, within which limits, and with how much of the machine.

use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stamp::Stamp;
use super::video_store::VideoStore;
use crate::arguments::{self, MAX_DRAWS, NumberOrText, Seconds};
use crate::plan::InputOptions;
use crate::track::PlannedTrack;
use crate::video::FrameSize;
use vidrec_core::dataset::writer::Sharding;
use vidrec_core::threads;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::limits;
use vidrec_format::limits::MAX_FRAMES_PER_CLIP;
use vidrec_format::sampler::{RateRule, Rule, ShortVideo};
use vidrec_format::words::serde_by_text;

/// The videos held in memory for each thread: decoded but not yet written.
const IN_FLIGHT_PER_THREAD: usize = 3;

/// Which frames of a video become a clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Frames"))]
#[serde(default, deny_unknown_fields)]
pub struct FrameOptions {
    /// Frames to take from each video: a number, "fps:RATE", "every:K", "all" or "keyframes".
    #[cfg_attr(feature = "clap", command(flatten))]
    #[schemars(with = "NumberOrText")]
    pub frames: FrameChoice,
    /// Which frames, if their number is fixed: the centers of equal segments (uniform); first, last and evenly between
    /// (endpoints); one at random in each of equal segments (random); frames in a row from the middle (clip) or from
    /// anywhere (random-clip). clip:4 and random-clip:4 take every fourth frame.
    #[cfg_attr(feature = "clap", arg(long, default_value_t, value_name = "RULE", hide_short_help = true))]
    #[schemars(with = "String")]
    pub sample: Rule,
    /// The action for a video of too few frames.
    #[cfg_attr(feature = "clap", arg(long, default_value_t, value_name = "HOW", hide_short_help = true, value_parser = arguments::words::<ShortVideo>()))]
    #[schemars(schema_with = "arguments::short")]
    pub short: ShortVideo,
    /// Store this many draws of each video by a random rule, as clips side by side. An epoch then takes one of them.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 1, value_name = "K", hide_short_help = true, value_parser = arguments::number_of::<u32>("draws")))]
    #[schemars(range(min = 1, max = 10_000))]
    pub draws: u32,
    /// The seed of random rules.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 0, value_name = "N", hide_short_help = true, value_parser = arguments::number_of::<u64>("seed")))]
    #[serde(deserialize_with = "arguments::whole")]
    pub seed: u64,
    /// If the number of frames is not fixed: take at most this many, spread evenly from the first to the last.
    /// [default: no limit]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", hide_short_help = true, value_parser = arguments::number_of::<u32>("max_frames")))]
    pub max_frames: Option<u32>,
    /// Where a video has more than the most frames, keep the first of them and their pace, instead of spreading them.
    #[cfg_attr(feature = "clap", arg(long, hide_short_help = true))]
    pub cut: bool,
    /// Decode whole videos, not only what the chosen frames need. The pictures of an intact video are the same. Damage
    /// anywhere in a video is found, as far as FFmpeg notices it (mostly in H.264, AV1, MPEG and FFV1; HEVC, VP8 and VP9
    /// have to be in a Matroska file with checksums), and damaged frames do not count.
    #[cfg_attr(feature = "clap", arg(long, hide_short_help = true))]
    pub decode_all: bool,
}

impl Default for FrameOptions {
    fn default() -> Self {
        FrameOptions {
            frames: FrameChoice::default(),
            sample: Rule::Uniform,
            short: ShortVideo::RepeatLast,
            draws: 1,
            seed: 0,
            max_frames: None,
            cut: false,
            decode_all: false,
        }
    }
}

impl FrameOptions {
    pub(crate) fn check(&self) -> Result<()> {
        self.frames.check()?;
        if self.sample.stride() == 0 {
            return Err(Error::usage("the step from frame to frame must be at least 1"));
        }
        let frames = 1..=limits::MAX_FRAMES_PER_CLIP;
        if let Some(most) = self.max_frames.filter(|most| !frames.contains(most)) {
            return Err(Error::usage("option max_frames is out of range").expected(range(frames)).found(most));
        }
        if !(1..=MAX_DRAWS).contains(&self.draws) {
            return Err(Error::usage("the number of draws of a video is out of range")
                .expected(range(1..=MAX_DRAWS))
                .found(self.draws));
        }
        if self.cut && self.max_frames.is_none() {
            return Err(Error::usage("frames can only be cut at a maximum").hint(Hint::Set("max_frames")));
        }
        let is_paced = self.frames.pace().is_some();
        if is_paced && self.sample != Rule::default() {
            return Err(Error::usage(format!("the rule {} chooses a fixed number of frames", self.sample))
                .found(format!("frames {}", self.frames))
                .hint(Hint::Unset("sample")));
        }
        if !is_paced && self.max_frames.is_some() {
            return Err(Error::usage("option max_frames: the number of frames is fixed, so it has no maximum")
                .help("choose frames at a pace: a rate, every Kth, all, or the key frames"));
        }
        if self.draws > 1 && (is_paced || !self.sample.is_random()) {
            return Err(Error::usage("several draws of a video would all be the same")
                .help("choose a random rule: random or random-clip"));
        }
        Ok(())
    }
}

fn range(range: std::ops::RangeInclusive<u32>) -> String {
    format!("{} to {}", range.start(), range.end())
}

/// The options for storing frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Pictures"))]
#[serde(default, deny_unknown_fields)]
pub struct PictureOptions {
    /// Size of the stored frames: the shorter side, such as 256; or 320x240; or original.
    ///
    /// If a number of pixels of the shorter side is given, smaller videos stay as they are; 256:enlarge enlarges them, too.
    /// 320x240 is exactly this width and height, whatever the shape of the video.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", default_value_t = PictureOptions::default().size))]
    #[schemars(with = "NumberOrText")]
    pub size: FrameSize,
    /// JPEG quality, 1 to 100.
    #[cfg_attr(feature = "clap", arg(short, long, value_name = "QUALITY", default_value_t = PictureOptions::default().quality, value_parser = arguments::number_of::<u8>("quality")))]
    #[schemars(range(min = 1, max = 100))]
    pub quality: u8,
    /// Work that a JPEG is worth: 1 makes JPEGs about a fifth smaller at the same PSNR; 0 encodes with libjpeg-turbo, which
    /// takes up to a tenth less time.
    #[cfg_attr(feature = "clap", arg(long, value_name = "LEVEL", hide_short_help = true, default_value_t = PictureOptions::default().effort, value_parser = arguments::number_of::<u8>("effort")))]
    #[schemars(range(max = 1))]
    pub effort: u8,
    /// Pack pictures of more than 12 bits a channel, such as depth maps, and keep the upper 8 of their bits. Without it,
    /// such a video fails.
    #[cfg_attr(feature = "clap", arg(long, hide_short_help = true))]
    pub reduce_depth: bool,
}

impl Default for PictureOptions {
    fn default() -> Self {
        PictureOptions { size: FrameSize::ShortSide(256), quality: 90, effort: 1, reduce_depth: false }
    }
}

impl PictureOptions {
    pub(crate) fn check(&self) -> Result<()> {
        vidrec_jpeg::Encoder::new(self.quality)?.set_effort(self.effort)
    }
}

/// The limits of a pack: what a video may take, how many videos may fail, and where shards end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Limits"))]
#[serde(default, deny_unknown_fields)]
pub struct LimitOptions {
    /// The number of videos that may fail before the pack stops: a number, or a share of all such as 1%. What is done can be resumed.
    /// [default: any number]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|P%", hide_short_help = true))]
    #[schemars(with = "Option<NumberOrText>")]
    pub max_failures: Option<MaxFailures>,
    /// The longest time for one video, in seconds; one that takes longer fails.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = LimitOptions::default().timeout, value_name = "SECONDS", hide_short_help = true, value_parser = Seconds::above_zero))]
    #[schemars(with = "f64")]
    pub timeout: Seconds,
    /// The most pixels that a picture of a video may have, width times height; a video with more fails.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = LimitOptions::default().max_pixels, value_name = "N", hide_short_help = true, value_parser = arguments::number_of::<u64>("max_pixels")))]
    #[schemars(range(min = 1))]
    pub max_pixels: u64,
    /// The number of shards to make, with the same number of videos each, in order; or each:N for N videos in each; or about how
    /// large, such as 1GiB, by an estimate. An interrupted pack loses the shard at work. [default: 256MB, or less where that
    /// takes two cores more than a minute]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N|each:N|SIZE", hide_short_help = true))]
    #[schemars(with = "Option<NumberOrText>")]
    pub shards: Option<Sharding>,
}

impl Default for LimitOptions {
    fn default() -> Self {
        LimitOptions {
            max_failures: None,
            timeout: Seconds(Duration::from_secs(600)),
            max_pixels: limits::MAX_PIXELS,
            shards: None,
        }
    }
}

impl LimitOptions {
    pub(crate) fn check(&self) -> Result<()> {
        if self.max_pixels == 0 {
            return Err(Error::usage("option max_pixels is out of range").expected("1 or more").found(0));
        }
        self.shards.map_or(Ok(()), Sharding::check)
    }
}

/// The share of the machine that the work may use. The packed bytes are the same whatever these values are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Resources {
    /// The number of videos that are decoded at a time. Default `None`: one for each core.
    pub threads: Option<usize>,
    /// The bytes that all videos in progress may use together. Default `None`: 480 MiB for each of `threads`.
    ///
    /// For each video being decoded, this counts an upper bound for three things: the compressed data that is
    /// kept, all images that the decoder may hold, and the image being stored. It also counts all JPEGs until they
    /// are written, of at most 3 videos for each thread. A video waits until there is room. A video that needs
    /// more than the bound is decoded alone.
    ///
    /// A video that has started is always finished. The JPEGs of the videos being decoded may therefore exceed the
    /// bound, because their number is not known in advance. Two things do not count: image folders while they are
    /// read (one image for each thread), and the memory of the processes of `isolate` themselves, about 30 MB
    /// each.
    pub memory: Option<u64>,
    /// Decode in separate processes, which on Linux can do nothing else. Default `None`: decode in this process.
    ///
    /// A hostile video then reaches nothing. A codec that crashes costs one video, and one that hangs is killed
    /// after the video's timeout. The value is the command line of a program that calls [`serve`](crate::serve)
    /// with the options of the run. The process gets only the environment variables that programs need to start.
    ///
    /// The default is `None` because a library cannot start its caller's program again. The program `vidrec` and
    /// the Python package pass a command by default. Pass one yourself for videos from strangers:
    ///
    /// ```no_run
    /// use vidrec::pack::{PackOptions, pack, serve};
    ///
    /// let mut options = PackOptions::default();
    /// if std::env::args().nth(1).as_deref() == Some("--decode") {
    ///     serve(&options)?;
    ///     // A codec may hang in another thread.
    ///     std::process::exit(0);
    /// }
    /// let program = std::env::current_exe().expect("it runs");
    /// options.resources.isolate = Some(vec![program.into(), "--decode".into()]);
    /// pack(&["videos"], "train", &options, &mut vidrec::no_progress)?;
    /// # Ok::<(), vidrec::Error>(())
    /// ```
    pub isolate: Option<Vec<OsString>>,
}

impl Resources {
    /// Returns how many of `videos` are decoded at a time.
    pub(crate) fn threads_for(&self, videos: usize) -> usize {
        self.all_threads().clamp(1, videos.max(1))
    }

    pub(super) fn all_threads(&self) -> usize {
        self.threads.unwrap_or_else(threads::cores)
    }

    /// Returns how many videos may be started and not yet written, with this many threads.
    pub(crate) fn window(threads: usize) -> usize {
        threads * IN_FLIGHT_PER_THREAD
    }
}

/// The number of videos that may fail before a run stops. Videos skipped as asked (`ShortVideo::Skip`) do not count.
///
/// The text form (`FromStr`, `Display`, serde) is a number such as `20`, or a percentage such as `1.5%`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum MaxFailures {
    /// This many videos.
    Count(u64),
    /// This percentage of all videos in the inputs.
    Percent(f64),
}

impl MaxFailures {
    /// Returns the number of videos, out of `total`.
    pub(crate) fn count(self, total: u64) -> u64 {
        match self {
            MaxFailures::Count(n) => n,
            MaxFailures::Percent(p) => (total as f64 * p / 100.0) as u64,
        }
    }
}

impl fmt::Display for MaxFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxFailures::Count(n) => write!(f, "{n}"),
            MaxFailures::Percent(p) => write!(f, "{p}%"),
        }
    }
}

impl FromStr for MaxFailures {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = match text.strip_suffix('%') {
            Some(p) => p.parse().ok().filter(|p| (0.0..=100.0).contains(p)).map(MaxFailures::Percent),
            None => text.parse().ok().map(MaxFailures::Count),
        };
        parsed.ok_or_else(|| Error::usage("expected a number of videos, or a share such as 1.5%"))
    }
}

serde_by_text!(MaxFailures);

/// Everything that decides what a video becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClipRecipe<'a> {
    pub input: &'a InputOptions,
    pub frames: &'a FrameOptions,
    pub pictures: &'a PictureOptions,
    pub limits: &'a LimitOptions,
    pub store: &'a VideoStore,
    pub tracks: &'a [PlannedTrack],
    /// Whether each JPEG is compared with its picture.
    pub measure: bool,
    /// The stamp of the video, if several clips are made of it, so that it stays open for them.
    pub shared: Option<Stamp>,
}

/// The number of frames of a video that become a clip.
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

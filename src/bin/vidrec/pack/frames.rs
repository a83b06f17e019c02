//! The options of `vidrec pack` that say which frames are taken.

use clap::{ArgGroup, ValueEnum};
use vidrec::limits::MAX_FRAMES_PER_CLIP;
use vidrec::sampler::{Pace, Rate, Rule, Short};

#[derive(clap::Args)]
#[command(next_help_heading = "Frames", group = ArgGroup::new("pace").args(["fps", "every", "all", "keyframes"]))]
pub struct FrameArgs {
    /// Frames to take from each video.
    #[arg(short = 'n', long, default_value_t = 8, value_name = "N")]
    pub frames: u32,
    /// Which frames: the centres of N equal segments; first, last and evenly between; one at random in each of N
    /// segments; N in a row from the middle; N in a row from anywhere.
    #[arg(long, value_enum, default_value_t = Sample::Uniform)]
    sample: Sample,
    /// With --sample clip or random-clip: take every K-th frame.
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// What to do with a video of too few frames: repeat-last, loop, skip or error.
    #[arg(long, default_value_t = Short::RepeatLast)]
    pub short: Short,
    /// With --sample random or random-clip: store so many draws of each video, as clips side by side. An epoch then
    /// takes one of them.
    #[arg(long, default_value_t = 1, value_name = "K", conflicts_with = "pace", value_parser = clap::value_parser!(u32).range(1..))]
    pub draws: u32,
    /// Seed for --sample random and random-clip.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Instead of N frames: so many a second, such as 8, 29.97 or 30000/1001, by the time at which frames are shown.
    #[arg(long, value_name = "RATE", conflicts_with_all = ["frames", "sample"])]
    fps: Option<Rate>,
    /// Instead of N frames: the first and every K-th after it.
    #[arg(long, value_name = "K", conflicts_with_all = ["frames", "sample"], value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// Instead of N frames: all.
    #[arg(long, conflicts_with_all = ["frames", "sample"])]
    all: bool,
    /// Instead of N frames: the key frames.
    #[arg(long, conflicts_with_all = ["frames", "sample"])]
    keyframes: bool,
    /// With --fps, --every, --all or --keyframes: of more frames than N, take N spread evenly over them.
    #[arg(long, value_name = "N", requires = "pace", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FRAMES_PER_CLIP)))]
    pub max_frames: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sample {
    Uniform,
    Endpoints,
    Random,
    Clip,
    RandomClip,
}

impl FrameArgs {
    pub fn rule(&self) -> Rule {
        match self.sample {
            Sample::Uniform => Rule::Uniform,
            Sample::Endpoints => Rule::Endpoints,
            Sample::Random => Rule::Random,
            Sample::Clip => Rule::Clip { stride: self.stride },
            Sample::RandomClip => Rule::RandomClip { stride: self.stride },
        }
    }

    pub fn pace(&self) -> Option<Pace> {
        let chosen = [
            self.fps.map(Pace::Fps),
            self.every.map(Pace::Every),
            self.all.then_some(Pace::All),
            self.keyframes.then_some(Pace::KeyFrames),
        ];
        chosen.into_iter().flatten().next()
    }
}

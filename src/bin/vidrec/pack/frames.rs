//! The options of `vidrec pack` that say which frames are taken.

use clap::ArgGroup;
use vidrec::limits::MAX_FRAMES_PER_CLIP;
use vidrec::pack::FrameOptions;
use vidrec::sampler::{Pace, Rate, Rule, Short};

use crate::words::words;

#[derive(clap::Args)]
#[command(next_help_heading = "Frames", group = ArgGroup::new("pace").args(["fps", "every", "all", "keyframes"]))]
pub struct FrameArgs {
    /// Frames to take from each video.
    #[arg(short = 'n', long, default_value_t = FrameOptions::default().count, value_name = "N")]
    frames: u32,
    /// Which frames: the centers of N equal segments; first, last and evenly between; one at random in each of N
    /// segments; N in a row from the middle; N in a row from anywhere.
    #[arg(long, default_value_t, value_name = "RULE", value_parser = words::<Rule>(Rule::WORDS))]
    sample: Rule,
    /// With --sample clip or random-clip: take every Kth frame.
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    stride: u32,
    /// What to do with a video of too few frames.
    #[arg(long, default_value_t, value_name = "HOW", value_parser = words::<Short>(Short::WORDS))]
    short: Short,
    /// With --sample random or random-clip: store K draws of each video, as clips side by side. An epoch then takes one
    /// of them.
    #[arg(long, default_value_t = FrameOptions::default().draws, value_name = "K", conflicts_with = "pace", value_parser = clap::value_parser!(u32).range(1..))]
    draws: u32,
    /// Seed for --sample random and random-clip.
    #[arg(long, default_value_t = FrameOptions::default().seed)]
    seed: u64,
    /// Instead of N frames: this many a second, such as 8, 29.97 or 30000/1001, by the time at which frames are shown.
    #[arg(long, value_name = "RATE", conflicts_with_all = ["frames", "sample"])]
    fps: Option<Rate>,
    /// Instead of N frames: the first and every Kth after it.
    #[arg(long, value_name = "K", conflicts_with_all = ["frames", "sample"], value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// Instead of N frames: all.
    #[arg(long, conflicts_with_all = ["frames", "sample"])]
    all: bool,
    /// Instead of N frames: the key frames.
    #[arg(long, conflicts_with_all = ["frames", "sample"])]
    keyframes: bool,
    /// With --fps, --every, --all or --keyframes: take at most N frames, spread evenly.
    #[arg(long, value_name = "N", requires = "pace", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FRAMES_PER_CLIP)))]
    max_frames: Option<u32>,
}

impl FrameArgs {
    /// The other options with these in their places.
    pub fn apply(&self, options: FrameOptions) -> FrameOptions {
        FrameOptions {
            count: self.frames,
            rule: self.rule(),
            short: self.short,
            seed: self.seed,
            draws: self.draws,
            pace: self.pace(),
            max_frames: self.max_frames,
            ..options
        }
    }

    fn rule(&self) -> Rule {
        match self.sample {
            Rule::Clip { .. } => Rule::Clip { stride: self.stride },
            Rule::RandomClip { .. } => Rule::RandomClip { stride: self.stride },
            rule => rule,
        }
    }

    fn pace(&self) -> Option<Pace> {
        let chosen = [
            self.fps.map(Pace::Fps),
            self.every.map(Pace::Every),
            self.all.then_some(Pace::All),
            self.keyframes.then_some(Pace::KeyFrames),
        ];
        chosen.into_iter().flatten().next()
    }
}

//! The options of `vidrec pack` that say which frames are taken.

use vidrec::pack::FrameOptions;
use vidrec::pack::arguments::pace;
use vidrec::sampler::{Rate, Rule, Short};

use super::number::number;
use crate::words::words;

#[derive(clap::Args)]
#[command(next_help_heading = "Frames")]
pub struct FrameArgs {
    /// Frames to take from each video.
    #[arg(short = 'n', long, default_value_t = FrameOptions::default().count, value_name = "N", value_parser = number::<u32>("frames"))]
    frames: u32,
    /// Which frames: the centers of N equal segments; first, last and evenly between; one at random in each of N
    /// segments; N in a row from the middle; N in a row from anywhere.
    #[arg(long, default_value_t, value_name = "RULE", value_parser = words::<Rule>(Rule::WORDS))]
    sample: Rule,
    /// With --sample clip or random-clip: take every Kth frame. [default: 1]
    #[arg(long, value_name = "K", value_parser = number::<u32>("stride"))]
    stride: Option<u32>,
    /// What to do with a video of too few frames.
    #[arg(long, default_value_t, value_name = "HOW", value_parser = words::<Short>(Short::WORDS))]
    short: Short,
    /// With --sample random or random-clip: store K draws of each video, as clips side by side. An epoch then takes one
    /// of them.
    #[arg(long, default_value_t = FrameOptions::default().draws, value_name = "K", value_parser = number::<u32>("draws"))]
    draws: u32,
    /// Seed for --sample random and random-clip.
    #[arg(long, default_value_t = FrameOptions::default().seed, value_parser = number::<u64>("seed"))]
    seed: u64,
    /// Instead of N frames: this many a second, such as 8, 29.97 or 30000/1001, by the time at which frames are shown.
    #[arg(long, value_name = "RATE")]
    fps: Option<Rate>,
    /// Instead of N frames: the first and every Kth after it.
    #[arg(long, value_name = "K", value_parser = number::<u32>("every"))]
    every: Option<u32>,
    /// Instead of N frames: all.
    #[arg(long)]
    all: bool,
    /// Instead of N frames: the key frames.
    #[arg(long)]
    keyframes: bool,
    /// With --fps, --every, --all or --keyframes: take at most N frames, spread evenly.
    #[arg(long, value_name = "N", value_parser = number::<u32>("max_frames"))]
    max_frames: Option<u32>,
}

impl FrameArgs {
    /// The other options with these in their places.
    pub fn apply(&self, options: FrameOptions) -> vidrec::Result<FrameOptions> {
        Ok(FrameOptions {
            count: self.frames,
            rule: self.stride.map_or(Ok(self.sample), |stride| self.sample.with_stride(stride))?,
            short: self.short,
            seed: self.seed,
            draws: self.draws,
            pace: pace(self.fps, self.every, self.all, self.keyframes),
            max_frames: self.max_frames,
            ..options
        })
    }
}

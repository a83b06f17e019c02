//! The options of `vidrec pack` that say what its inputs are.

use std::path::PathBuf;

use vidrec::pack::{InputOptions, SegmentClock};
use vidrec::sampler::Rate;

#[derive(clap::Args)]
#[command(next_help_heading = "Inputs")]
pub struct InputArgs {
    /// Where the paths of a manifest begin. [default: the manifest's folder]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Take only this split, as a manifest's column "split" names it.
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// All class names in the order of their labels: one a line, or NUMBER NAME, or JSON. [default: those that occur,
    /// sorted]
    #[arg(long, value_name = "FILE")]
    classes: Option<PathBuf>,
    /// Take whole files, whatever start and end a manifest gives.
    #[arg(long)]
    whole_files: bool,
    /// What start and end of a manifest count from: "player", what a player shows, which in MPEG transport and programme
    /// streams and Ogg is the time since the first packet of sound or picture, and elsewhere the container's own time; or
    /// "first-frame", the time since the first frame of the video.
    #[arg(long, value_name = "CLOCK", default_value_t = SegmentClock::Player)]
    pub segment_clock: SegmentClock,
    /// Store the JPEGs of folders of frames as they are, byte for byte, at their own size and quality.
    #[arg(long)]
    pass_through: bool,
    /// How many frames of a folder of frames make a second. [default: unknown; nothing can be chosen by time]
    #[arg(long, value_name = "RATE")]
    picture_fps: Option<Rate>,
    /// Store the clips in a shuffled order. [default: the order of the inputs]
    #[arg(long, value_name = "SEED")]
    shuffle_seed: Option<u64>,
}

impl InputArgs {
    pub fn options(&self) -> InputOptions {
        InputOptions {
            root: self.root.clone(),
            split: self.split.clone(),
            classes: self.classes.clone(),
            whole_files: self.whole_files,
            shuffle_seed: self.shuffle_seed,
        }
    }

    pub fn pass_through(&self) -> bool {
        self.pass_through
    }

    pub fn picture_rate(&self) -> Option<Rate> {
        self.picture_fps
    }
}

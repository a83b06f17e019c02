//! The options of `vidrec pack` that say what its inputs are.

use std::path::PathBuf;

use vidrec::Storage;
use vidrec::pack::{FrameOptions, InputOptions, SegmentClock, TrackSpec};
use vidrec::sampler::Rate;

use super::number::number;
use crate::words::words;

#[derive(clap::Args)]
#[command(next_help_heading = "Inputs")]
pub struct InputArgs {
    /// Folder that the paths of a manifest or of the videos of a LeRobot data set are relative to, or a remote location,
    /// such as s3://bucket/videos. [default: the folder of the manifest or of the data set]
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
    /// Take also what lies outside the input folders: what links in them lead to, and absolute paths, paths with .. and URLs
    /// of lists that were found in them. Set it if you trust whoever made the folders. What you name yourself, a list or
    /// --root, may always lead anywhere.
    #[arg(long)]
    outside: bool,
    /// What start and end of a manifest count from: "player", what a player shows, which in MPEG transport and program
    /// streams and Ogg is the time since the first packet of sound or picture, and elsewhere the container's own time; or
    /// "first-frame", the time since the first frame of the video.
    #[arg(long, value_name = "CLOCK", default_value_t, value_parser = words::<SegmentClock>(SegmentClock::WORDS))]
    segment_clock: SegmentClock,
    /// Store the JPEGs of folders of frames as they are, byte for byte, at their own size and quality.
    #[arg(long)]
    pub pass_through: bool,
    /// How many frames of a folder of frames make a second. [default: unknown, and nothing can be chosen by time]
    #[arg(long, value_name = "RATE")]
    picture_fps: Option<Rate>,
    /// Pack a track beside the frames, NAME=COLUMN,WORDS: a column of a manifest that names a file for each video (.npy,
    /// .npz, .parquet, .csv, .tsv, .json) or holds a list. The words say how its values lie in time: rate=50 a second;
    /// times=T, the array or column that has them; spans, each with a start and an end; frames, one for each frame of the
    /// video, of which those of the packed frames are stored; every-frame, all of them. Also values=A+B, type=f32, unit=us,
    /// clock=segment, tolerance=0.5, partial, nan: see docs/tracks.md. Can be given several times.
    #[arg(long, value_name = "TRACK")]
    track: Vec<TrackSpec>,
    /// Store the clips in a shuffled order. [default: the order of the inputs]
    #[arg(long, value_name = "SEED", value_parser = number::<u64>("shuffle_seed"))]
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
            tracks: self.track.clone(),
            outside: self.outside,
            storage: Storage::default(),
        }
    }

    /// What of these decides which frames are taken.
    pub fn apply(&self, options: FrameOptions) -> FrameOptions {
        FrameOptions { picture_rate: self.picture_fps, segment_clock: self.segment_clock, ..options }
    }
}

//! The options of `vidrec pack` that say what happens when something goes wrong, and where shards end.

use std::ffi::OsString;

use vidrec::pack::given::{Seconds, interrupted, sharding};
use vidrec::pack::{MaxFailures, OnError, RunOptions, VideoLimits};

use super::number::number;
use crate::words::words;

#[derive(clap::Args)]
#[command(next_help_heading = "Safety")]
pub struct SafetyArgs {
    /// Resume an interrupted run of the same inputs and options; begin if there is none.
    #[arg(long)]
    resume: bool,
    /// Discard an interrupted run and start over.
    #[arg(long)]
    restart: bool,
    /// Write finished clips to the disk this often, in seconds; 0: after each video.
    #[arg(long, default_value_t = Seconds(RunOptions::default().commit_every), value_name = "SECONDS")]
    commit_every: Seconds,
    /// Skip a video that cannot be packed, or stop at it.
    #[arg(long, default_value_t, value_name = "HOW", value_parser = words::<OnError>(OnError::WORDS))]
    on_error: OnError,
    /// Stop when more videos than this fail: a number, or a share of all such as 1%. What is done can be resumed.
    #[arg(long, value_name = "N|P%")]
    max_failures: Option<MaxFailures>,
    /// Pack again only what failed when the data set in OUTPUT was packed with the same inputs and options. Everything else
    /// is copied, and the result is that of a run in which it had not failed.
    #[arg(long)]
    pub retry_failed: bool,
    /// Longest time for one video, in seconds; one that takes longer fails.
    #[arg(long, default_value_t = Seconds(VideoLimits::default().timeout), value_name = "SECONDS", value_parser = Seconds::above_zero)]
    timeout: Seconds,
    /// Most pixels that a picture of a video may have, width times height; a video with more fails. [default: 2^28]
    #[arg(long, value_name = "N", value_parser = number::<u64>("max_pixels"))]
    max_pixels: Option<u64>,
    /// Longest video, in seconds; a longer one fails.
    #[arg(long, value_name = "SECONDS", value_parser = Seconds::above_zero)]
    max_duration: Option<Seconds>,
    /// Decode in separate processes, one for each of --threads: a codec that crashes costs one video and not the run, and
    /// one that hangs is killed after --timeout. The bytes are the same.
    #[arg(long)]
    pub isolate: bool,
    /// Be such a process.
    #[arg(long, hide = true)]
    pub isolated_worker: bool,
    /// Spread the clips over N shards with the same number of videos each, in order.
    #[arg(long, value_name = "N", value_parser = number::<u32>("shards"))]
    shards: Option<u32>,
    /// Begin another shard where the clips of a video would make a record file longer than this, such as 1GiB or 500MB.
    #[arg(long, value_name = "SIZE", value_parser = vidrec::parse_bytes)]
    shard_size: Option<u64>,
}

impl SafetyArgs {
    pub fn run(&self, overwrite: bool) -> RunOptions {
        RunOptions {
            sharding: sharding(self.shards, self.shard_size),
            overwrite,
            interrupted: interrupted(self.resume, self.restart),
            retry_failed: self.retry_failed,
            on_error: self.on_error,
            max_failures: self.max_failures,
            commit_every: self.commit_every.0,
        }
    }

    pub fn limits(&self) -> VideoLimits {
        let default = VideoLimits::default();
        VideoLimits {
            timeout: self.timeout.0,
            max_pixels: self.max_pixels.unwrap_or(default.max_pixels),
            max_duration: self.max_duration.map(|Seconds(most)| most),
        }
    }
}

/// A command line again, for a process that decodes.
pub fn worker_command(mut command_line: Vec<OsString>) -> Vec<OsString> {
    command_line.push("--isolated-worker".into());
    command_line
}

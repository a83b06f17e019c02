//! The options of `vidrec pack` and `vidrec plan` that say what a video may take, how many may fail, and where shards end.

use vidrec::pack::arguments::{Seconds, sharding};
use vidrec::pack::{MaxFailures, OnError, RunOptions, VideoLimits};

use super::number::number;
use crate::words::words;

#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Skip a video that cannot be packed, or stop at it.
    #[arg(long, default_value_t, value_name = "HOW", value_parser = words::<OnError>(OnError::WORDS))]
    on_error: OnError,
    /// Stop when more videos than this fail: a number, or a share of all such as 1%. What is done can be resumed.
    #[arg(long, value_name = "N|P%")]
    max_failures: Option<MaxFailures>,
    /// Longest time for one video, in seconds; one that takes longer fails.
    #[arg(long, default_value_t = Seconds(VideoLimits::default().timeout), value_name = "SECONDS", value_parser = Seconds::above_zero)]
    timeout: Seconds,
    /// Most pixels that a picture of a video may have, width times height; a video with more fails. [default: 2^28]
    #[arg(long, value_name = "N", value_parser = number::<u64>("max_pixels"))]
    max_pixels: Option<u64>,
    /// Longest video, in seconds; a longer one fails.
    #[arg(long, value_name = "SECONDS", value_parser = Seconds::above_zero)]
    max_duration: Option<Seconds>,
    /// Spread the clips over N shards with the same number of videos each, in order.
    #[arg(long, value_name = "N", value_parser = number::<u32>("shards"))]
    shards: Option<u32>,
    /// Begin another shard where the clips of a video would make a record file longer than this, such as 1GiB or 500MB.
    #[arg(long, value_name = "SIZE", value_parser = vidrec::parse_bytes)]
    shard_size: Option<u64>,
}

impl LimitArgs {
    /// The other options with these in their places.
    pub fn apply(&self, options: RunOptions) -> RunOptions {
        let sharding = sharding(self.shards, self.shard_size);
        RunOptions { sharding, on_error: self.on_error, max_failures: self.max_failures, ..options }
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

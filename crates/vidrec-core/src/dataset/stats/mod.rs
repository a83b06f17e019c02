//! Statistics of data sets: one pass over each index, and distributions in bins that all data sets share.

mod categories;
mod clip_numbers;
mod compute;
mod distribution;
mod pictures;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod stats;
mod survey;
mod tracks;

pub use clip_numbers::ClipNumbers;
pub use compute::{class_stats, stats, stats_of};
pub use distribution::{Bin, Distribution, Summary};
pub use pictures::{Levels, level_stats, picture_stats, picture_stats_of};
pub use stats::{ClassStats, Stats};
pub use tracks::{TrackStats, track_stats, track_stats_of};

//! Statistics of data sets: one pass over each index, and distributions in bins that all data sets share.

mod clips;
mod distribution;
mod pictures;
mod tracks;

pub use clips::{ClassStats, ClipNumbers, Stats, class_stats, stats, stats_of};
pub use distribution::{Bin, Distribution, Summary};
pub use pictures::{Levels, level_stats, picture_stats, picture_stats_of};
pub use tracks::{TrackStats, track_stats, track_stats_of};

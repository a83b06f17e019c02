//! Statistics of data sets: distributions of their clips, and the numbers of their tracks and pictures.

mod clips;
mod distribution;
mod numbers;

pub use clips::{ClassStats, ClipNumbers, Stats, stats, stats_of};
pub use distribution::{Bin, Distribution, Summary};
pub use numbers::{TrackStats, picture_stats, track_stats};

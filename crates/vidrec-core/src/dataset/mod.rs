//! Data sets: opening, reading, writing, verifying, editing and repairing them.

pub mod edit;
pub mod listing;
pub mod repair;
pub mod verify;
pub mod writer;

mod classes;
mod clip;
mod clock;
mod data_set;
mod failures;
mod frame;
mod index;
mod lazy_shard;
mod open_options;
mod prefetch;
mod records;
mod request_ranges;
mod shard;
mod source;
mod stats;
mod track;
mod track_file;
mod warm;

pub use classes::{JoinedClasses, joined_classes};
pub use clip::Clip;
pub use clock::{ClockStart, begin_together, different_clocks};
pub use data_set::{Dataset, Fingerprint};
pub use failures::FailedSource;
pub use frame::Frame;
pub use index::{Index, Tables, proven_bytes};
pub use listing::Leftover;
pub use open_options::{Io, OpenOptions};
pub(crate) use records::RecordsDigest;
pub use shard::{Shard, split_payload};
pub use source::Source;
pub use stats::{
    Bin, ClassStats, ClipNumbers, Distribution, Levels, Stats, Summary, TrackStats, class_stats, level_stats,
    picture_stats, picture_stats_of, stats, stats_of, track_stats, track_stats_of,
};
pub use track::{ClipTracks, TrackView, Values};
pub use track_file::TrackFile;
pub use warm::WarmReport;

//! Data sets: opening, reading, writing, verifying, editing and repairing them.

pub mod edit;
pub mod repair;
pub mod verify;
pub mod writer;

mod clip;
mod clock;
mod data_set;
mod failures;
mod fingerprint;
mod frame;
mod index;
mod io;
#[doc(hidden)]
pub mod joined_classes;
#[doc(hidden)]
pub mod listing;
mod open_options;
mod prefetch;
mod records;
mod records_digest;
mod runs;
mod shard;
mod slot;
mod source;
mod stats;
mod tables;
mod track;
mod track_file;
mod track_sums;
mod warm;
mod warm_remote;
mod warm_report;

pub use clip::Clip;
#[doc(hidden)]
pub use clock::{begin_together, different_clocks};
pub use data_set::Dataset;
pub use fingerprint::Fingerprint;
pub use frame::Frame;
#[doc(hidden)]
pub use index::{Index, proven_bytes};
pub use io::Io;
#[doc(hidden)]
pub use joined_classes::joined_classes;
pub use listing::Leftover;
pub use open_options::OpenOptions;
pub(crate) use records_digest::RecordsDigest;
#[doc(hidden)]
pub use shard::{Shard, split_payload};
#[doc(hidden)]
pub use source::Source;
pub use stats::{
    Bin, ClassStats, Distribution, Stats, Summary, TrackStats, class_stats, picture_stats, stats, stats_of, track_stats,
};
#[doc(hidden)]
pub use stats::{ClipNumbers, Levels, level_stats, picture_stats_of, track_stats_of};
#[doc(hidden)]
pub use tables::Tables;
#[doc(hidden)]
pub use track::Values;
pub use track::{ClipTracks, TrackView};
#[doc(hidden)]
pub use track_file::TrackFile;
pub use warm_report::WarmReport;

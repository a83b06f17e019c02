//! Data sets: opening, reading, writing, verifying, editing and repairing them.

pub mod edit;
pub mod repair;
pub mod verify;
pub mod writer;

mod clip;
mod dataset;
mod failures;
mod fingerprint;
mod frame;
mod index;
#[doc(hidden)]
pub mod joined_classes;
#[doc(hidden)]
pub mod listing;
mod open_options;
mod prefetch;
mod runs;
mod shard;
mod slot;
mod stats;
mod storage;
mod tables;
mod track;
mod track_file;
mod track_sums;
mod warm;
mod warm_remote;
mod warm_report;

pub use clip::Clip;
pub use dataset::Dataset;
pub use fingerprint::Fingerprint;
pub use frame::Frame;
#[doc(hidden)]
pub use index::{Bytes, Index, proven_bytes};
#[doc(hidden)]
pub use joined_classes::joined_classes;
pub use listing::Leftover;
pub use open_options::OpenOptions;
#[doc(hidden)]
pub use open_options::Source;
#[doc(hidden)]
pub use shard::{Shard, split_payload};
pub use stats::{Bin, ClassStats, SizeStats, Stats, Summary, stats};
pub use storage::Io;
pub(crate) use storage::RecordsDigest;
#[doc(hidden)]
pub use tables::Tables;
pub use track::{ClipTracks, TrackView};
#[doc(hidden)]
pub use track_file::TrackFile;
pub use warm_report::WarmReport;

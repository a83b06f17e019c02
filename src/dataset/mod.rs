//! Reading a data set: its files, what is checked in them, its clips and frames.

mod bring;
mod clip;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod dataset;
mod failures;
mod fingerprint;
mod frame;
mod index;
mod joined_classes;
pub(crate) mod listing;
mod open_options;
#[cfg(feature = "remote")]
mod runs;
mod shard;
mod slot;
mod stats;
mod storage;
mod tables;
mod track;
mod track_file;
mod warm;
#[cfg(feature = "remote")]
mod warm_remote;
mod warm_report;

pub use clip::Clip;
pub use dataset::Dataset;
pub use fingerprint::Fingerprint;
pub use frame::Frame;
pub(crate) use index::{Bytes, Index, proven_bytes};
pub(crate) use joined_classes::joined_classes;
pub use listing::Leftover;
pub use open_options::OpenOptions;
pub(crate) use open_options::Source;
pub(crate) use shard::{Shard, split_payload};
pub use stats::{Bin, ClassStats, SizeStats, Stats, Summary, stats};
pub use storage::Io;
pub(crate) use storage::RecordsDigest;
pub(crate) use tables::Tables;
pub use track::{ClipTracks, TrackView};
pub(crate) use track_file::TrackFile;
pub use warm_report::WarmReport;

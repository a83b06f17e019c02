//! Data sets: opening, reading, writing, verifying, editing and repairing them.

pub mod edit;
pub mod listing;
pub mod repair;
pub mod verify;
pub mod writer;

mod added;
mod clip;
mod data_set;
mod index;
mod prefetch;
mod records;
mod shard;
mod source;
mod source_size;
mod track;
mod track_file;
mod track_stats;

pub use added::AddedClips;
pub use clip::{Clip, Frame, different_clocks};
pub use data_set::{Dataset, Fingerprint};
pub use index::{Index, proven_bytes};
pub use listing::{FailedSource, Leftover};
pub(crate) use records::RecordsDigest;
pub use shard::{Shard, split_payload};
pub use source::{Io, OpenOptions, Source};
#[doc(hidden)]
pub use source_size::display_size;
pub use track::{ClipTracks, TrackView, Values};
pub use track_file::TrackFile;
pub use track_stats::{TrackStats, picture_stats, track_stats};

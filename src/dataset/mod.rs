//! Reading a data set: its files, what is checked in them, its clips and frames.

mod clip;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod dataset;
mod fingerprint;
mod frame;
mod index;
pub(crate) mod listing;
mod shard;
mod stats;
mod storage;

pub use clip::Clip;
pub use dataset::Dataset;
pub use fingerprint::Fingerprint;
pub use frame::Frame;
pub(crate) use index::{Index, proven_bytes};
pub use listing::Leftover;
pub(crate) use shard::{Shard, split_payload};
pub use stats::{Bin, ClassStats, SizeStats, Stats, Summary, stats};
pub use storage::Io;

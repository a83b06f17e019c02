//! Writing a data set. Frames stream to the disk, and files get their final names only when everything is complete.

mod clip_info;
#[cfg(feature = "pack")]
mod failures;
mod index;
#[cfg(feature = "pack")]
mod recovery;
mod replace;
mod shard;
mod sharding;
mod track;
mod track_file;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod writer;
mod written;

pub use clip_info::{ClipInfo, FrameData};
#[cfg(feature = "pack")]
pub(crate) use failures::stage_failures;
pub(crate) use index::{FinishedIndex, IndexWriter};
pub(crate) use replace::{replaceable, stage};
#[cfg(feature = "pack")]
pub(crate) use shard::{Checkpoint, ShardDone};
pub(crate) use sharding::OpenShard;
pub use sharding::Sharding;
#[cfg(feature = "pack")]
pub(crate) use track::EncodedTrack;
pub use track::{Track, TrackTimes, TrackValues};
pub(crate) use track_file::TrackWriter;
pub(crate) use writer::lock;
pub use writer::{Writer, WriterOptions, Written};
#[cfg(feature = "remote")]
pub(crate) use writer::{lock_with_leftovers, remove_leftovers};

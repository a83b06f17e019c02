//! Writing a data set. Frames stream to the disk, and files get their final names only when everything is complete.

mod clip_info;
mod failures;
mod index;
mod replace;
mod shard;
mod sharding;
mod sound_coding;
mod track;
mod track_file;
#[expect(clippy::module_inception, reason = "the room is named after its main type")]
mod writer;
mod written;

pub use clip_info::{ClipInfo, FrameData};
#[doc(hidden)]
pub use failures::{describe_failures, stage_failures};
#[doc(hidden)]
pub use index::{FinishedIndex, IndexWriter};
#[doc(hidden)]
pub use replace::{replaceable, stage, there_already};
#[doc(hidden)]
pub use shard::FinishedShard;
pub(crate) use sharding::OpenShard;
pub use sharding::Sharding;
#[doc(hidden)]
pub use sharding::first_video;
pub use sound_coding::SoundCoding;
#[doc(hidden)]
pub use track::{EncodedTrack, NewPictures};
pub use track::{Track, TrackTimes, TrackValues};
pub(crate) use writer::Ready;
#[doc(hidden)]
pub use writer::lock;
pub use writer::{Writer, WriterOptions, Written};
#[doc(hidden)]
pub use writer::{lock_with_leftovers, remove_leftovers};

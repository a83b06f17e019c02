//! Writing a data set. Frames stream to the disk, and files get their final names only when everything is complete.

mod files;
mod index;
mod publish;
mod shard;
mod sharding;
mod track;
#[expect(clippy::module_inception, reason = "the file is named after the main type")]
mod writer;

pub(crate) use files::{DigestedFile, TrackFileWriter, numbered};
pub use index::{ClipInfo, FrameData};
pub use publish::{
    describe_failures, lock, lock_with_leftovers, remove_leftovers, replaceable, stage_failures, there_already,
};
pub use shard::FinishedShard;
pub(crate) use sharding::OpenShard;
pub use sharding::{Sharding, first_video};
pub use track::{EncodedTrack, NewPictures, SoundCoding, Track, TrackTimes, TrackValues};
pub(crate) use writer::check_class;
pub use writer::{WriteReport, Writer, WriterOptions};

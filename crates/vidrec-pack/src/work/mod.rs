//! Turns jobs into clips. Each thread decodes and encodes one video at a time, and results come in the order of
//! the jobs.
//!
//! ```text
//! ordered.rs      parallel work with results in order
//! sources.rs      packs a video in this process or in a worker process
//! clip.rs         turns one video into its clips: choose.rs, then video.rs or pictures.rs
//! tracks.rs       the tracks of a clip: from its row of the manifest, and the sound of its video
//! video_store.rs  opens videos, wherever they are, and keeps some open for the next clip of them
//! worker_process.rs  decodes in worker processes; messages.rs: their messages and what a worker asks its run for
//! confine/        the privileges that a worker gives up; tests/: what tests make decoders do
//! memory.rs       a bound for all videos in progress
//! ```

mod choose;
mod clip;
mod confine;
mod memory;
pub(super) mod messages;
mod options;
mod ordered;
mod packed;
mod pictures;
mod sources;
mod stamp;
#[cfg(debug_assertions)]
mod tests;
mod tracks;
mod video;
mod video_store;
mod worker_process;

pub(super) use clip::pack_one;
pub(super) use confine::confine;
pub(super) use memory::MemoryBound;
pub(super) use messages::RunClient;
pub(super) use options::ClipRecipe;
pub use options::{FrameChoice, FrameOptions, LimitOptions, MaxFailures, PictureOptions, Resources};
pub(super) use ordered::{Event, for_each};
pub use packed::Failure;
pub(super) use packed::{PackedClip, PackedFrame, PackedVideo};
pub(super) use sources::{PackResult, Sources};
pub(super) use stamp::{InputStamps, ObjectStamp, look};
pub(super) use tracks::sound_schema;
pub(super) use video_store::{OpenVideos, VideoStore};
pub(super) use worker_process::Pool;

//! Turns jobs into clips. Each thread decodes and encodes one video at a time, and results come in the order of
//! the jobs.
//!
//! ```text
//! ordered.rs      parallel work with results in order
//! sources.rs      packs a video in this process or in a worker process
//! clip.rs         turns one video into its clips: choose.rs, then video.rs or pictures.rs, and encode.rs
//! tracks.rs       the tracks of a clip: from its row of the manifest, and the sound of its video
//! video_store.rs  opens videos, wherever they are, and keeps some open for the next clip of them
//! pool.rs         decodes in worker processes; messages.rs: their messages; run_client.rs: what a worker asks its run for
//! confine/        the privileges that a worker gives up; fault.rs, escape.rs: what tests make decoders do
//! memory.rs       a bound for all videos in progress
//! permits.rs      limits how many videos are packed at a time
//! ```

mod choose;
mod clip;
mod confine;
mod encode;
#[cfg(all(target_os = "linux", debug_assertions))]
mod escape;
mod fault;
mod frame_choice;
mod memory;
pub(super) mod messages;
mod options;
mod ordered;
mod packed;
mod permits;
mod pictures;
mod run_client;
mod sources;
mod stamp;
mod tracks;
mod video;
mod video_store;
mod worker_process;

pub(super) use clip::pack_one;
pub(super) use confine::confine;
pub use frame_choice::FrameChoice;
pub(super) use memory::MemoryBound;
pub(super) use options::ClipRecipe;
pub use options::{FrameOptions, LimitOptions, MaxFailures, PictureOptions, Quality, Resources};
pub(super) use ordered::{Event, for_each};
pub use packed::Failure;
pub(super) use packed::{PackedClip, PackedFrame};
pub(super) use permits::ThreadLimit;
pub(super) use run_client::RunClient;
pub(super) use sources::{PackedVideo, Sources};
pub(super) use stamp::{ChangedFile, Stamp, changed_file, track_stamps};
pub(super) use tracks::{sound_channels, sound_schema};
pub(super) use video_store::{OpenVideos, VideoStore};
pub(super) use worker_process::Pool;

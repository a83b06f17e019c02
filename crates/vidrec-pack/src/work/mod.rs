//! Turns jobs into clips. Each thread decodes and encodes one video at a time, and results come in the order of
//! the jobs.
//!
//! ```text
//! ordered.rs     parallel work with results in order
//! sources.rs     decides where a video is decoded
//! clip.rs        turns one video into its clips: choose.rs, then video.rs or pictures.rs, and encode.rs
//! sound.rs       the sound of a video as a track
//! tracks.rs      the tracks of a clip, from its row of the manifest
//! video_store.rs opens videos, wherever they are; open_videos.rs: keeps them open for the next clip of them
//! isolate.rs     decodes in separate processes; spawner.rs: starts them; wire.rs: their messages;
//!                worker_requests.rs, grants.rs: what they may not open themselves; descriptors.rs: passes open files
//! confine/       the privileges that such a process gives up
//! memory.rs      a bound for all videos in progress; read_ahead.rs: reads the next files into the system's cache
//! gate.rs        limits how many videos are packed at a time
//! ```

mod choose;
mod clip;
mod confine;
#[cfg(unix)]
mod descriptors;
mod encode;
mod encoded_source;
mod failure;
mod fault;
mod frame_choice;
mod gate;
mod grants;
mod grid;
mod isolate;
mod max_failures;
mod memory;
mod open_videos;
mod options;
mod ordered;
mod packed;
mod pictures;
mod quality;
mod read_ahead;
mod sound;
mod sources;
mod spawner;
mod stamp;
mod tracks;
mod video;
mod video_store;
pub(super) mod wire;
mod worker_requests;

pub(super) use clip::pack_one;
pub(super) use confine::confine;
#[cfg(unix)]
pub(super) use descriptors::FileReceiver;
pub(super) use failure::ClipFailure;
pub use failure::{Failure, PackStage};
pub use frame_choice::FrameChoice;
pub(super) use gate::{Gate, Slowed};
pub(super) use isolate::Pool;
pub use max_failures::MaxFailures;
pub(super) use memory::MemoryBound;
pub(super) use open_videos::OpenVideos;
pub(super) use options::ClipRecipe;
pub use options::{FrameOptions, LimitOptions, PictureOptions, Resources};
pub(super) use ordered::{Event, for_each};
pub(super) use packed::{PackedClip, PackedFrame};
pub use quality::Quality;
pub(super) use sound::{sound_channels, sound_schema};
pub(super) use sources::{PackedVideo, Sources, pack_somewhere, shared};
pub(super) use stamp::{ChangedFile, Stamp, changed_file, track_stamps};
pub(super) use video_store::VideoStore;
pub(super) use worker_requests::{Gift, Line};

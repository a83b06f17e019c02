//! From jobs to clips: each thread decodes and encodes one video at a time; results come in the order of the jobs.
//!
//! ```text
//! ordered.rs     parallel work with results in order
//! sources.rs     which way a video is packed; copies.rs: from a data set packed before
//! clip.rs        one video to its clips: choose.rs, then video.rs or pictures.rs, and encode.rs
//! sound.rs       the sound of a video as a track
//! tracks.rs      the tracks of a clip, from what its row gives
//! video_store.rs where videos are
//! isolate.rs     decoding in processes of their own; start.rs: starting them; wire.rs: what is said;
//!                ask.rs, give.rs: what they may not open themselves; descriptors.rs: open files handed over
//! confine/       what such a process gives up
//! memory.rs      a bound for all videos in work; read_ahead.rs: the next files into the system's cache
//! gate.rs        how many videos at a time; fewer where the machine has not enough
//! ```

mod ask;
mod choose;
mod clip;
mod confine;
mod copies;
#[cfg(unix)]
mod descriptors;
mod encode;
mod encoded_source;
mod failure;
mod fault;
mod gate;
mod give;
mod isolate;
mod memory;
mod options;
mod ordered;
mod packed;
mod pictures;
mod read_ahead;
mod sound;
mod sources;
mod stamp;
mod start;
mod tracks;
mod video;
mod video_store;
pub(super) mod wire;

pub(super) use ask::{Gift, Line};
pub(super) use clip::pack_one;
pub(super) use confine::confine;
pub(super) use copies::{Copies, video_facts};
#[cfg(unix)]
pub(super) use descriptors::FileReceiver;
pub(super) use failure::ClipFailure;
pub use failure::PackStage;
pub(super) use gate::{Gate, Slowed};
pub(super) use isolate::Pool;
pub(super) use memory::MemoryBound;
pub use options::{FrameOptions, PictureOptions, Resources, VideoLimits};
pub(super) use options::{MAX_DRAWS, Recipe};
pub(super) use ordered::{Event, Flow, for_each};
pub(super) use packed::PackedClip;
pub(super) use sound::{SOUND, sound_channels, sound_schema};
pub(super) use sources::{PackedVideo, Sources, pack_somewhere};
pub(super) use stamp::{Stamp, track_stamps};
pub(super) use video_store::VideoStore;

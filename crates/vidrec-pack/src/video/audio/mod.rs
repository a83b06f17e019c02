//! The sound of a video, at a fixed rate.
//!
//! ```text
//! options.rs    rate and channels
//! facts.rs      facts about the sound, and its errors
//! steady.rs     places samples whose times do not fit
//! resample.rs   converts rates, formats and channels
//! read.rs       decodes packets to samples
//! cache.rs      keeps the sound of whole videos for their parts
//! ```

mod cache;
mod options;
mod read;
mod resample;

pub use super::facts::AudioFacts;
pub(crate) use cache::SoundCache;
pub use options::{AudioChannels, AudioOptions};
pub(crate) use read::{MAX_BYTES, Sound, read};

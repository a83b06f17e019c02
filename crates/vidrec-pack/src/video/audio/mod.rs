//! The sound of a video, at a fixed rate.
//!
//! ```text
//! options.rs    rate, channels and coding
//! resample.rs   converts rates, formats and channels
//! read.rs       decodes packets to samples, places them, and keeps those of whole videos for their parts
//! ```

mod options;
mod read;
mod resample;

pub use super::facts::AudioFacts;
pub use options::{AudioChannels, AudioOptions};
pub(crate) use read::{MAX_BYTES, Sound, SoundCache, read};

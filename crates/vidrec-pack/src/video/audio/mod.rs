//! The sound of a video, at a fixed rate.
//!
//! ```text
//! options.rs    rate and channels
//! facts.rs      facts about the sound, and its errors
//! steady.rs     places samples whose times do not fit
//! resample.rs   converts rates, formats and channels
//! read.rs       decodes packets to samples
//! ```

mod facts;
mod options;
mod read;
mod resample;
mod steady;

pub use facts::AudioFacts;
pub use options::{AudioChannels, AudioOptions};
pub(crate) use read::{Sound, read};

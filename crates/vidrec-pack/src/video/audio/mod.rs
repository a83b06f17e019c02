//! The sound of a video, at a fixed rate.
//!
//! ```text
//! options.rs    rate and channels
//! facts.rs      facts about the sound, and its errors
//! steady.rs     places samples whose times do not fit
//! resample.rs   converts rates, formats and channels
//! read.rs       decodes packets to samples
//! whole.rs      keeps the sound of whole videos for their parts
//! ```

mod facts;
mod options;
mod read;
mod resample;
mod steady;
mod whole;

pub use facts::AudioFacts;
pub use options::{AudioChannels, AudioOptions};
pub(crate) use read::{MAX_BYTES, Sound, read};
pub(crate) use whole::KeptSound;

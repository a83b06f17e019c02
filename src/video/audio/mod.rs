//! The sound of a video, at a fixed rate.
//!
//! ```text
//! options.rs    rate and channels
//! facts.rs      what was found, and what was wrong
//! steady.rs     where samples go that are not where they should be
//! resample.rs   other rates, formats and channels
//! read.rs       from packets to samples
//! ```

mod facts;
mod options;
mod read;
mod resample;
mod steady;

pub use facts::AudioFacts;
pub use options::{AudioChannels, AudioOptions};
pub(crate) use read::{Sound, read};

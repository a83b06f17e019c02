//! What was found of a video's sound.

use serde::{Deserialize, Serialize};

/// Facts about the sound of a video.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AudioFacts {
    /// FFmpeg's name of the codec; empty if the video has no sound.
    pub codec: String,
    /// Samples a second in the video.
    pub rate: u32,
    /// Channels in the video.
    pub channels: u32,
    /// Gaps that were filled with silence: places where the next sound comes later than the one before it ends, by more
    /// than 20 ms.
    pub gaps: u64,
    /// Samples of silence in them, at the video's rate.
    pub silent_samples: u64,
    /// Samples that were cut because they overlap with those before them by more than 20 ms, at the video's rate.
    pub cut_samples: u64,
    /// Packets that the container marks as damaged.
    pub corrupt_packets: u64,
    /// Packets that the decoder refused, and reads that broke off.
    pub decode_errors: u64,
    /// Errors that FFmpeg logged.
    pub logged_errors: u64,
    /// FFmpeg's text of the first error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
}

impl AudioFacts {
    /// How many things were wrong.
    pub(crate) fn errors(&self) -> u64 {
        self.corrupt_packets + self.decode_errors + self.logged_errors
    }
}

//! The facts about a video's sound.

use serde::{Deserialize, Serialize};

/// Facts about the sound of a video.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AudioFacts {
    /// FFmpeg's name for the codec; empty if the video has no sound.
    pub codec: String,
    /// The sample rate of the video, in samples per second.
    pub rate: u32,
    /// The number of channels of the video.
    pub channels: u32,
    /// The number of gaps that were filled with silence. At a gap, the next sound starts more than 20 ms after the
    /// end of the sound before it.
    pub gaps: u64,
    /// The number of silent samples in these gaps, at the video's rate.
    pub silent_samples: u64,
    /// The number of samples that were cut because they overlap the samples before them by more than 20 ms, at the
    /// video's rate.
    pub cut_samples: u64,
    /// The number of packets that the container marks as damaged.
    pub corrupt_packets: u64,
    /// The number of packets that the decoder refused, and of reads that broke off.
    pub decode_errors: u64,
    /// The number of errors that FFmpeg logged.
    pub logged_errors: u64,
    /// FFmpeg's message for the first error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
}

impl AudioFacts {
    /// Returns the number of all errors.
    pub(crate) fn errors(&self) -> u64 {
        self.corrupt_packets + self.decode_errors + self.logged_errors
    }
}

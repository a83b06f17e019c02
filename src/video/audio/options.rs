//! How sound is stored.

use crate::words::words;

/// How sound is stored: as whole numbers of 16 bits, resampled.
///
/// 16 bits are what most sets of speech and sound have, and half of the bytes of 32-bit floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AudioOptions {
    /// Samples a second.
    pub rate: u32,
    /// Which channels. Default: one.
    pub channels: AudioChannels,
}

/// The channels of stored sound: the same for all clips, whatever their videos have.
///
/// As a word (`FromStr`, `Display`): `mono` or `stereo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AudioChannels {
    /// One: all channels of the video mixed by FFmpeg's rules.
    #[default]
    Mono,
    /// Two: a value is a pair.
    Stereo,
}

words!(AudioChannels, "channels of sound", { "mono" => Mono, "stereo" => Stereo });

impl AudioChannels {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            AudioChannels::Mono => 1,
            AudioChannels::Stereo => 2,
        }
    }
}

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

/// The channels of stored sound: the same for all clips.
///
/// As a word (`FromStr`, `Display`): `mono`, `stereo` or `source`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AudioChannels {
    /// One: all channels of the video mixed by FFmpeg's rules.
    #[default]
    Mono,
    /// Two, whatever the video has: a value is a pair.
    Stereo,
    /// As many as the video has, as they are. The first video with sound decides how many that is: one with another number
    /// fails. A value is one number only if there is one channel.
    Source,
}

words!(AudioChannels, "channels of sound", { "mono" => Mono, "stereo" => Stereo, "source" => Source });

impl AudioChannels {
    /// How many there are; `None` if the videos decide.
    pub fn count(self) -> Option<u32> {
        match self {
            AudioChannels::Mono => Some(1),
            AudioChannels::Stereo => Some(2),
            AudioChannels::Source => None,
        }
    }
}

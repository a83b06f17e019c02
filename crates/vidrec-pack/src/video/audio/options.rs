//! The options for stored sound.

use vidrec_format::words::words;

/// How sound is stored: resampled, as whole numbers of 16 bits.
///
/// Most data sets of speech and sound have 16 bits, and 16 bits take half the bytes of 32-bit floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AudioOptions {
    /// The stored sample rate, in samples per second.
    pub rate: u32,
    /// Which channels to store. Default: one.
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
    /// Two, however many the video has. Each value is a pair.
    Stereo,
    /// The channels of the video, unchanged. The first video with sound decides how many there are, and a video
    /// with another number fails. A value is a single number only if there is one channel.
    Source,
}

words!(AudioChannels, "channels of sound", { "mono" => Mono, "stereo" => Stereo, "source" => Source });

impl AudioChannels {
    /// Returns the number of channels; `None` if the videos decide.
    pub fn count(self) -> Option<u32> {
        match self {
            AudioChannels::Mono => Some(1),
            AudioChannels::Stereo => Some(2),
            AudioChannels::Source => None,
        }
    }
}

//! The options for stored sound.

use std::fmt;
use std::str::FromStr;

use vidrec_core::dataset::writer::SoundCoding;
use vidrec_format::error::{Error, Result};
use vidrec_format::track::opus;
use vidrec_format::words::{serde_by_text, unknown_variant};

/// The sample rates that FFmpeg resamples to in practice.
const RATES: std::ops::RangeInclusive<u32> = 1000..=384_000;

/// The options for storing sound: resampled, as whole numbers of 16 bits.
///
/// Most data sets of speech and sound have 16 bits, and 16 bits take half the bytes of 32-bit floats.
///
/// In text (`FromStr`, `Display`, serde): the rate, such as `16000`, or the rate and words, such as `48000:stereo`,
/// `16000:opus` or `48000:stereo:opus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AudioOptions {
    /// The stored sample rate, in samples per second.
    pub rate: u32,
    /// Which channels to store. Default: one.
    pub channels: AudioChannels,
    /// The coding of the samples. Default: as FLAC where that takes fewer bytes, of which readers get the same samples.
    pub coding: SoundCoding,
}

impl fmt::Display for AudioOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rate)?;
        if self.channels != AudioChannels::Mono {
            write!(f, ":{}", self.channels)?;
        }
        if self.coding != SoundCoding::default() { write!(f, ":{}", self.coding) } else { Ok(()) }
    }
}

impl FromStr for AudioOptions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (rate, words) = text.split_once(':').map_or((text, None), |(rate, words)| (rate, Some(words)));
        let (channels, coding) = words.map_or(Ok(Default::default()), words_of)?;
        let rate = rate.parse().ok().filter(|rate| RATES.contains(rate)).ok_or_else(|| {
            Error::usage("not a sample rate")
                .expected(format!(
                    "a whole number from {} to {}, such as 16000 or 48000:stereo",
                    RATES.start(),
                    RATES.end()
                ))
                .found(text)
        })?;
        match coding {
            SoundCoding::Opus if !opus::RATES.contains(&rate) => {
                let e = Error::usage("Opus has no such sample rate").found(rate);
                Err(e.expected("8000, 12000, 16000, 24000 or 48000, to which sound of any rate is converted"))
            }
            _ => Ok(AudioOptions { rate, channels, coding }),
        }
    }
}

/// The words after the rate: channels, a coding, or both.
fn words_of(words: &str) -> Result<(AudioChannels, SoundCoding)> {
    let (first, rest) = words.split_once(':').map_or((words, None), |(first, rest)| (first, Some(rest)));
    match first.parse() {
        Ok(channels) => Ok((channels, rest.map_or(Ok(SoundCoding::default()), str::parse)?)),
        Err(of_channels) => {
            let is_coding = first.parse::<SoundCoding>().is_ok();
            if is_coding { Ok((AudioChannels::default(), words.parse()?)) } else { Err(of_channels) }
        }
    }
}

serde_by_text!(AudioOptions);

/// The channels of stored sound: the same for all clips.
///
/// As a word (`FromStr`, `Display`): `mono` or `stereo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = Error, parse_err_fn = unknown_variant::<Self>)]
pub enum AudioChannels {
    /// One: all channels of the video mixed by FFmpeg's rules.
    #[default]
    Mono,
    /// Two, however many the video has. Each value is a pair.
    Stereo,
}

impl AudioChannels {
    /// Returns the number of channels.
    pub fn count(self) -> u32 {
        match self {
            AudioChannels::Mono => 1,
            AudioChannels::Stereo => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_reads_back_as_itself() {
        for text in ["16000", "48000:stereo", "16000:raw", "48000:stereo:raw", "16000:opus", "48000:stereo:opus"] {
            assert_eq!(text.parse::<AudioOptions>().unwrap().to_string(), text);
        }
        for text in
            ["", "0", "16000:", "16000:source", "16000:raw:stereo", "16000raw", "raw", "stereo", "1e4", "384001"]
        {
            assert!(text.parse::<AudioOptions>().is_err(), "{text}");
        }
        for text in ["44100:opus", "16000:opus:24k", "16000:opus:stereo", "16000:opus:raw", "16000:stereo:"] {
            assert!(text.parse::<AudioOptions>().is_err(), "{text}");
        }
    }
}

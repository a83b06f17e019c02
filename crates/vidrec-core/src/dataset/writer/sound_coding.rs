//! How a writer stores sound.

use std::fmt;
use std::str::FromStr;

use vidrec_format::error::{Error, Result};
use vidrec_format::track::opus::{BITS, usual_bits};

/// How a writer stores the values of a [`Track`](super::Track) of sound: numbers of type `i16` at a rate, at most 8 to a
/// value. Where that does not take fewer bytes, they are stored as they are, as are all other tracks.
///
/// In text (`FromStr`, `Display`): `flac`, `raw`, `opus`, or `opus` with a bit rate, such as `opus:32k`.
///
/// ```
/// use vidrec::SoundCoding;
///
/// assert_eq!("opus:32k".parse::<SoundCoding>().unwrap(), SoundCoding::Opus { kilobits: Some(32) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SoundCoding {
    /// As FLAC. Readers get the same values.
    #[default]
    Flac,
    /// As they are. A reader copies them.
    Raw,
    /// As Opus. Readers get sound that is nearly the same, and the same values on every machine. Only for one or two
    /// numbers to a value, at 8000, 12000, 16000, 24000 or 48000 values a second.
    Opus {
        /// The average bit rate, 6 to 510 thousand bits per second. Default: for each number of a value, 8 and one for
        /// each thousand values a second, which is 24 for one at 16 kHz.
        kilobits: Option<u16>,
    },
}

impl SoundCoding {
    /// The bits per second of Opus for so many numbers to a value, at this rate.
    pub(super) fn opus_bits(kilobits: Option<u16>, channels: usize, rate: u32) -> u32 {
        let bits = kilobits.map_or(usual_bits(rate, channels), |kilobits| 1000 * u32::from(kilobits));
        bits.clamp(*BITS.start(), *BITS.end())
    }
}

impl fmt::Display for SoundCoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SoundCoding::Flac => f.write_str("flac"),
            SoundCoding::Raw => f.write_str("raw"),
            SoundCoding::Opus { kilobits: None } => f.write_str("opus"),
            SoundCoding::Opus { kilobits: Some(kilobits) } => write!(f, "opus:{kilobits}k"),
        }
    }
}

impl FromStr for SoundCoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bits = text.strip_prefix("opus:").and_then(|bits| bits.strip_suffix('k')?.parse::<u16>().ok());
        match (text, bits.filter(|&bits| BITS.contains(&(1000 * u32::from(bits))))) {
            ("flac", _) => Ok(SoundCoding::Flac),
            ("raw", _) => Ok(SoundCoding::Raw),
            ("opus", _) => Ok(SoundCoding::Opus { kilobits: None }),
            (_, Some(bits)) => Ok(SoundCoding::Opus { kilobits: Some(bits) }),
            _ => Err(Error::usage("not a coding of sound")
                .expected("flac, raw, opus, or opus with a bit rate from 6k to 510k, such as opus:32k")
                .found(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_reads_back_as_itself() {
        for text in ["flac", "raw", "opus", "opus:6k", "opus:510k"] {
            assert_eq!(text.parse::<SoundCoding>().unwrap().to_string(), text);
        }
        for text in ["", "mp3", "opus:", "opus:24", "opus:5k", "opus:511k", "opus:70000k", "raw:24k", "opus:24k:24k"] {
            assert!(text.parse::<SoundCoding>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_usual_bit_rate_grows_with_rate_and_channels() {
        assert_eq!(SoundCoding::opus_bits(None, 1, 16_000), 24_000);
        assert_eq!(SoundCoding::opus_bits(None, 2, 48_000), 112_000);
        assert_eq!(SoundCoding::opus_bits(Some(40), 2, 48_000), 40_000);
    }
}

//! Converts [`FrameSize`] to and from text.

use std::fmt;
use std::str::FromStr;

use super::options::FrameSize;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::words::serde_by_text;

impl FrameSize {
    /// The words for the values; sides are in pixels, from 1 to [`limits::MAX_SIDE`].
    pub const WORDS: &'static [&'static str] = &["SHORT_SIDE", "SHORT_SIDE:enlarge", "WIDTHxHEIGHT", "original"];
}

serde_by_text!(FrameSize);

impl fmt::Display for FrameSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameSize::ShortSide(side) => write!(f, "{side}"),
            FrameSize::ShortSideAlways(side) => write!(f, "{side}:enlarge"),
            FrameSize::Exact { width, height } => write!(f, "{width}x{height}"),
            FrameSize::Original => f.write_str("original"),
        }
    }
}

impl FromStr for FrameSize {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        let side = |text: &str| text.parse().ok().filter(|side| (1..=limits::MAX_SIDE).contains(side));
        let exact = |(width, height)| Some(FrameSize::Exact { width: side(width)?, height: side(height)? });
        let size = match word.split_once(':') {
            None if word == "original" => Some(FrameSize::Original),
            None => side(word).map(FrameSize::ShortSide).or_else(|| word.split_once(['x', 'X']).and_then(exact)),
            Some((text, "enlarge")) => side(text).map(FrameSize::ShortSideAlways),
            Some(_) => None,
        };
        size.ok_or_else(|| vidrec_format::words::unknown("frame size", word, Self::WORDS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_itself() {
        for word in ["256", "64:enlarge", "320x240", "original"] {
            assert_eq!(word.parse::<FrameSize>().unwrap().to_string(), word);
        }
        for word in ["", "0", "0x5", "5x", "70000x1", "3.5x2", "70000", "3:large"] {
            assert!(word.parse::<FrameSize>().unwrap_err().to_string().contains("WIDTHxHEIGHT"), "{word}");
        }
    }
}

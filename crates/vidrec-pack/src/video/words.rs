//! Converts [`FrameSize`] and [`Decode`] to and from words.

use std::fmt;
use std::str::FromStr;

use super::options::{Decode, FrameSize};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::words::words;

words!(Decode, "how much of a video is decoded", { "needed" => Needed, "all" => All });

impl FrameSize {
    /// The words for the values; sides are in pixels, from 1 to [`limits::MAX_SIDE`].
    pub const WORDS: &'static [&'static str] = &["short-side:N", "short-side-always:N", "WIDTHxHEIGHT", "original"];
}

impl fmt::Display for FrameSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameSize::ShortSide(side) => write!(f, "short-side:{side}"),
            FrameSize::ShortSideAlways(side) => write!(f, "short-side-always:{side}"),
            FrameSize::Exact { width, height } => write!(f, "{width}x{height}"),
            FrameSize::Original => f.write_str("original"),
        }
    }
}

impl FromStr for FrameSize {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        let side = |text: &str| text.parse().ok().filter(|side| (1..=limits::MAX_SIDE).contains(side));
        let size = match word.split_once(':') {
            None if word == "original" => Some(FrameSize::Original),
            None => {
                let sides = word.split_once(['x', 'X']).and_then(|(width, height)| side(width).zip(side(height)));
                sides.map(|(width, height)| FrameSize::Exact { width, height })
            }
            Some(("short-side", text)) => side(text).map(FrameSize::ShortSide),
            Some(("short-side-always", text)) => side(text).map(FrameSize::ShortSideAlways),
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
        for word in ["short-side:256", "short-side-always:64", "320x240", "original"] {
            assert_eq!(word.parse::<FrameSize>().unwrap().to_string(), word);
        }
        for word in ["", "320", "0x5", "5x", "70000x1", "3.5x2", "short-side:0", "short-side", "large:3"] {
            assert!(word.parse::<FrameSize>().unwrap_err().to_string().contains("WIDTHxHEIGHT"), "{word}");
        }
    }
}

//! The options for reading a video.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::error::{Stage, VideoError};
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;
use vidrec_format::words::serde_by_text;

/// The most bits of a sample that may be reduced to 8 without a loss that people notice: those of HDR video.
const MOST_BITS: u32 = 12;

/// The size of the pictures to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameSize {
    /// The shorter side gets this many pixels, and the longer side follows, rounded to an even number. Never
    /// enlarges.
    ShortSide(u32),
    /// The same, but smaller videos are enlarged.
    ShortSideAlways(u32),
    /// Exactly this size, whatever the shape of the video.
    Exact {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The size at which the video is shown.
    Original,
}

/// The options for reading a video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoOptions {
    /// The size of the pictures. Default: 256 pixels on the shorter side.
    pub size: FrameSize,
    /// Decode everything, which finds all damage. Default: what the wanted frames need, if that is certain; see
    /// [the rule](crate::video#what-is-decoded).
    pub decode_all: bool,
    /// The wall-clock time after which reading stops with an error. Default: 10 minutes.
    ///
    /// It is checked at each read, packet and frame. The time of the callback of
    /// [`Video::sample_with`](super::Video::sample_with) counts too.
    pub timeout: Duration,
    /// The most pixels that a decoded picture may have. Default: [`limits::MAX_PIXELS`].
    pub max_pixels: u64,
    /// Accept pictures of more than 12 bits a channel, and keep the upper 8 of their bits. Off by default.
    ///
    /// Without it such a video fails, because depth maps and measurements in 16 bits would become worthless.
    pub reduce_depth: bool,
    /// The bytes of compressed video to keep in memory, so that a file is read only once. Default: 64 MiB.
    ///
    /// A longer video is read twice, with the same result.
    pub keep_bytes: usize,
}

impl Default for VideoOptions {
    fn default() -> Self {
        VideoOptions {
            size: FrameSize::ShortSide(256),
            decode_all: false,
            timeout: Duration::from_secs(600),
            max_pixels: limits::MAX_PIXELS,
            reduce_depth: false,
            keep_bytes: 64 << 20,
        }
    }
}

impl VideoOptions {
    /// Refuses pictures with more than [`max_pixels`](Self::max_pixels).
    pub(super) fn check_pixels(&self, (width, height): (u32, u32)) -> Result<(), VideoError> {
        let limit = self.max_pixels;
        if u64::from(width) * u64::from(height) <= limit {
            return Ok(());
        }
        let error = Error::limit("the pictures are too large")
            .expected(format!("at most {limit} pixels"))
            .found(format!("{width}x{height}"));
        Err(VideoError::new(Stage::Limit, error))
    }

    /// Refuses pictures that would lose more than the finest shades, unless [`reduce_depth`](Self::reduce_depth)
    /// is set.
    pub(super) fn check_depth(&self, bits: u32, pixel_format: &str) -> Result<(), VideoError> {
        if self.reduce_depth || bits <= MOST_BITS {
            return Ok(());
        }
        let error = Error::limit("the pictures have more bits per channel than vidrec can store")
            .expected(format!("at most {MOST_BITS}, of which 8 are stored"))
            .found(format!("{bits} ({pixel_format})"))
            .help("if you accept the loss, choose to reduce the depth");
        Err(VideoError::new(Stage::Limit, error))
    }

    /// Returns the limit for FFmpeg, which also counts the margins of its buffers.
    pub(super) fn decoder_pixels(&self) -> u64 {
        let limit = self.max_pixels;
        limit.saturating_mul(2).saturating_add(1 << 20).min(limit.max(limits::MAX_PIXELS))
    }
}

impl FrameSize {
    /// The words for the values; sides are in pixels, from 1 to [`limits::MAX_SIDE`].
    #[doc(hidden)]
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

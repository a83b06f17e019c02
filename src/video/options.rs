//! How to read a video.

use std::time::Duration;

use super::error::{Stage, VideoError};
use crate::{Error, limits};

/// Most bits of a sample of which 8 are enough for people: those of HDR video.
const MOST_BITS: u32 = 12;

/// The size of the pictures to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameSize {
    /// The shorter side gets this many pixels; the longer side follows, rounded to an even number. Never enlarges.
    ShortSide(u32),
    /// The same, but a smaller video is enlarged.
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

/// How much of a video is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Decode {
    /// What the wanted frames need, where that is certain; see [the rule](crate::video#what-is-decoded).
    #[default]
    Needed,
    /// Everything. This finds all damage.
    All,
}

/// How to read a video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoOptions {
    /// The size of the pictures. Default: 256 pixels on the shorter side.
    pub size: FrameSize,
    /// How much to decode. Default: what the wanted frames need.
    pub decode: Decode,
    /// Wall-clock time after which reading stops with an error; checked at each read, packet and frame. The time that
    /// [`Video::sample_with`](super::Video::sample_with)'s callback takes counts too. Default: 10 minutes.
    pub timeout: Duration,
    /// The most pixels that a decoded picture may have. Default: [`limits::MAX_PIXELS`].
    pub max_pixels: u64,
    /// The longest video, by the times of its packets; a longer one fails before it is decoded. Default: no limit.
    pub max_duration: Option<Duration>,
    /// Take pictures of more than 12 bits a channel, and keep the upper 8 of their bits. Off by default: such a video
    /// fails, because depth maps and measurements in 16 bits would be worthless then.
    pub reduce_depth: bool,
    /// Bytes of compressed video to keep in memory, so that a file is read only once. A longer video is read twice,
    /// with the same result. Default: 64 MiB.
    pub keep_bytes: usize,
}

impl Default for VideoOptions {
    fn default() -> Self {
        VideoOptions {
            size: FrameSize::ShortSide(256),
            decode: Decode::Needed,
            timeout: Duration::from_secs(600),
            max_pixels: limits::MAX_PIXELS,
            max_duration: None,
            reduce_depth: false,
            keep_bytes: 64 << 20,
        }
    }
}

impl VideoOptions {
    /// Refuses a video of so many seconds if that is more than [`max_duration`](Self::max_duration).
    pub(super) fn check_duration(&self, seconds: Option<f64>) -> Result<(), VideoError> {
        match (seconds, self.max_duration) {
            (Some(seconds), Some(limit)) if seconds > limit.as_secs_f64() => {
                let error = Error::limit("the video is too long")
                    .expected(format!("at most {} s", limit.as_secs_f64()))
                    .found(format!("{seconds:.1} s"));
                Err(VideoError::new(Stage::Limit, error))
            }
            _ => Ok(()),
        }
    }

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

    /// Refuses pictures that would lose more than the finest shades, unless [`reduce_depth`](Self::reduce_depth) is set.
    pub(super) fn check_depth(&self, bits: u32, pixel_format: &str) -> Result<(), VideoError> {
        if self.reduce_depth || bits <= MOST_BITS {
            return Ok(());
        }
        let error = Error::limit("the pictures have more bits a channel than can be stored")
            .expected(format!("at most {MOST_BITS}, of which 8 are stored"))
            .found(format!("{bits} ({pixel_format})"))
            .help("if the loss is meant, choose to reduce the depth");
        Err(VideoError::new(Stage::Limit, error))
    }

    /// The limit for FFmpeg, which counts the margins of its buffers too.
    pub(super) fn decoder_pixels(&self) -> u64 {
        let limit = self.max_pixels;
        limit.saturating_mul(2).saturating_add(1 << 20).min(limit.max(limits::MAX_PIXELS))
    }
}

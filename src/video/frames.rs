//! What reading a video gives.

use super::facts::VideoFacts;
use crate::Planes;

/// One chosen frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledFrame {
    /// The picture, upright and at the requested size.
    pub image: Planes,
    /// Presentation time in units of [`SampledVideo::time_base`].
    ///
    /// The time that the file gives, where it can be right; see [what counts as a frame](crate::video#what-counts-as-a-frame).
    /// Where a file has none, and FFmpeg no guess, it is the time of the frame before plus its duration, and 0 for a first frame.
    pub pts: i64,
    /// Ordinal of the frame among all frames that decode, from 0.
    pub source_index: u32,
}

/// The result of [`sample`](super::sample). That of [`Video::sample_with`](super::Video::sample_with) has what the
/// caller made of each frame in place of the frame.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SampledVideo<T = SampledFrame> {
    /// One entry for each distinct chosen ordinal, ascending.
    pub frames: Vec<T>,
    /// Seconds in a unit of time, as numerator and denominator; both are at least 1.
    pub time_base: (u32, u32),
    /// Frames of the video: those that decode, and [`VideoFacts::undecoded_frames`].
    pub frame_count: u32,
    /// What became known of the video.
    pub facts: VideoFacts,
}

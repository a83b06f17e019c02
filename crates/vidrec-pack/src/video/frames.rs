//! The result of reading a video.

use std::time::Duration;

use super::facts::VideoFacts;
use vidrec_jpeg::Planes;

/// A chosen frame as it is stored in the video: one number to a pixel, in row-major order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NumberFrame {
    /// The numbers of the first component, luma or gray, neither scaled nor turned.
    pub numbers: Vec<u16>,
    pub width: u32,
    pub height: u32,
}

/// One chosen frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledFrame {
    /// The picture, upright and at the requested size.
    pub image: Planes,
    /// The same in RGB with all of its color, if [`VideoOptions::full_color`](super::VideoOptions::full_color) asks for it.
    #[doc(hidden)]
    pub full_color: Option<FullColor>,
    /// The presentation time in units of [`SampledVideo::time_base`].
    ///
    /// This is the time that the file gives, if it can be right; see [what counts as a
    /// frame](crate::video#what-counts-as-a-frame). If the file gives none, it is FFmpeg's estimate. Without an
    /// estimate, it is the time of the previous frame plus its duration, and 0 for a first frame.
    pub pts: i64,
    /// The ordinal of the frame among all frames that decode, from 0.
    pub source_index: u32,
}

/// A picture in RGB, of which no chroma was left out.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullColor {
    /// 3 bytes a pixel, rows from the top.
    pub rgb: Vec<u8>,
    /// The time that it took to make.
    pub took: Duration,
}

/// The result of [`sample`](super::sample).
///
/// The result of [`Video::sample_with`](super::Video::sample_with) holds what the caller made of each frame
/// instead of the frame.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SampledVideo<T = SampledFrame> {
    /// One entry for each distinct chosen ordinal, ascending.
    pub frames: Vec<T>,
    /// The seconds in a unit of time, as numerator and denominator; both are at least 1.
    pub time_base: (u32, u32),
    /// The number of frames of the video: those that decode, and [`VideoFacts::undecoded_frames`].
    pub frame_count: u32,
    /// The facts about the video.
    pub facts: VideoFacts,
}

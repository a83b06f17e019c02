//! The frames of a video, and the clock of their times.

use vidrec_format::error::Result;

/// A moment on the clock of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The time, in units of `time_base`.
    pub pts: i64,
    /// Seconds in a unit of time, as numerator and denominator; both are at least 1.
    pub time_base: (u32, u32),
}

impl Moment {
    /// The moment at which the clock of a container shows 0.
    pub const ZERO: Moment = Moment { pts: 0, time_base: (1, 1) };
}

/// The frames of a video in presentation order, as far as they are known when frames are chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// The presentation time of each frame, in units of `time_base`.
    pub pts: Vec<i64>,
    /// Whether each frame is a key frame.
    pub key: Vec<bool>,
    /// Seconds in a unit of time, as numerator and denominator; both are at least 1.
    pub time_base: (u32, u32),
    /// When a player's clock shows 0.
    ///
    /// This is 0 in containers with their own timeline, such as MP4 and Matroska. In containers that start at any
    /// time, such as MPEG transport streams and Ogg, it is the first packet of any stream, including audio.
    pub player_zero: Moment,
}

impl Timeline {
    /// Returns the number of frames.
    pub fn frame_count(&self) -> u32 {
        u32::try_from(self.pts.len()).unwrap_or(u32::MAX)
    }
}

/// A function that takes the frames of a video and returns the wanted ordinals, in ascending order. Repeats are
/// allowed.
///
/// It may be called more than once for a video: first with the timeline that the container promises, then with the
/// timeline that was decoded. It should depend on the timeline alone.
pub type Choose<'a> = &'a dyn Fn(&Timeline) -> Result<Vec<u32>>;

//! The frames of a video, the clock of their times, and the result of reading some.

use std::borrow::Cow;

use super::facts::VideoFacts;
use vidrec_format::error::Result;
use vidrec_format::sampler::{Rate, UnroundedTimes, unrounded_times};
use vidrec_jpeg::Planes;

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
    /// The time at which the last frame leaves the screen, in units of `time_base`.
    pub end: i64,
    /// When a player's clock shows 0.
    ///
    /// This is 0 in containers with their own timeline, such as MP4 and Matroska. In containers that start at any
    /// time, such as MPEG transport streams and Ogg, it is the first packet of any stream, including audio.
    pub player_zero: Moment,
    /// The times before the container rounded them, if they are not exact.
    pub(crate) unrounded: Option<UnroundedTimes>,
}

/// The times of frames before their container rounded them, ascending.
#[derive(Debug, Clone)]
pub(crate) struct ExactTimes<'a> {
    pub pts: Cow<'a, [i64]>,
    pub time_base: (u32, u32),
    pub end: i64,
}

impl Timeline {
    /// The frames with these times and key marks. The last one is shown until `end`, but no shorter than all others: some
    /// containers give every frame a duration of one unit.
    pub(crate) fn new((pts, key): (Vec<i64>, Vec<bool>), time_base: (u32, u32), end: i64, player_zero: Moment) -> Self {
        let unrounded = unrounded_times(&pts, time_base, None);
        let steps = pts.windows(2).map(|two| two[1].saturating_sub(two[0])).filter(|&step| step > 0);
        let least = pts.last().map_or(end, |last| last.saturating_add(steps.min().unwrap_or(0)));
        let end = end.max(least);
        Timeline { pts, key, time_base, end, player_zero, unrounded }
    }

    /// Returns the number of frames.
    pub fn frame_count(&self) -> u32 {
        u32::try_from(self.pts.len()).unwrap_or(u32::MAX)
    }

    /// Returns the times before the container rounded them.
    pub(crate) fn exact(&self) -> ExactTimes<'_> {
        self.exact_of(self.unrounded.as_ref().map(|u| (Cow::Borrowed(&u.pts[..]), u)))
    }

    /// Returns the times before the container rounded them, as far as a grid of this rate can tell.
    pub(crate) fn exact_at(&self, rate: Rate) -> ExactTimes<'_> {
        let at_rate = unrounded_times(&self.pts, self.time_base, Some(rate));
        self.exact_of(at_rate.as_ref().map(|u| (Cow::Owned(u.pts.clone()), u)))
    }

    fn exact_of<'a>(&'a self, unrounded: Option<(Cow<'a, [i64]>, &UnroundedTimes)>) -> ExactTimes<'a> {
        let last = self.pts.last().copied().unwrap_or(0);
        match unrounded {
            Some((pts, u)) => ExactTimes { pts, time_base: u.time_base, end: u.end(self.end.saturating_sub(last)) },
            None => ExactTimes { pts: Cow::Borrowed(&self.pts), time_base: self.time_base, end: self.end },
        }
    }
}

/// A function that takes the frames of a video and returns the wanted ordinals, in ascending order. Repeats are
/// allowed.
///
/// It may be called more than once for a video: first with the timeline that the container promises, then with the
/// timeline that was decoded. It should depend on the timeline alone.
pub type Choose<'a> = &'a dyn Fn(&Timeline) -> Result<Vec<u32>>;

/// One chosen frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledFrame {
    /// The picture, upright and at the requested size.
    pub image: Planes,
    /// The presentation time in units of [`SampledVideo::time_base`].
    ///
    /// This is the time that the file gives, if it can be right; see [what counts as a
    /// frame](crate::video#what-counts-as-a-frame). If the file gives none, it is FFmpeg's estimate. Without an
    /// estimate, it is the time of the previous frame plus its duration, and 0 for a first frame.
    pub pts: i64,
    /// The ordinal of the frame among all frames that decode, from 0.
    pub source_index: u32,
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
    /// The frames of the video, of which the last choice was made.
    pub timeline: Timeline,
    /// The facts about the video.
    pub facts: VideoFacts,
}

impl<T> SampledVideo<T> {
    /// Replaces each frame.
    pub(crate) fn try_map<U, E>(self, change: impl FnMut(T) -> Result<U, E>) -> Result<SampledVideo<U>, E> {
        let SampledVideo { frames, time_base, frame_count, timeline, facts } = self;
        let frames = frames.into_iter().map(change).collect::<Result<_, E>>()?;
        Ok(SampledVideo { frames, time_base, frame_count, timeline, facts })
    }
}

//! The frames that belong to one episode, in a video that holds several episodes.

use serde::Deserialize;
use serde_json::Value;

use super::segment::{Segment, SegmentClock, microseconds};
use crate::track::EpisodeFrames;
use crate::video::Timeline;
use vidrec_format::error::{Error, Result};
use vidrec_format::limits;

/// The highest frame rate that is accepted, in frames a second.
const MAX_FPS: f64 = 100_000.0;

/// An episode as a manifest describes it. Without a start, it is all of its file.
#[derive(Deserialize)]
struct Described {
    count: u32,
    start: Option<f64>,
    fps: f64,
}

impl EpisodeFrames {
    /// Reads an object, or its text, and returns the part of the video that has the frames. The error says what is wrong.
    pub fn read(value: &Value) -> std::result::Result<(Self, Segment), String> {
        let object = match value {
            Value::String(text) => serde_json::from_str(text).ok(),
            value => serde_json::from_value(value.clone()).ok(),
        };
        let is_known = |found: &Described| {
            (1..=limits::MAX_FRAMES_PER_CLIP).contains(&found.count) && found.fps > 0.0 && found.fps <= MAX_FPS
        };
        let Described { count, start, fps } = object.filter(is_known).ok_or_else(|| {
            format!("expected the count and the fps of frames, and their start in seconds, found {value}")
        })?;
        let frames = EpisodeFrames { count, start: start.unwrap_or(0.0), fps };
        let segment = frames.segment()?;
        Ok((frames, if start.is_some() { segment } else { Segment { start_us: 0, end_us: None } }))
    }

    /// Returns the segment from half a frame before the first frame to half a frame before the frame after the
    /// last one.
    ///
    /// Times are rounded, so a segment from the first time to the last could lose a frame or take one of a
    /// neighbor.
    pub fn segment(&self) -> std::result::Result<Segment, String> {
        let half = 0.5 / self.fps;
        let end = self.start + f64::from(self.count) / self.fps - half;
        let (start, end) = (microseconds((self.start - half).max(0.0))?, microseconds(end)?);
        Segment::new(Some(start), Some(end))?.ok_or_else(|| "it is not a valid part of a video".into())
    }

    /// Refuses a segment of the video that has other frames: one is missing, or is not where the rate puts it.
    pub fn check(&self, timeline: &Timeline, inside: &[u32], clock: SegmentClock) -> Result<()> {
        let times: Vec<f64> = inside.iter().map(|&i| clock.seconds(timeline, timeline.pts[i as usize])).collect();
        let wanted = |count: usize| format!("{count} frames at {} per second, from {:.3} s on", self.fps, self.start);
        if times.len() != self.count as usize {
            let found = match (times.first(), times.last()) {
                (Some(first), Some(last)) => format!("{} frames, from {first:.3} to {last:.3} s", times.len()),
                _ => "none".into(),
            };
            return Err(Error::usage("the frames of the video are not those of the episode")
                .expected(wanted(self.count as usize))
                .found(found));
        }
        let slot = |time: f64| ((time - self.start) * self.fps).round();
        match (0..).zip(&times).find(|(i, time)| slot(**time) != f64::from(*i)) {
            None => Ok(()),
            Some((i, time)) => {
                let found = format!("frame {i} at {time:.3} s");
                Err(Error::usage("a frame of the episode has the wrong time")
                    .expected(wanted(times.len()))
                    .found(found))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::video::Moment;

    /// A video of 30 frames a second with the time base of FFmpeg's MP4.
    fn timeline(frames: i64) -> Timeline {
        let pts: Vec<i64> = (0..frames).map(|i| i * 512).collect();
        Timeline::new((pts, vec![true; frames as usize]), (1, 15_360), frames * 512, Moment::ZERO)
    }

    fn check(episode: EpisodeFrames, timeline: &Timeline) -> Result<Vec<u32>> {
        let clock = SegmentClock::Player;
        let inside = episode.segment().unwrap().frames(timeline, clock);
        episode.check(timeline, &inside, clock).map(|()| inside)
    }

    #[test]
    fn rounded_seams_lose_and_double_nothing() {
        let timeline = timeline(300);
        for digits in [1e2, 1e3, 1e4, 1e6, 1e15] {
            let mut first = 0;
            for count in [7, 1, 30, 100, 162] {
                let start = (f64::from(first) / 30.0 * digits).round() / digits;
                let inside = check(EpisodeFrames { count, start, fps: 30.0 }, &timeline).unwrap();
                assert_eq!(inside, (first..first + count).collect::<Vec<_>>(), "{digits}");
                first += count;
            }
        }
    }

    #[test]
    fn another_number_of_frames_is_named() {
        let e = check(EpisodeFrames { count: 30, start: 0.5, fps: 30.0 }, &timeline(44)).unwrap_err().to_string();
        assert!(e.contains("expected 30 frames at 30 per second") && e.contains("found 29 frames"), "{e}");
        let mut uneven = timeline(44);
        uneven.pts[20] -= 400;
        let e = check(EpisodeFrames { count: 44, start: 0.0, fps: 30.0 }, &uneven).unwrap_err().to_string();
        assert!(e.contains("found frame 20 at 0.641 s"), "{e}");
    }
}

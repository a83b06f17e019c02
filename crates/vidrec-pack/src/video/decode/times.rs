//! Finds when frames are shown, and in which order.
//!
//! Decoders return pictures in the order in which the stream shows them, and pass on the time that the container
//! gives each packet. If all frames have such a time and no two are equal, that time is right. Frames are then
//! shown in the order of their times, as in players and PyAV.
//!
//! Two kinds of files differ:
//!
//! * Muxers that do not support reordering write decoding times. Their packets have ascending times, although the
//!   decoder reorders the pictures. The frames therefore get these times in the order in which the decoder returns
//!   them. Pictures sorted by such times would jump back and forth.
//! * Some frames have no time, as in AVI files with B-frames; or two have the same time; or the clock restarts
//!   within the file. The times are then FFmpeg's estimates, which it derives from the decoding times, in the
//!   decoder's order.

use std::collections::BTreeSet;

use ffmpeg_next::frame;

use crate::video::container::{PacketClock, Packets, StreamInfo};
use crate::video::timeline::Timeline;

/// The times that are known of a frame that comes out of the decoder, in units of the stream's time base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameTime {
    /// The time that the container gives the packet.
    pub own: Option<i64>,
    /// FFmpeg's estimate or, if it has none, the end of the previous frame.
    pub guess: i64,
    pub key: bool,
}

/// Finds what is known about the time of each frame.
#[derive(Default)]
pub(crate) struct Clock {
    /// The time of the latest frame.
    last: Option<i64>,
    /// The time of the next frame, if nothing is known about it.
    next: i64,
}

impl Clock {
    pub fn time(&mut self, frame: &frame::Video, stream: &StreamInfo) -> FrameTime {
        let guess = frame.timestamp().unwrap_or(self.next);
        let duration = match frame.packet().duration {
            d if d > 0 => d,
            _ => stream.nominal_duration(),
        };
        // Fields have a shorter duration than the frames that they make.
        let step = self.last.map_or(0, |last| guess.saturating_sub(last));
        (self.last, self.next) = (Some(guess), guess.saturating_add(if step > 0 { step } else { duration }));
        FrameTime { own: frame.pts(), guess, key: frame.is_key() }
    }
}

/// The flaws in the times of a video.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TimeFlaws {
    /// The number of frames whose time is not that of their packet, which may have none.
    pub guessed: u32,
    /// The number of frames whose time is not after that of the frame that the decoder returned before.
    pub unordered: u32,
}

/// The position of a frame among all frames in the order in which they are shown, and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PresentedFrame {
    pub ordinal: u32,
    pub pts: i64,
}

/// When frames are shown, in the order in which the decoder returns them.
pub(crate) struct Presentation {
    frames: Vec<PresentedFrame>,
    keys: Vec<bool>,
    /// Whether frames are shown in this order, at the estimated times.
    pub is_as_guessed: bool,
    pub flaws: TimeFlaws,
}

impl Presentation {
    pub fn of(frames: &[FrameTime], packets: PacketClock) -> Self {
        let times = times(frames, packets);
        let mut in_order: Vec<usize> = (0..frames.len()).collect();
        if packets == PacketClock::Reorders && has_distinct_times(frames) {
            in_order.sort_by_key(|&i| times[i]);
        }
        let mut shown: Vec<PresentedFrame> = times.iter().map(|&pts| PresentedFrame { ordinal: 0, pts }).collect();
        for (ordinal, i) in (0..).zip(in_order) {
            shown[i].ordinal = ordinal;
        }
        let is_as_guessed = (0u32..).zip(&shown).zip(frames).all(|((i, s), f)| (s.ordinal, s.pts) == (i, f.guess));
        let guessed = shown.iter().zip(frames).filter(|(shown, frame)| frame.own != Some(shown.pts)).count();
        let flaws = TimeFlaws { guessed: number(guessed), unordered: number(unordered(frames)) };
        Presentation { frames: shown, keys: frames.iter().map(|f| f.key).collect(), is_as_guessed, flaws }
    }

    /// Uses the key frames that the container marks, if the decoder marks all frames as key frames.
    ///
    /// Some decoders, such as that of SVQ1, do not mark key frames at all, which looks the same.
    pub fn mark_keys(&mut self, frames: &[FrameTime], key_times: &BTreeSet<i64>) {
        if self.keys.iter().all(|&key| key) && frames.iter().all(|f| f.own.is_some()) {
            self.keys = frames.iter().map(|f| f.own.is_some_and(|own| key_times.contains(&own))).collect();
        }
    }

    /// Returns when the frame at this position in the decoder's order is shown. Positions start at 0.
    pub fn at(&self, place: u32) -> Option<PresentedFrame> {
        self.frames.get(place as usize).copied()
    }

    /// Returns all frames in the order in which they are shown.
    pub fn timeline(&self, stream: &StreamInfo, packets: &Packets) -> Timeline {
        let mut frames: Vec<(&PresentedFrame, bool)> = self.frames.iter().zip(self.keys.iter().copied()).collect();
        frames.sort_by_key(|(shown, _)| shown.ordinal);
        let (pts, key): (Vec<i64>, Vec<bool>) = frames.into_iter().map(|(shown, key)| (shown.pts, key)).unzip();
        let end = packets.end_of(pts.last().copied().unwrap_or(0), stream);
        Timeline::new((pts, key), stream.time_base, end, stream.player_zero)
    }
}

/// Returns the time of each frame, in the decoder's order.
fn times(frames: &[FrameTime], packets: PacketClock) -> Vec<i64> {
    let own = || frames.iter().filter_map(|f| f.own);
    match packets {
        _ if !has_distinct_times(frames) => frames.iter().map(|f| f.guess).collect(),
        PacketClock::Reorders => own().collect(),
        PacketClock::Ascends => {
            let mut sorted: Vec<i64> = own().collect();
            sorted.sort_unstable();
            sorted
        }
        PacketClock::Restarts => frames.iter().map(|f| f.guess).collect(),
    }
}

/// Whether each frame has its own time, and no two times are equal.
fn has_distinct_times(frames: &[FrameTime]) -> bool {
    let Some(mut own) = frames.iter().map(|f| f.own).collect::<Option<Vec<i64>>>() else { return false };
    own.sort_unstable();
    own.windows(2).all(|w| w[0] < w[1])
}

/// Returns the number of frames whose time is not after that of the frame before.
fn unordered(frames: &[FrameTime]) -> usize {
    let have_own = frames.iter().all(|f| f.own.is_some());
    let time = |f: &FrameTime| if have_own { f.own } else { Some(f.guess) };
    frames.windows(2).filter(|w| time(&w[1]) <= time(&w[0])).count()
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

//! The result of a pass over a stream.

use super::look::Look;
use super::times::{FrameTime, Presentation, TimeFlaws};
use crate::video::container::{Packets, StreamInfo};
use crate::video::facts::VideoFacts;
use crate::video::frames::SampledVideo;
use crate::video::timeline::Timeline;

/// Which frames count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Only frames without damage.
    Intact,
    /// All frames.
    Any,
}

/// The result of a pass, with what the caller made of the frames that were taken. Dropping the result drops both.
pub(crate) struct PassResult<T> {
    /// The results of the caller by ordinal, in the order in which the decoder returned the frames.
    pub frames: Vec<(u32, T)>,
    /// The frames that count.
    pub counted: Vec<FrameTime>,
    /// The frames that do not count: the damaged ones, if only intact ones count.
    pub left_out: Vec<FrameTime>,
    /// The flaws in the times of the frames that count.
    pub flaws: TimeFlaws,
    pub damaged: u32,
    pub interlaced: u32,
    pub format_changes: u32,
    pub size_changes: u32,
    pub undecoded: u32,
    pub errors: u64,
    pub logged: u64,
    pub first_error: Option<String>,
    pub look: Option<Look>,
}

impl<T> PassResult<T> {
    pub fn new() -> Self {
        PassResult {
            frames: Vec::new(),
            counted: Vec::new(),
            left_out: Vec::new(),
            flaws: TimeFlaws::default(),
            damaged: 0,
            interlaced: 0,
            format_changes: 0,
            size_changes: 0,
            undecoded: 0,
            errors: 0,
            logged: 0,
            first_error: None,
            look: None,
        }
    }

    /// Returns the number of frames that count or were not decoded.
    pub fn count(&self) -> u32 {
        u32::try_from(self.counted.len()).unwrap_or(u32::MAX).saturating_add(self.undecoded)
    }

    /// Returns which frames to keep and when they are shown: the intact ones if there are any, otherwise the
    /// damaged ones.
    pub fn what_to_keep(&self, stream: &StreamInfo, packets: &Packets) -> (Keep, Presentation) {
        let (keep, frames) =
            if self.counted.is_empty() { (Keep::Any, &self.left_out) } else { (Keep::Intact, &self.counted) };
        let mut presentation = Presentation::of(frames, packets.clock());
        if !stream.intra_only
            && let Some(key_times) = packets.key_times()
        {
            presentation.mark_keys(frames, &key_times);
        }
        (keep, presentation)
    }

    pub fn into_video(mut self, stream: &StreamInfo, packets: &Packets, timeline: Timeline) -> SampledVideo<T> {
        let (facts, frame_count) = (self.facts(stream, packets), self.count());
        self.frames.sort_by_key(|&(ordinal, _)| ordinal);
        let frames = self.frames.into_iter().map(|(_, frame)| frame).collect();
        SampledVideo { frame_count, frames, time_base: stream.time_base, timeline, facts }
    }

    fn facts(&self, stream: &StreamInfo, packets: &Packets) -> VideoFacts {
        let mut facts = VideoFacts {
            codec: stream.codec.to_owned(),
            container: stream.container.clone(),
            claimed_frames: stream.claimed_frames,
            claimed_seconds: stream.claimed_seconds,
            creation_year: stream.creation_year,
            stream_seconds: packets.seconds(stream),
            format_changes: self.format_changes,
            size_changes: self.size_changes,
            interlaced_frames: self.interlaced,
            decode_errors: self.errors + u64::from(packets.read_error.is_some()),
            corrupt_packets: packets.corrupt,
            logged_errors: self.logged + packets.heard.errors,
            failed_checksums: packets.checksums.failed,
            damaged_frames: self.damaged,
            undecoded_frames: self.undecoded,
            guessed_times: self.flaws.guessed,
            unordered_times: self.flaws.unordered,
            first_error: self.first_error.clone().or_else(|| packets.first_error()),
            ..VideoFacts::default()
        };
        if let Some(look) = &self.look {
            facts.pixel_format = look.picture.name.to_owned();
            (facts.coded_width, facts.coded_height) = (look.picture.size.width, look.picture.size.height);
            facts.sar = look.sar;
            (facts.mirrored, facts.rotation) = look.orientation.as_mirror_and_turn();
            facts.odd_angle = look.odd_angle;
            facts.matrix = look.picture.matrix.name().to_owned();
            facts.range = look.picture.range_name().to_owned();
            facts.chroma_location = look.picture.siting_name().to_owned();
        }
        facts
    }
}

//! The frames of a sample, as tracks see them.

use super::times::frame_ns;
use crate::dataset::Clip;
use crate::loader::feed::sample_spec::SampleSpec;
use crate::loader::options::TrackAnchor;
use vidrec_format::error::Result;

/// The frames of a sample, with padding.
pub(crate) struct Drawn<'a> {
    pub clip: &'a Clip<'a>,
    /// The frames that exist. Those of a padded window may come more than once.
    pub frames: &'a [u32],
    /// The frame at each place of the sample. `None` where zeros pad it.
    pub places: Vec<Option<u32>>,
    /// Whether each place has a frame that was asked for.
    pub meant: &'a [bool],
    /// Whether the first and the last value of a track stand for those before and after them.
    pub holds_edges: bool,
    current: Option<u32>,
}

impl<'a> Drawn<'a> {
    pub fn of(plan: &'a SampleSpec<'a>) -> Self {
        let SampleSpec { clip, frames, meant, holds_edges, .. } = plan;
        let frames_at = std::iter::repeat_n(None, plan.before()).chain(frames.iter().copied().map(Some));
        let places = frames_at.chain(std::iter::repeat(None)).take(meant.len()).collect();
        Drawn { clip, frames, places, meant, holds_edges: *holds_edges, current: plan.current() }
    }

    /// The time of the frame at each place.
    pub fn times(&self) -> Result<Vec<Option<i64>>> {
        self.places.iter().map(|t| t.map(|t| frame_ns(self.clip, t)).transpose()).collect()
    }

    /// The time of the current frame; 0 if the clip has no frames.
    pub fn current_ns(&self) -> Result<Option<i64>> {
        self.time_of(self.current)
    }

    fn time_of(&self, frame: Option<u32>) -> Result<Option<i64>> {
        match frame {
            None if self.clip.frame_count() == 0 => Ok(Some(0)),
            frame => frame.map(|t| frame_ns(self.clip, t)).transpose(),
        }
    }

    /// The times from which windows count, and whether each is that of a frame that was asked for.
    pub fn anchors(&self, anchor: TrackAnchor) -> Result<Vec<(Option<i64>, bool)>> {
        let one = match anchor {
            TrackAnchor::Each => return Ok(self.times()?.into_iter().zip(self.meant.iter().copied()).collect()),
            TrackAnchor::Current => self.current_ns()?,
            TrackAnchor::Last => self.time_of(self.frames.last().copied())?,
        };
        Ok(vec![(one, true)])
    }
}

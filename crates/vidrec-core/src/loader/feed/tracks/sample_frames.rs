//! The frames and the pictures of a sample, which tracks follow.

use super::times::frame_ns;
use crate::dataset::Clip;
use crate::loader::feed::sample_spec::SampleSpec;
use crate::loader::options::TrackAnchor;
use vidrec_format::error::{Error, Result};

/// The frames of a sample, with padding.
pub(crate) struct SampleFrames<'a> {
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

impl<'a> SampleFrames<'a> {
    pub fn of(plan: &'a SampleSpec<'a>) -> Self {
        let SampleSpec { clip, frames, meant, holds_edges, .. } = plan;
        let frames_at = std::iter::repeat_n(None, plan.before()).chain(frames.iter().copied().map(Some));
        let places = frames_at.chain(std::iter::repeat(None)).take(meant.len()).collect();
        SampleFrames { clip, frames, places, meant, holds_edges: *holds_edges, current: plan.current() }
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

/// The part of its frames that a sample shows.
#[derive(Debug, Clone, Copy)]
pub struct PictureView {
    /// The part of a frame in its pixels: left, top, width, height.
    window: [f64; 4],
    flip: bool,
    /// Width and height of the frames.
    frame: (u32, u32),
    /// Width and height of the pictures.
    size: (u32, u32),
}

/// The part that a sample shows of the frames of the camera of this number.
pub(crate) type ViewOf<'a> = &'a dyn Fn(u32) -> Result<Option<PictureView>>;

impl PictureView {
    /// # Errors
    ///
    /// The frames of the clip differ in size.
    pub fn of(plan: &SampleSpec<'_>) -> Result<Self> {
        let (frame, window) = plan.frame_size().zip(plan.params.window).ok_or_else(|| {
            let e = Error::usage("the frames of the clip differ in size, so no track can follow them");
            e.in_clip(plan.clip.ordinal()).help("omit follow of the track, or leave the clip out")
        })?;
        Ok(PictureView { window, flip: plan.params.flip, frame, size: plan.size })
    }

    /// The column and the row of a stored picture of `stored` (width, height) pixels that each column and each row of the
    /// sample shows: those of the pixel in which its center lies. A stored picture shows the same scene as a frame, whatever
    /// its size.
    pub fn sources(&self, stored: (usize, usize)) -> (Vec<usize>, Vec<usize>) {
        let [left, top, width, height] = self.window;
        let mut columns = axis((left, width), self.size.0, self.frame.0, stored.0);
        if self.flip {
            columns.reverse();
        }
        (columns, axis((top, height), self.size.1, self.frame.1, stored.1))
    }
}

fn axis((start, length): (f64, f64), out: u32, frame: u32, stored: usize) -> Vec<usize> {
    let step = length / f64::from(out);
    let place = |i: u32| {
        let center = start + (f64::from(i) + 0.5) * step;
        // Never negative. What rounding moves beyond the edge is the last pixel.
        ((center * stored as f64 / f64::from(frame)) as usize).min(stored.saturating_sub(1))
    };
    (0..out).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pixel_shows_the_stored_one_in_which_its_center_lies() {
        let view = PictureView { window: [2.0, 0.0, 4.0, 3.0], flip: true, frame: (8, 6), size: (4, 2) };
        assert_eq!(view.sources((8, 6)), (vec![5, 4, 3, 2], vec![0, 2]));
        assert_eq!(view.sources((16, 3)), (vec![11, 9, 7, 5], vec![0, 1]));
        assert_eq!(view.sources((1, 1)), (vec![0; 4], vec![0; 2]));
    }
}

//! The rules that may differ between sources of a mix and between cameras.

use super::{Draws, Normalize, Pictures, ShortClips, SmartResize};
use crate::dataset::Clip;
use crate::loader::draw::{Augmentation, Clock, Length, Temporal, enlarged};
use vidrec_format::error::Result;

/// Which frames a sample has, and how they become pictures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rules {
    pub frames: Length,
    pub short: ShortClips,
    pub clock: Clock,
    pub temporal: Temporal,
    pub draws: Draws,
    pub augmentation: Augmentation,
    pub normalize: Normalize,
    pub reducing_gap: f64,
    /// The sizes of pictures, one or more.
    pub sizes: Vec<(u32, u32)>,
    /// The rule for the size of each clip's pictures, instead of sizes.
    pub size_rule: Option<SmartResize>,
}

impl Rules {
    /// The number of frames of a sample of this clip, at most `most`.
    pub fn length(&self, clip: &Clip<'_>, most: u32) -> Result<u32> {
        Ok(match self.frames {
            _ if clip.frame_count() == 0 => 0,
            Length::Fixed(frames) => frames.min(most),
            Length::Stored => self.clock.length(clip)?.min(most),
            Length::Any { most: own } => {
                self.temporal.length(self.clock.length(clip)?, most.min(own.unwrap_or(u32::MAX)))
            }
        })
    }

    /// The number of frames of the longest sample, of clips of at most `longest` frames.
    pub fn longest(&self, longest: u32) -> u32 {
        match self.frames {
            Length::Fixed(frames) => frames,
            Length::Stored => longest,
            Length::Any { most } => self.temporal.length(longest, most.unwrap_or(u32::MAX)),
        }
    }

    /// Width and height of the pictures of a sample of `frames` frames of this width and height.
    pub fn size(&self, frame: (u32, u32), frames: u32) -> Result<(u32, u32)> {
        match self.size_rule {
            Some(rule) => rule.size(frame, frames),
            None => Ok(self.sizes[nearest_shape(frame, &self.sizes)]),
        }
    }

    /// Width and height to which the frames of a clip are enlarged in every sample, because they are smaller than the
    /// pictures; `None` if they are not, or are not all of one size.
    pub fn enlarged(&self, clip: &Clip<'_>) -> Option<(u32, u32)> {
        let frame = (clip.width(), clip.height());
        if clip.frame_count() == 0 || frame.0 == 0 || frame.1 == 0 {
            return None;
        }
        let size = self.size(frame, clip.frame_count()).ok()?;
        match self.size_rule {
            Some(rule) => rule.enlarges(frame).then_some(size),
            None => enlarged(&self.augmentation, size, frame),
        }
    }

    /// These pictures, with what the rules say about them.
    pub fn pictures(&self, size: (u32, u32), pictures: &Pictures) -> Pictures {
        Pictures { size, normalize: self.normalize, reducing_gap: self.reducing_gap, ..*pictures }
    }
}

/// The number of the size that is nearest in shape. The first one, if several are.
fn nearest_shape(frame: (u32, u32), sizes: &[(u32, u32)]) -> usize {
    let shape = |(width, height): (u32, u32)| (f64::from(width) / f64::from(height)).ln();
    let distance = |size: (u32, u32)| (shape(frame) - shape(size)).abs();
    let mut best = 0;
    for i in 1..sizes.len() {
        if distance(sizes[i]) < distance(sizes[best]) {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_goes_to_the_nearest_shape() {
        let sizes = [(224, 224), (256, 192), (192, 256)];
        assert_eq!([(640, 480), (480, 640), (100, 100), (1920, 800)].map(|f| nearest_shape(f, &sizes)), [1, 2, 0, 1]);
    }
}

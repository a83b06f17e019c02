//! The rules that may differ between sources of a mix and between cameras.

use super::{Draws, Normalize, Pictures, ShortClips, SmartResize};
use crate::draw::{Augmentation, Clock, Length, Temporal};
use vidrec_dataset::Clip;
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

    /// These pictures, with what the rules say about them.
    pub fn pictures(&self, size: (u32, u32), pictures: &Pictures) -> Pictures {
        Pictures { size, normalize: self.normalize, reducing_gap: self.reducing_gap, ..*pictures }
    }
}

//! From the planes of a decoded frame to its slot in the batch: resample, convert colours, normalise and lay out, row
//! by row, in one pass over tables that all frames of a clip share.
//!
//! * Luma and chroma are resampled by themselves, and nothing is made of the pixels in between: see [`axis`]. The picture
//!   is that of a full decode to RGB, resized, but for the levels that the latter rounds, or clamps, before it resizes.
//!   On natural-like pictures no level is off by more than 2, and the PSNR is above 57 dB.
//! * A picture that is not resized is libjpeg's RGB decode, exactly.
//! * Where it gets much smaller, the inverse DCT does part of it: see [`REDUCING_GAP`].
//! * Resampling is done in integers and colour in floats without fused operations: the same bits on every machine.

mod axis;
#[cfg(feature = "bench")]
pub(crate) mod bench;
mod color;
mod columns;
mod exact;
mod isa;
mod pass;
mod plan;
mod rows;
mod sample;
mod slot;

use std::sync::OnceLock;

use isa::Machine;
pub(super) use pass::Scratch;
use plan::Plan;
pub(super) use sample::Sample;
pub(super) use slot::Slot;

use super::colour::ColorMatrix;
use super::options::Channels;
use super::view::View;
use crate::jpeg::{Pixels, Region, Scale};

/// What pictures are to be, whatever the frame.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    /// Width and height.
    pub size: (u32, u32),
    pub channels: Channels,
    /// For float samples: what is subtracted from each channel and by what it is then divided, 1 being full.
    pub mean: [f32; 3],
    pub std: [f32; 3],
    pub matrix: ColorMatrix,
    /// How many times larger than the picture a frame may be decoded before the inverse DCT makes it smaller, which is
    /// faster and sharper than resizing all of it: 1 or more, and infinite for never. See [`REDUCING_GAP`].
    pub reducing_gap: f64,
}

/// The default of [`LoaderOptions::reducing_gap`](super::LoaderOptions::reducing_gap), which has the PSNR.
///
/// On the natural-like picture of the tests, against the exact resize of a full RGB decode: a gap of 2 gives 62 dB for
/// 340x256 to 112x112 (not reduced), 53 dB for 960x540 to 112x112 (by 2), 47 dB for 1080x1080 to 112x112 (by 4); one of
/// 1 gives 46 (by 2), 43 (by 4) and 38 dB (by 8). Frames at quality 90 are themselves at 40 dB or so.
pub(super) const REDUCING_GAP: f64 = 1.125;

/// What a kernel wants decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The planes of a 4:2:0 picture, at this scale.
    Planes(Scale),
    /// RGB.
    Rgb,
}

/// Part of a decoded frame.
pub(super) struct Decoded<'a> {
    /// Luma, or red, and so on.
    pub planes: [&'a [u8]; 3],
    /// Samples from one row of each plane to the next.
    pub pitches: [usize; 3],
    /// The frame's pixels that the planes begin with.
    pub origin: (u32, u32),
}

/// Tables that take one view out of frames of one size: made once a clip, used by all its frames.
#[derive(Debug)]
pub(super) struct Kernel {
    frame: (u32, u32),
    target: Target,
    view: View,
    /// For 4:2:0 frames.
    main: Plan,
    /// For frames of any other kind, which vidrec does not write.
    other: OnceLock<Plan>,
}

impl Kernel {
    /// Tables that take `view` out of frames of `frame` (width, height) pixels.
    pub fn new(target: &Target, view: &View, frame: (u32, u32)) -> Self {
        let main = Plan::new(target, view, frame, Pixels::Ycc420);
        Kernel { frame, target: target.clone(), view: *view, main, other: OnceLock::new() }
    }

    /// The size of frame that the tables are for.
    pub fn frame(&self) -> (u32, u32) {
        self.frame
    }

    /// What must be decoded of a frame with such pixels: at least this region, in this way.
    pub fn wants(&self, pixels: Pixels) -> (Wanted, Region) {
        let plan = self.plan(pixels);
        (plan.wanted, plan.region)
    }

    /// Writes the picture that a frame with such pixels gives to `slot`.
    pub fn run<S: Sample>(&self, pixels: Pixels, frame: &Decoded<'_>, scratch: &mut Scratch, slot: Slot<'_, S>) {
        pass::run(Machine::best(), self.plan(pixels), frame, scratch, slot);
    }

    fn plan(&self, pixels: Pixels) -> &Plan {
        match pixels {
            Pixels::Ycc420 => &self.main,
            Pixels::Other => self.other.get_or_init(|| Plan::new(&self.target, &self.view, self.frame, pixels)),
        }
    }
}

#[cfg(test)]
mod tests;

//! From the planes of a decoded frame to its slot in the batch. One pass resamples, converts colors, normalizes
//! and lays out, row by row, with tables that all frames of a clip share.
//!
//! * Luma and chroma are resampled separately, without RGB pixels in between: see `axis`. The picture is that of a
//!   full decode to RGB that is then resized, except for the levels that such a decode rounds or clamps before it
//!   resizes. On natural-like pictures, no level is off by more than 2, and the PSNR is above 57 dB.
//! * A picture that is not resized is exactly libjpeg's RGB decode.
//! * If the picture gets much smaller, the inverse DCT does part of the work: see `REDUCING_GAP`.
//! * Resampling uses integers, and color uses floats without fused operations: the same bits on every machine.
//!
//! The kernel uses planes, views and slots, and no options of a loader.

mod axis;
#[cfg(vidrec_internals)]
#[path = "../../../../../benches/internals/kernel.rs"]
pub mod bench;
mod colors;
mod exact;
mod export;
mod isa;
mod pass;
mod picture_buffer;
mod picture_row;
mod plane_tables;
mod spec;
mod tables;

use std::sync::OnceLock;

pub use colors::{Channels, ColorMatrix};
pub(super) use export::ExportedTables;
use isa::Machine;
pub(super) use pass::Scratch;
pub(super) use picture_buffer::{PictureBuffer, SampleType};
pub(super) use spec::{Decoded, DecodedForm, PictureSpec, REDUCING_GAP, Span, View};
use tables::Tables;
use vidrec_jpeg::{Pixels, Region, Scale};

/// The scale of the planes that a view of 4:2:0 frames needs, if it needs planes: see `REDUCING_GAP`.
pub(super) fn scale(view: &View, reducing_gap: f64) -> Scale {
    tables::scale(view, reducing_gap)
}

/// Tables that take one view out of frames of one size. They are made once a clip and used by all its frames.
#[derive(Debug)]
pub(crate) struct Kernel {
    frame: (u32, u32),
    target: PictureSpec,
    view: View,
    /// The tables for 4:2:0 frames.
    main: Tables,
    /// The tables for all other frames. vidrec does not write such frames.
    other: OnceLock<Tables>,
}

impl Kernel {
    /// Creates tables that take `view` out of frames of `frame` (width, height) pixels.
    pub fn new(target: &PictureSpec, view: &View, frame: (u32, u32)) -> Self {
        let main = Tables::new(target, view, frame, Pixels::Ycc420);
        Kernel { frame, target: target.clone(), view: *view, main, other: OnceLock::new() }
    }

    /// The frame size of the tables.
    pub fn frame(&self) -> (u32, u32) {
        self.frame
    }

    /// The form and the region in which a frame with such pixels must at least be decoded.
    pub fn needs(&self, pixels: Pixels) -> (DecodedForm, Region) {
        let tables = self.tables(pixels);
        (tables.form, tables.region)
    }

    /// The scale and the region in which a 4:2:0 frame must be decoded, if the picture is made of its planes.
    pub fn planes(&self) -> Option<(Scale, Region)> {
        let Tables { form, region, .. } = self.main;
        if let DecodedForm::Planes(scale) = form { Some((scale, region)) } else { None }
    }

    /// The number of lines to which rows of planes are blended; none if the picture is a copy of the frame's pixels.
    pub fn lines(&self) -> u32 {
        if self.main.exact.is_some() { 0 } else { self.target.size.1 }
    }

    /// The tables for 4:2:0 frames: see [`ExportedTables::of`].
    pub fn export(&self, normalized: bool) -> Option<ExportedTables> {
        ExportedTables::of(&self.main, &self.view, self.frame, normalized)
    }

    /// Writes the picture of a frame with such pixels to `slot`.
    pub fn run<S: SampleType>(
        &self,
        pixels: Pixels,
        frame: &Decoded<'_>,
        scratch: &mut Scratch,
        slot: PictureBuffer<'_, S>,
    ) {
        pass::run(Machine::best(), self.tables(pixels), frame, scratch, slot);
    }

    fn tables(&self, pixels: Pixels) -> &Tables {
        match pixels {
            Pixels::Ycc420 => &self.main,
            Pixels::Other => self.other.get_or_init(|| Tables::new(&self.target, &self.view, self.frame, pixels)),
        }
    }
}

#[cfg(test)]
mod tests;

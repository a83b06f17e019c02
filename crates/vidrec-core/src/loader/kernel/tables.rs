//! The tables by which the pictures of a clip are made, and the part of a frame that they need.

use super::axis::Samples;
use super::colors::{Channels, Conversion};
use super::plane_tables::PlaneTables;
use super::spec::{DecodedForm, PictureSpec, UNIT, View};
use vidrec_jpeg::{Pixels, Region, RgbRows, Scale};

/// The tables by which a view becomes pictures, for frames of one size and kind. They are made once a clip and used by all its
/// frames.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    /// Width and height of the frames, and their pixels.
    pub frame: (u32, u32),
    pub pixels: Pixels,
    pub view: View,
    /// The form in which a frame must be decoded.
    pub form: DecodedForm,
    /// The rows of pictures that are not resized, which replace the tables.
    pub(super) exact: Option<RgbRows>,
    /// The frame pixels that must be decoded.
    pub region: Region,
    /// Width and height of the picture.
    pub size: (u32, u32),
    pub channels: usize,
    /// The tables of the first plane.
    pub(super) first: PlaneTables,
    /// The tables of the other two planes, if the picture needs them and they are smaller.
    pub(super) others: Option<PlaneTables>,
    /// The number of planes that the picture needs: 1 or 3.
    pub planes: usize,
    /// The conversion to levels.
    pub(super) levels: Conversion,
    /// The conversion to normalized samples.
    pub(super) normalized: Conversion,
}

impl Kernel {
    /// Creates tables that take `view` out of frames of `frame` (width, height) pixels.
    pub fn new(target: &PictureSpec, view: &View, frame: (u32, u32), pixels: Pixels) -> Self {
        let Method { form, exact, levels, planes } = Method::new(target, view, frame, pixels);
        let channels = target.channels.count();
        let (rgb, step) = match form {
            DecodedForm::Planes(scale) => (false, scale.step()),
            DecodedForm::Rgb => (true, 1),
        };
        let first = PlaneTables::new(target, view, frame, step, Samples::Full);
        let others = (!rgb && exact.is_none() && planes == 3)
            .then(|| PlaneTables::new(target, view, frame, step, Samples::Half));
        let regions = others.iter().map(|tables| tables.region(frame)).chain(exact.map(|exact| exact.region()));
        let region = regions.fold(first.region(frame), Region::union);
        let normalized = levels.normalized(target.mean, target.std);
        let (view, size) = (*view, target.size);
        Kernel { frame, pixels, view, form, exact, region, size, channels, first, others, planes, levels, normalized }
    }

    /// The tables of plane 0, 1 or 2.
    pub(super) fn of_plane(&self, plane: usize) -> &PlaneTables {
        self.others.as_ref().filter(|_| plane > 0).unwrap_or(&self.first)
    }
}

/// How a view of frames of one size and kind becomes pictures.
#[derive(Debug)]
pub(super) struct Method {
    /// See [`Kernel::form`].
    pub form: DecodedForm,
    /// See [`Kernel::exact`].
    pub exact: Option<RgbRows>,
    /// The conversion to levels.
    pub levels: Conversion,
    /// The number of planes that the picture needs: 1 or 3.
    pub planes: usize,
}

impl Method {
    pub fn new(target: &PictureSpec, view: &View, frame: (u32, u32), pixels: Pixels) -> Self {
        let conversion = |is_ycc| Conversion::new(is_ycc, &target.matrix, target.channels, UNIT);
        // A picture that is not resized has the levels of a decode to RGB. They come from libjpeg's arithmetic, or
        // from libjpeg itself.
        let copy = target.channels == Channels::Rgb && view.x.is_copy() && view.y.is_copy();
        let (width, height) = target.size;
        let crop = Region { x: view.x.start as u32, y: view.y.start as u32, width, height };
        let exact = RgbRows::new(crop, frame).filter(|_| copy && pixels == Pixels::Ycc420);
        let (form, levels) = if (copy && exact.is_none()) || pixels == Pixels::Other {
            (DecodedForm::Rgb, conversion(false))
        } else if exact.is_some() {
            (DecodedForm::Planes(Scale::Full), conversion(false))
        } else {
            (DecodedForm::Planes(scale(view, target.reducing_gap)), conversion(true))
        };
        let planes = if levels.needs_chroma(target.channels.count()) { 3 } else { 1 };
        Method { form, exact, levels, planes }
    }
}

/// The scale at which to decode for `view`: the smallest that leaves at least `gap` samples for each pixel.
///
/// A scaled inverse DCT keeps the lowest frequencies of each block. It is a low-pass filter, sharper than the
/// triangle that would average these pixels. The more work is left to the triangle, the less the difference shows.
pub(crate) fn scale(view: &View, gap: f64) -> Scale {
    let most = view.x.scale.min(view.y.scale) / gap;
    Scale::ALL.into_iter().rev().find(|scale| f64::from(scale.step()) <= most).unwrap_or(Scale::Full)
}

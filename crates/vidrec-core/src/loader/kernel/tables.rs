//! The tables by which the pictures of a clip are made, the part of a frame that they need, and the same tables as plain
//! numbers, for a kernel on another device that computes the same bits.

use super::axis::{Axis, Samples};
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
        let channels = target.channels.count();
        let conversion = |is_ycc| Conversion::new(is_ycc, &target.matrix, target.channels, UNIT);
        // A picture that is not resized has the levels of a decode to RGB. They come from libjpeg's arithmetic, or
        // from libjpeg itself.
        let copy = target.channels == Channels::Rgb && view.x.is_copy() && view.y.is_copy();
        let (width, height) = target.size;
        let crop = Region { x: view.x.start as u32, y: view.y.start as u32, width, height };
        let exact = RgbRows::new(crop, frame).filter(|_| copy && pixels == Pixels::Ycc420);
        let rgb = (copy && exact.is_none()) || pixels == Pixels::Other;
        let (form, levels, step) = if rgb {
            (DecodedForm::Rgb, conversion(false), 1)
        } else if exact.is_some() {
            (DecodedForm::Planes(Scale::Full), conversion(false), 1)
        } else {
            let scale = scale(view, target.reducing_gap);
            (DecodedForm::Planes(scale), conversion(true), scale.step())
        };
        let planes = if levels.needs_chroma(channels) { 3 } else { 1 };
        let first = PlaneTables::new(target, view, frame, step, Samples::Full);
        let others = (!rgb && exact.is_none() && planes == 3)
            .then(|| PlaneTables::new(target, view, frame, step, Samples::Half));
        let regions = others.iter().map(|tables| tables.region(frame)).chain(exact.map(|exact| exact.region()));
        let region = regions.fold(first.region(frame), Region::union);
        let normalized = levels.normalized(target.mean, target.std);
        let (view, size) = (*view, target.size);
        Kernel { frame, pixels, view, form, exact, region, size, channels, first, others, planes, levels, normalized }
    }

    /// The number of lines to which rows of planes are blended; none if the picture is a copy of the frame's pixels.
    pub fn lines(&self) -> u32 {
        if self.exact.is_some() { 0 } else { self.size.1 }
    }

    /// The tables of plane 0, 1 or 2.
    pub(super) fn of_plane(&self, plane: usize) -> &PlaneTables {
        self.others.as_ref().filter(|_| plane > 0).unwrap_or(&self.first)
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

/// Numbers of all tables of a batch, one table after another.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ExportedTables {
    /// For each table a head of [`HEAD`](Self::HEAD) numbers, and the first samples of its axes.
    pub numbers: Vec<i32>,
    /// The weights of all axes.
    pub weights: Vec<i16>,
    /// For each table the factors (row by row), offsets, and lower and upper ends of each channel.
    pub conversions: Vec<f32>,
}

impl ExportedTables {
    /// The numbers of a table before its axes. The first three are: whether the picture is a copy of the
    /// frame's pixels, the number of planes that it needs, and whether a copy is mirrored. Then come the left and upper
    /// side of a copy, and the width and height of the frame. For columns and rows of luma, and columns and rows of chroma, there are three each: the number of weights of a
    /// pixel, and the places of the first samples and of the weights.
    const HEAD: usize = Self::AXES + 4 * 3;

    /// Where those of the axes begin.
    const AXES: usize = 7;

    /// The tables of a kernel. `None` if they are not for planes. `normalized` says which conversion they get.
    pub fn of(tables: &Kernel, normalized: bool) -> Option<Self> {
        let DecodedForm::Planes(_) = tables.form else { return None };
        let mut to = ExportedTables { numbers: vec![0; Self::HEAD], ..ExportedTables::default() };
        let View { x, y, flip } = tables.view;
        let head = [
            i32::from(tables.exact.is_some()),
            tables.planes as i32,
            i32::from(flip),
            x.start as i32,
            y.start as i32,
            tables.frame.0 as i32,
            tables.frame.1 as i32,
        ];
        to.numbers[..Self::AXES].copy_from_slice(&head);
        if tables.exact.is_none() {
            for plane in 0..tables.planes.min(2) {
                let PlaneTables { columns, rows, .. } = tables.of_plane(plane);
                let at = Self::AXES + 6 * plane;
                to.axis(at, &columns.axis);
                to.axis(at + 3, &rows.axis());
            }
        }
        let conversion = if normalized { &tables.normalized } else { &tables.levels };
        to.conversions.extend(conversion.rows.as_flattened());
        to.conversions.extend([conversion.offset, conversion.low, conversion.high].as_flattened());
        Some(to)
    }

    /// Appends another table, and returns its place in [`numbers`](Self::numbers).
    pub fn append(&mut self, table: &ExportedTables) -> Option<i32> {
        let [start, weights] = [self.numbers.len(), self.weights.len()].map(|n| i32::try_from(n).ok());
        let (start, weights) = (start?, weights?);
        self.numbers.extend(&table.numbers);
        let axes = self.numbers[start as usize..][Self::AXES..Self::HEAD].chunks_exact_mut(3);
        for places in axes.filter(|places| places[0] > 0) {
            places[1] = places[1].checked_add(start)?;
            places[2] = places[2].checked_add(weights)?;
        }
        self.weights.extend(&table.weights);
        self.conversions.extend(&table.conversions);
        Some(start)
    }

    fn axis(&mut self, head: usize, axis: &Axis) {
        let places = [axis.taps, self.numbers.len(), self.weights.len()].map(|n| n as i32);
        self.numbers[head..][..3].copy_from_slice(&places);
        self.numbers.extend(axis.first.iter().map(|&first| first as i32));
        self.weights.extend_from_slice(&axis.weights);
    }
}

//! The numbers by which a kernel on another device makes the same bits as the kernel of this folder.

use super::axis::{PlaneAxis, Samples};
use super::spec::{DecodedForm, PictureSpec, View};
use super::tables::Method;
use vidrec_jpeg::{Pixels, Region, Scale};

/// How frames that look the same become pictures. The device computes the weights of resampling from it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeviceTable {
    /// The scale at which frames must be decoded.
    pub scale: Scale,
    /// The frame pixels that must be decoded.
    pub region: Region,
    /// Width and height of the picture.
    pub size: (u32, u32),
    /// Whether rows of planes are blended to lines: not if the picture is a copy of the frame's pixels.
    pub has_lines: bool,
    /// At least the number of samples that a pixel depends on: columns and rows of luma, and columns and rows of chroma.
    taps: [u32; 4],
    /// Start and scale of the view along x and y, in samples of luma.
    spans: [f64; 4],
    /// The samples of luma that may be read, from the first to the one after the last, along x and y.
    bounds: [u32; 4],
    /// Width and height of the frame; pixels for each sample; whether the picture is a copy; the number of planes that it
    /// needs; whether it is mirrored.
    numbers: [u32; 6],
    /// The map from planes to channels: factors (row by row), offsets, lower and upper ends.
    conversion: [[f32; 3]; 6],
}

impl DeviceTable {
    /// The bytes of the device's `Table`.
    pub const BYTES: usize = 176;

    /// `None` if frames do not become pictures by way of planes. `normalized` says which conversion is meant.
    pub fn new(target: &PictureSpec, view: &View, frame: (u32, u32), normalized: bool) -> Option<Self> {
        let Method { form, exact, levels, planes } = Method::new(target, view, frame, Pixels::Ycc420);
        let DecodedForm::Planes(scale) = form else { return None };
        let step = scale.step();
        let axis = |samples, is_x| {
            let (span, side) = if is_x { (view.x, frame.0) } else { (view.y, frame.1) };
            PlaneAxis { span, side, step, samples }
        };
        let [x, y] = [true, false].map(|is_x| axis(Samples::Full, is_x).in_luma());
        let ways = [(Samples::Full, true), (Samples::Full, false), (Samples::Half, true), (Samples::Half, false)];
        let axes = ways.map(|(samples, is_x)| axis(samples, is_x));
        let part = |axes: &[PlaneAxis], step| region([axes[0], axes[1]], target.size, frame, step);
        let region = match exact {
            Some(exact) => exact.region(),
            None if planes == 3 => part(&axes[..2], step).union(part(&axes[2..], 2 * step)),
            None => part(&axes[..2], step),
        };
        let conversion = if normalized { levels.normalized(target.mean, target.std) } else { levels };
        let [first, second, third] = conversion.rows;
        Some(DeviceTable {
            scale,
            region,
            size: target.size,
            has_lines: exact.is_none(),
            taps: axes.map(PlaneAxis::most_taps),
            spans: [x.start, x.scale, y.start, y.scale],
            bounds: [x.bounds.0, x.bounds.1, y.bounds.0, y.bounds.1],
            numbers: [frame.0, frame.1, step, exact.is_some().into(), planes as u32, view.flip.into()],
            conversion: [first, second, third, conversion.offset, conversion.low, conversion.high],
        })
    }

    /// Appends the numbers as the device's `Table` has them. `weights` counts those of all tables. `None` if they are too
    /// many for a device.
    pub fn write(&self, weights: &mut u64, to: &mut Vec<u8>) -> Option<()> {
        let mut places = [0; 4];
        let (width, height) = self.size;
        for ((place, pixels), taps) in places.iter_mut().zip([width, height, width, height]).zip(self.taps) {
            *place = i32::try_from(*weights).ok()?;
            *weights += u64::from(pixels) * u64::from(taps);
        }
        to.extend(self.spans.iter().flat_map(|number| number.to_ne_bytes()));
        to.extend(self.bounds.iter().chain(&self.numbers).flat_map(|number| number.to_ne_bytes()));
        to.extend(places.iter().flat_map(|place| place.to_ne_bytes()));
        to.extend(self.taps.iter().flat_map(|taps| taps.to_ne_bytes()));
        to.extend(self.conversion.as_flattened().iter().flat_map(|number| number.to_ne_bytes()));
        i32::try_from(*weights).ok().map(drop)
    }
}

/// The frame pixels under the samples of `step` pixels that a picture depends on.
fn region([x, y]: [PlaneAxis; 2], size: (u32, u32), frame: (u32, u32), step: u32) -> Region {
    let (x, y) = (x.reach(size.0), y.reach(size.1));
    let end = |samples: u32, side: u32| (samples * step).min(side);
    let (left, top) = (x.start * step, y.start * step);
    Region { x: left, y: top, width: end(x.end, frame.0) - left, height: end(y.end, frame.1) - top }
}

//! The pass over a frame: for each row of the picture, blend rows of the planes, then columns, then colours.

use super::super::aligned::Aligned;
use super::Decoded;
use super::color::Conversion;
use super::exact::Lines;
use super::isa::{Isa, Machine, Work};
use super::plan::{Plan, PlaneTables};
use super::sample::Sample;
use super::slot::Slot;

/// Buffers of one row, kept from frame to frame.
#[derive(Debug, Default)]
pub(in crate::loader) struct Scratch {
    /// A row of each plane.
    lines: [Aligned<i16>; 3],
    exact: Lines,
    /// A row of the picture, for each plane.
    sums: [Aligned<i32>; 3],
    /// The same in floats, for each channel.
    values: [Aligned<f32>; 3],
    /// And with the channels of a pixel side by side.
    pixels: Vec<f32>,
}

/// Pixels that colours are made of at a time. Rows of scratch space have a multiple of it.
const BLOCK: usize = 16;

/// Writes the picture that `plan` makes of `frame` to `slot`.
pub(super) fn run<S: Sample>(
    machine: Machine,
    plan: &Plan,
    frame: &Decoded<'_>,
    scratch: &mut Scratch,
    slot: Slot<'_, S>,
) {
    scratch.fit(plan);
    machine.run(Pass { plan, frame, scratch, slot });
}

impl Scratch {
    fn fit(&mut self, plan: &Plan) {
        let columns = &plan.first.columns;
        for (plane, line) in self.lines.iter_mut().enumerate() {
            line.resize(plan.tables(plane).columns.line_len());
        }
        self.sums.iter_mut().for_each(|sums| sums.resize(columns.out_len()));
        self.values.iter_mut().for_each(|values| values.resize(columns.out_len()));
        self.pixels.resize(3 * columns.out_len(), 0.0);
    }
}

struct Pass<'a, S> {
    plan: &'a Plan,
    frame: &'a Decoded<'a>,
    scratch: &'a mut Scratch,
    slot: Slot<'a, S>,
}

impl<S: Sample> Work for Pass<'_, S> {
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let conversion = if S::NORMALISED { &self.plan.normalised } else { &self.plan.levels };
        for y in 0..self.plan.size.1 as usize {
            match &self.plan.exact {
                Some(exact) => exact.row(self.frame, y as u32, &mut self.scratch.exact, &mut self.scratch.sums),
                None => self.resample(isa, y),
            }
            let Scratch { sums, values, .. } = &mut *self.scratch;
            match (self.plan.planes, self.plan.channels) {
                (1, 1) => convert::<1, 1>(conversion, sums, values),
                (1, _) => convert::<1, 3>(conversion, sums, values),
                (_, 1) => convert::<3, 1>(conversion, sums, values),
                _ => convert::<3, 3>(conversion, sums, values),
            }
            self.write(isa, y);
        }
        isa.finish();
    }
}

impl<S: Sample> Pass<'_, S> {
    /// Makes the sums of row `y` of the picture.
    #[inline(always)]
    fn resample<I: Isa>(&mut self, isa: I, y: usize) {
        // All planes first down, then across: a line is read long after it was written, not out of the store buffer.
        for plane in 0..self.plan.planes {
            self.blend(isa, plane, y);
        }
        for plane in 0..self.plan.planes {
            let columns = &self.plan.tables(plane).columns;
            isa.columns(&self.scratch.lines[plane], columns, &mut self.scratch.sums[plane]);
        }
    }

    /// Makes the line of one plane that row `y` of the picture is made of.
    #[inline(always)]
    fn blend<I: Isa>(&mut self, isa: I, plane: usize, y: usize) {
        let PlaneTables { columns, rows, step } = self.plan.tables(plane);
        let (start, length) = columns.source();
        let (x0, y0) = (self.frame.origin.0 / step, self.frame.origin.1 / step);
        let row = |sample: u32| {
            let at = (sample - y0) as usize * self.frame.pitches[plane] + (start - x0) as usize;
            &self.frame.planes[plane][at..at + length]
        };
        let weights = &rows.weights[y * rows.taps..][..rows.taps];
        blend_rows(isa, rows.first[y], weights, row, &mut self.scratch.lines[plane][..length]);
    }

    /// Writes row `y` of the picture to its slot.
    #[inline(always)]
    fn write<I: Isa>(&mut self, isa: I, y: usize) {
        let width = self.plan.size.0 as usize;
        let Scratch { values, pixels, .. } = &mut *self.scratch;
        match &mut self.slot {
            Slot::Gray(plane) => S::convert(isa, &values[0], &mut plane[y * width..][..width]),
            Slot::Planes(planes) => {
                for (values, plane) in values.iter().zip(planes) {
                    S::convert(isa, values, &mut plane[y * width..][..width]);
                }
            }
            Slot::Pixels(out) => {
                let [r, g, b] = values.each_ref().map(|values| &**values);
                for (x, pixel) in pixels.as_chunks_mut().0.iter_mut().enumerate() {
                    *pixel = [r[x], g[x], b[x]];
                }
                S::convert(isa, pixels, &mut out[y * width * 3..][..width * 3]);
            }
        }
    }
}

/// The weighted sum of rows, the first of which is `first`.
#[inline(always)]
fn blend_rows<'a, I: Isa>(isa: I, first: u32, weights: &[i16], row: impl Fn(u32) -> &'a [u8], line: &mut [i16]) {
    let mut counting = (first..).zip(weights).filter(|&(_, &weight)| weight != 0);
    let base = counting.next().map_or(first, |(sample, _)| sample);
    let mut begin = true;
    for (sample, &weight) in counting {
        // Twice the weight, in halves of its unit, is below 2^15: it is less than one, as the base has some of it.
        isa.blend(line, row(base), row(sample), 2 * weight, begin);
        begin = false;
    }
    if begin {
        isa.blend(line, row(base), row(base), 0, true);
    }
}

/// Makes `values` of `sums`: see [`Conversion`]. Without chroma only the first plane counts.
#[inline(always)]
fn convert<const PLANES: usize, const CHANNELS: usize>(
    conversion: &Conversion,
    sums: &[Aligned<i32>; 3],
    values: &mut [Aligned<f32>; 3],
) {
    let Conversion { rows, offset, scale, bias } = *conversion;
    let [first, second, third] = sums.each_ref().map(|sums| sums.as_chunks::<BLOCK>().0);
    let [out0, out1, out2] = values.each_mut().map(|values| values.as_chunks_mut::<BLOCK>().0);
    let blocks = first.len();
    let (second, third) = (&second[..blocks], &third[..blocks]);
    let (out0, out1, out2) = (&mut out0[..blocks], &mut out1[..blocks], &mut out2[..blocks]);
    for i in 0..blocks {
        let planes = [&first[i], &second[i], &third[i]];
        let out = [&mut out0[i], &mut out1[i], &mut out2[i]];
        // Once for all channels, which the compiler does not see by itself.
        let mut samples = [[0.0; BLOCK]; PLANES];
        for (samples, plane) in samples.iter_mut().zip(planes) {
            *samples = plane.map(|sum| sum as f32);
        }
        for (c, out) in out.into_iter().enumerate().take(CHANNELS) {
            for (x, out) in out.iter_mut().enumerate() {
                let mut level = rows[c][0] * samples[0][x] + offset[c];
                for p in 1..PLANES {
                    level += rows[c][p] * samples[p][x];
                }
                *out = clamp(level) * scale[c] + bias[c];
            }
        }
    }
}

/// Within 0 to 255. Written so that it is two instructions.
#[inline(always)]
fn clamp(level: f32) -> f32 {
    let level = if level > 0.0 { level } else { 0.0 };
    if level < 255.0 { level } else { 255.0 }
}

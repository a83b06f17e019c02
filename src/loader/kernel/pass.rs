//! The pass over a frame: for each row of the picture, blend rows of the planes; then block by block the columns, the
//! colours and the samples, which stay in registers in between.

use super::super::aligned::Aligned;
use super::Decoded;
use super::color::Conversion;
use super::columns::{Blocks, Columns};
use super::exact::Lines;
use super::isa::{BLOCK, Isa, Machine, Work};
use super::plan::{Plan, PlaneTables};
use super::rows::Other;
use super::sample::Sample;
use super::slot::Slot;

/// Buffers of one row, kept from frame to frame.
#[derive(Debug, Default)]
pub(in crate::loader) struct Scratch {
    /// A row of each plane, for this row of the picture and for the next.
    lines: [[Aligned<i16>; 3]; 2],
    exact: Lines,
    /// A row of the picture, for each plane, where it is not made straight of the lines.
    sums: [Aligned<i32>; 3],
    /// Where the channels of a pixel are to stand side by side: a row of each channel, and of pixels.
    values: [Aligned<f32>; 3],
    pixels: Aligned<f32>,
}

/// Writes the picture that `plan` makes of `frame` to `slot`.
pub(super) fn run<S: Sample>(
    machine: Machine,
    plan: &Plan,
    frame: &Decoded<'_>,
    scratch: &mut Scratch,
    slot: Slot<'_, S>,
) {
    scratch.fit(plan);
    let conversion = if S::NORMALISED { &plan.normalised } else { &plan.levels };
    machine.run(Pass { plan, frame, scratch, slot, conversion });
}

impl Scratch {
    fn fit(&mut self, plan: &Plan) {
        for (plane, line) in self.lines.iter_mut().flat_map(|lines| lines.iter_mut().enumerate()) {
            line.resize(plan.tables(plane).columns.line_len());
        }
        let width = (plan.size.0 as usize).next_multiple_of(BLOCK);
        self.sums.iter_mut().for_each(|sums| sums.resize(width));
        self.values.iter_mut().for_each(|values| values.resize(width));
        self.pixels.resize(3 * width);
    }
}

struct Pass<'a, S> {
    plan: &'a Plan,
    frame: &'a Decoded<'a>,
    scratch: &'a mut Scratch,
    slot: Slot<'a, S>,
    conversion: &'a Conversion,
}

/// The functions below are compiled for each kind of machine by being part of one that is. Closures would not be, so there
/// are none in what runs for each block.
impl<S: Sample> Work for Pass<'_, S> {
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        match (self.plan.planes, self.plan.channels) {
            (1, 1) => self.rows::<I, 1, 1>(isa),
            (1, _) => self.rows::<I, 1, 3>(isa),
            (_, 1) => self.rows::<I, 3, 1>(isa),
            _ => self.rows::<I, 3, 3>(isa),
        }
        isa.finish();
    }
}

impl<S: Sample> Pass<'_, S> {
    #[inline(always)]
    fn rows<I: Isa, const PLANES: usize, const CHANNELS: usize>(&mut self, isa: I) {
        let plan = self.plan;
        let sources = [0, 1, 2].map(|plane| Source::new(plan.tables(plane), self.frame, plane));
        let at_once = (0..PLANES).all(|plane| isa.has_loops_for(plan.tables(plane).columns.windows()));
        let height = plan.size.1 as usize;
        if plan.exact.is_none() {
            self.blend::<I, PLANES>(isa, &sources, 0);
        }
        for y in 0..height {
            if let Some(exact) = &plan.exact {
                exact.row(self.frame, y as u32, &mut self.scratch.exact, &mut self.scratch.sums);
                self.row::<I, PLANES, CHANNELS, false>(isa, y);
                continue;
            }
            // One row ahead, so that a line is read long after it was written, and not out of the store buffer, where it
            // has the batch before it.
            if y + 1 < height {
                self.blend::<I, PLANES>(isa, &sources, y + 1);
            }
            if at_once {
                self.row::<I, PLANES, CHANNELS, true>(isa, y);
                continue;
            }
            let Scratch { lines, sums, .. } = &mut *self.scratch;
            for plane in 0..PLANES {
                isa.sums(&lines[y % 2][plane], &plan.tables(plane).columns, sums[plane].as_chunks_mut().0);
            }
            self.row::<I, PLANES, CHANNELS, false>(isa, y);
        }
    }

    /// Makes the lines that row `y` of the picture is made of.
    #[inline(always)]
    fn blend<I: Isa, const PLANES: usize>(&mut self, isa: I, sources: &[Source<'_>; 3], y: usize) {
        for (plane, source) in sources.iter().enumerate().take(PLANES) {
            blend(isa, self.plan.tables(plane).rows.row(y), source, &mut self.scratch.lines[y % 2][plane]);
        }
    }

    /// Makes and writes row `y` of the picture: out of lines, or of sums.
    #[inline(always)]
    fn row<I: Isa, const PLANES: usize, const CHANNELS: usize, const LINES: bool>(&mut self, isa: I, y: usize) {
        let width = self.plan.size.0 as usize;
        let pixels = y * width..(y + 1) * width;
        let Scratch { lines, sums, values, pixels: interleaved, .. } = &mut *self.scratch;
        let lines = &lines[y % 2];
        let row = Row::<PLANES, CHANNELS, LINES> {
            lines: [&lines[0], &lines[1], &lines[2]],
            sums: [sums[0].as_chunks().0, sums[1].as_chunks().0, sums[2].as_chunks().0],
            columns: &self.plan.tables(0).columns,
            chroma: &self.plan.tables(1).columns,
            conversion: self.conversion,
            width,
        };
        match &mut self.slot {
            Slot::Gray(plane) => row.write(isa, Planes([&mut plane[pixels]])),
            Slot::Planes(planes) => row.write(isa, Planes(planes.each_mut().map(|plane| &mut plane[pixels.clone()]))),
            Slot::Pixels(out) => {
                let [r, g, b] = values;
                row.write(isa, Values([r, g, b]));
                interleave(isa, [r, g, b], interleaved, &mut out[3 * pixels.start..3 * pixels.end]);
            }
        }
    }
}

/// A row of the picture.
struct Row<'a, const PLANES: usize, const CHANNELS: usize, const LINES: bool> {
    lines: [&'a [i16]; 3],
    sums: [&'a [[i32; BLOCK]]; 3],
    /// Of the first plane and of the others.
    columns: &'a Columns,
    chroma: &'a Columns,
    conversion: &'a Conversion,
    width: usize,
}

impl<const PLANES: usize, const CHANNELS: usize, const LINES: bool> Row<'_, PLANES, CHANNELS, LINES> {
    /// Writes all blocks of the row.
    #[inline(always)]
    fn write<I: Isa>(&self, isa: I, mut out: impl RowOut) {
        let mut tables = (self.columns.blocks(), self.chroma.blocks());
        // Nothing is called in this loop, so that all that does not change stays in registers.
        for block in 0..self.width / BLOCK {
            out.write(isa, self.channels(isa, block, &mut tables));
        }
        if !self.width.is_multiple_of(BLOCK) {
            out.write_rest(isa, self.channels(isa, self.width / BLOCK, &mut tables));
        }
    }

    /// Goes from planes to channels. See [`Conversion`].
    #[inline(always)]
    fn channels<I: Isa>(&self, isa: I, block: usize, tables: &mut (Blocks<'_>, Blocks<'_>)) -> [I::Floats; 3] {
        let Conversion { rows, offset, low, high } = self.conversion;
        let [first, blue, red] = self.lines;
        let mut planes = [isa.splat(0.0); PLANES];
        if LINES {
            [planes[0]] = isa.columns([first], tables.0.next().expect("a block for sixteen columns"));
        } else {
            planes[0] = isa.floats(&self.sums[0][block]);
        }
        if PLANES == 3 && LINES {
            [planes[1], planes[2]] = isa.columns([blue, red], tables.1.next().expect("a block for sixteen columns"));
        } else if PLANES == 3 {
            planes[1] = isa.floats(&self.sums[1][block]);
            planes[2] = isa.floats(&self.sums[2][block]);
        }
        let mut channels = [isa.splat(0.0); 3];
        for (c, channel) in channels.iter_mut().enumerate().take(CHANNELS) {
            let mut level = isa.splat(offset[c]);
            for (plane, &floats) in planes.iter().enumerate() {
                level = isa.scale_and_add(floats, rows[c][plane], level);
            }
            *channel = isa.clamp(level, low[c], high[c]);
        }
        channels
    }
}

/// Rows of a plane, of which so many samples count.
struct Source<'a> {
    /// From the first that counts of the row `first` on.
    samples: &'a [u8],
    pitch: usize,
    first: u32,
    length: usize,
}

impl<'a> Source<'a> {
    fn new(tables: &PlaneTables, frame: &Decoded<'a>, plane: usize) -> Self {
        let (x0, y0) = (frame.origin.0 / tables.step, frame.origin.1 / tables.step);
        let (start, length) = tables.columns.source();
        // A plane that is not needed may have no samples.
        let samples = frame.planes[plane].get((start - x0) as usize..).unwrap_or_default();
        Source { samples, pitch: frame.pitches[plane], first: y0, length }
    }

    #[inline(always)]
    fn row(&self, row: u32) -> &'a [u8] {
        &self.samples[(row - self.first) as usize * self.pitch..][..self.length]
    }

    #[inline(always)]
    fn weighted(&self, (row, weight): Other) -> (&'a [u8], i16) {
        (self.row(row), weight)
    }
}

/// Makes the line that a row of the picture is made of.
#[inline(always)]
fn blend<I: Isa>(isa: I, (base, others): (u32, &[Other]), source: &Source<'_>, line: &mut [i16]) {
    let base = source.row(base);
    match *others {
        [] => isa.blend(line, base, [], true),
        [a] => isa.blend(line, base, [source.weighted(a)], true),
        [a, b] => isa.blend(line, base, [source.weighted(a), source.weighted(b)], true),
        [a, b, ref others @ ..] => {
            isa.blend(line, base, [source.weighted(a), source.weighted(b)], true);
            for &other in others {
                isa.blend(line, base, [source.weighted(other)], false);
            }
        }
    }
}

/// Where the channels of a row go.
trait RowOut {
    /// Writes the next block.
    fn write<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]);

    /// Writes what there is room for of the last block.
    fn write_rest<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]);
}

/// What is left of a row of the slot, channel by channel.
struct Planes<'a, S, const CHANNELS: usize>([&'a mut [S]; CHANNELS]);

impl<S: Sample, const CHANNELS: usize> RowOut for Planes<'_, S, CHANNELS> {
    #[inline(always)]
    fn write<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]) {
        for (out, values) in self.0.iter_mut().zip(channels) {
            let Some((block, rest)) = std::mem::take(out).split_first_chunk_mut() else { return };
            S::write(isa, values, block);
            *out = rest;
        }
    }

    #[inline(always)]
    fn write_rest<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]) {
        for (out, values) in self.0.iter_mut().zip(channels) {
            let mut block = [S::default(); BLOCK];
            S::store(isa, values, &mut block);
            out.copy_from_slice(&block[..out.len()]);
        }
    }
}

/// What is left of a row of scratch space, which has whole blocks.
struct Values<'a>([&'a mut [f32]; 3]);

impl RowOut for Values<'_> {
    #[inline(always)]
    fn write<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]) {
        for (out, values) in self.0.iter_mut().zip(channels) {
            let Some((block, rest)) = std::mem::take(out).split_first_chunk_mut() else { return };
            isa.store(values, block);
            *out = rest;
        }
    }

    #[inline(always)]
    fn write_rest<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]) {
        self.write(isa, channels);
    }
}

/// Writes a row with the channels of a pixel side by side. `pixels` is scratch space.
#[inline(always)]
fn interleave<I: Isa, S: Sample>(isa: I, [r, g, b]: [&[f32]; 3], pixels: &mut [f32], out: &mut [S]) {
    for (x, pixel) in pixels.as_chunks_mut().0.iter_mut().enumerate() {
        *pixel = [r[x], g[x], b[x]];
    }
    let (blocks, rest) = out.as_chunks_mut();
    let (values, value_rest) = pixels.as_chunks().0.split_at(blocks.len());
    for (values, block) in values.iter().zip(blocks) {
        S::write(isa, isa.load(values), block);
    }
    if let Some(values) = value_rest.first() {
        let mut block = [S::default(); BLOCK];
        S::store(isa, isa.load(values), &mut block);
        rest.copy_from_slice(&block[..rest.len()]);
    }
}

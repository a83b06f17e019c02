//! The pass over a frame: for each row of the picture it blends rows of the planes. [`picture_row`](super::picture_row)
//! does the rest.

use super::super::aligned::Aligned;
use super::conversion::Conversion;
use super::decoded::Decoded;
use super::exact::ChromaLines;
use super::isa::{Isa, IsaWork, Machine};
use super::picture_row::{PictureRow, PixelOut, PlaneOut};
use super::picture_slot::PictureSlot;
use super::row_table::Other;
use super::sample::SampleType;
use super::tables::{PlaneTables, Tables};
use super::units::BLOCK;

/// Buffers of one row, kept from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// A row of each plane, for this row of the picture and for the next.
    lines: [[Aligned<i16>; 3]; 2],
    exact: ChromaLines,
    /// A row of the picture, for each plane, where it is not made straight from the lines.
    sums: [Aligned<i32>; 3],
}

/// Writes the picture that `tables` makes of `frame` to `slot`.
pub(super) fn run<S: SampleType>(
    machine: Machine,
    tables: &Tables,
    frame: &Decoded<'_>,
    scratch: &mut Scratch,
    slot: PictureSlot<'_, S>,
) {
    scratch.fit(tables);
    let conversion = if S::NORMALIZED { &tables.normalized } else { &tables.levels };
    machine.run(FramePass { tables, frame, scratch, slot, conversion });
}

impl Scratch {
    fn fit(&mut self, tables: &Tables) {
        for (plane, line) in self.lines.iter_mut().flat_map(|lines| lines.iter_mut().enumerate()) {
            line.resize(tables.of_plane(plane).columns.line_len());
        }
        let width = (tables.size.0 as usize).next_multiple_of(BLOCK);
        self.sums.iter_mut().for_each(|sums| sums.resize(width));
    }
}

struct FramePass<'a, S> {
    tables: &'a Tables,
    frame: &'a Decoded<'a>,
    scratch: &'a mut Scratch,
    slot: PictureSlot<'a, S>,
    conversion: &'a Conversion,
}

impl<S: SampleType> IsaWork for FramePass<'_, S> {
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        match (self.tables.planes, self.tables.channels) {
            (1, 1) => self.rows::<I, 1, 1>(isa),
            (1, _) => self.rows::<I, 1, 3>(isa),
            (_, 1) => self.rows::<I, 3, 1>(isa),
            _ => self.rows::<I, 3, 3>(isa),
        }
        isa.finish();
    }
}

impl<S: SampleType> FramePass<'_, S> {
    #[inline(always)]
    fn rows<I: Isa, const PLANES: usize, const CHANNELS: usize>(&mut self, isa: I) {
        let tables = self.tables;
        let sources = [0, 1, 2].map(|plane| PlaneRows::new(tables.of_plane(plane), self.frame, plane));
        let at_once = (0..PLANES).all(|plane| isa.has_loops_for(tables.of_plane(plane).columns.windows()));
        let height = tables.size.1 as usize;
        if tables.exact.is_none() {
            self.blend::<I, PLANES>(isa, &sources, 0);
        }
        for y in 0..height {
            if let Some(exact) = &tables.exact {
                exact.row(self.frame, y as u32, &mut self.scratch.exact, &mut self.scratch.sums);
                self.row::<I, PLANES, CHANNELS, false>(isa, y);
                continue;
            }
            // One row ahead, so that a line is read long after it was written, and not from the store buffer, where the
            // batch's stores come before it.
            if y + 1 < height {
                self.blend::<I, PLANES>(isa, &sources, y + 1);
            }
            if at_once {
                self.row::<I, PLANES, CHANNELS, true>(isa, y);
                continue;
            }
            let Scratch { lines, sums, .. } = &mut *self.scratch;
            for plane in 0..PLANES {
                isa.sums(&lines[y % 2][plane], &tables.of_plane(plane).columns, sums[plane].as_chunks_mut().0);
            }
            self.row::<I, PLANES, CHANNELS, false>(isa, y);
        }
    }

    /// Makes the lines for row `y` of the picture.
    #[inline(always)]
    fn blend<I: Isa, const PLANES: usize>(&mut self, isa: I, sources: &[PlaneRows<'_>; 3], y: usize) {
        for (plane, source) in sources.iter().enumerate().take(PLANES) {
            blend(isa, self.tables.of_plane(plane).rows.row(y), source, &mut self.scratch.lines[y % 2][plane]);
        }
    }

    /// Makes and writes row `y` of the picture, from lines or from sums.
    #[inline(always)]
    fn row<I: Isa, const PLANES: usize, const CHANNELS: usize, const LINES: bool>(&mut self, isa: I, y: usize) {
        let width = self.tables.size.0 as usize;
        let pixels = y * width..(y + 1) * width;
        let Scratch { lines, sums, .. } = &mut *self.scratch;
        let lines = &lines[y % 2];
        let row = PictureRow::<PLANES, CHANNELS, LINES> {
            lines: [&lines[0], &lines[1], &lines[2]],
            sums: [sums[0].as_chunks().0, sums[1].as_chunks().0, sums[2].as_chunks().0],
            columns: &self.tables.of_plane(0).columns,
            chroma: &self.tables.of_plane(1).columns,
            conversion: self.conversion,
            width,
        };
        match &mut self.slot {
            PictureSlot::Gray(plane) => row.write(isa, PlaneOut::new([&mut plane[pixels]])),
            PictureSlot::Planes(planes) => {
                row.write(isa, PlaneOut::new(planes.each_mut().map(|plane| &mut plane[pixels.clone()])))
            }
            PictureSlot::Pixels(out) => {
                row.write(isa, PixelOut::new(&mut out[3 * pixels.start..3 * pixels.end]));
            }
        }
    }
}

/// The rows of a plane, and how many samples of each count.
struct PlaneRows<'a> {
    /// From the first sample that counts in row `first` on.
    samples: &'a [u8],
    pitch: usize,
    first: u32,
    length: usize,
}

impl<'a> PlaneRows<'a> {
    fn new(tables: &PlaneTables, frame: &Decoded<'a>, plane: usize) -> Self {
        let (x0, y0) = (frame.origin.0 / tables.step, frame.origin.1 / tables.step);
        let (start, length) = tables.columns.source();
        // A plane that is not needed may have no samples.
        let samples = frame.planes[plane].get((start - x0) as usize..).unwrap_or_default();
        PlaneRows { samples, pitch: frame.pitches[plane], first: y0, length }
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

/// Makes the line for a row of the picture.
#[inline(always)]
fn blend<I: Isa>(isa: I, (base, others): (u32, &[Other]), source: &PlaneRows<'_>, line: &mut [i16]) {
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

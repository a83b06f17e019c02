//! The pass over a frame: for each row of the picture it blends rows of the planes. [`picture_row`](super::picture_row)
//! does the rest.
//!
//! All of it is compiled once for each kind of machine, sample and slot. Decisions that depend on the frame are
//! made outside the loop over rows. Impossible cases are not compiled: a slot with one channel has no colors.

use super::super::aligned::Aligned;
use super::colors::{Conversion, Kind};
use super::isa::{Isa, IsaWork, Machine};
use super::picture_buffer::{PictureBuffer, SampleType};
use super::picture_row::{GrayOut, PictureRow, PixelOut, PlaneOut, RowOut};
use super::plane_tables::{Other, PlaneTables};
use super::spec::{BLOCK, UNIT};
use super::tables::Kernel;
use vidrec_jpeg::{ChromaLines, DecodedPart};

/// Buffers of one row, kept from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// A row of each plane, for this row of the picture and the next.
    lines: [[Aligned<i16>; 3]; 2],
    exact: ChromaLines,
    /// A row of the picture for each plane, if the row is not made directly from the lines.
    sums: [Aligned<i32>; 3],
}

/// Writes the picture of `frame` to `slot`.
pub(crate) fn run<S: SampleType>(
    kernel: &Kernel,
    frame: &DecodedPart<'_>,
    scratch: &mut Scratch,
    slot: PictureBuffer<'_, S>,
) {
    run_on(Machine::best(), kernel, frame, scratch, slot);
}

/// Does the same on a kind of machine.
pub(super) fn run_on<S: SampleType>(
    machine: Machine,
    tables: &Kernel,
    frame: &DecodedPart<'_>,
    scratch: &mut Scratch,
    slot: PictureBuffer<'_, S>,
) {
    debug_assert_eq!(matches!(slot, PictureBuffer::Gray(_)), tables.channels == 1);
    scratch.fit(tables);
    let conversion = if S::NORMALIZED { &tables.normalized } else { &tables.levels };
    macro_rules! pass {
        ($planes:literal, $kind:ident, $slot:expr) => {{
            const KIND: usize = Kind::$kind as usize;
            machine.run(FramePass::<_, $planes, KIND> { tables, frame, scratch, conversion, slot: $slot })
        }};
    }
    match (slot, tables.planes, conversion.kind()) {
        (PictureBuffer::Gray(plane), 1, _) => pass!(1, Full, GrayOut(plane)),
        (PictureBuffer::Gray(plane), ..) => pass!(3, Full, GrayOut(plane)),
        (PictureBuffer::Planes(planes), 1, _) => pass!(1, Full, PlaneOut(planes)),
        (PictureBuffer::Planes(planes), _, Kind::Plain) => pass!(3, Plain, PlaneOut(planes)),
        (PictureBuffer::Planes(planes), _, Kind::Levels) => pass!(3, Levels, PlaneOut(planes)),
        (PictureBuffer::Planes(planes), _, Kind::Full) => pass!(3, Full, PlaneOut(planes)),
        (PictureBuffer::Pixels(pixels), 1, _) => pass!(1, Full, PixelOut(pixels)),
        (PictureBuffer::Pixels(pixels), _, Kind::Plain) => pass!(3, Plain, PixelOut(pixels)),
        (PictureBuffer::Pixels(pixels), _, Kind::Levels) => pass!(3, Levels, PixelOut(pixels)),
        (PictureBuffer::Pixels(pixels), _, Kind::Full) => pass!(3, Full, PixelOut(pixels)),
    }
}

impl Scratch {
    fn fit(&mut self, tables: &Kernel) {
        for (plane, line) in self.lines.iter_mut().flat_map(|lines| lines.iter_mut().enumerate()) {
            line.resize(tables.of_plane(plane).columns.line_len());
        }
        let width = (tables.size.0 as usize).next_multiple_of(BLOCK);
        self.sums.iter_mut().for_each(|sums| sums.resize(width));
    }
}

/// All rows of the picture, for one kind of planes, conversion and slot. `KIND` is a [`Kind`]. A function of its own on each
/// kind of machine: one with all kinds in it takes the compiler much longer.
struct FramePass<'a, O, const PLANES: usize, const KIND: usize> {
    tables: &'a Kernel,
    frame: &'a DecodedPart<'a>,
    scratch: &'a mut Scratch,
    conversion: &'a Conversion,
    slot: O,
}

impl<O: RowOut, const PLANES: usize, const KIND: usize> IsaWork for FramePass<'_, O, PLANES, KIND> {
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let tables = self.tables;
        let sources = [0, 1, 2].map(|plane| SourceRows::new(tables.of_plane(plane), self.frame, plane));
        let at_once = tables.exact.is_none()
            && (0..PLANES).all(|plane| isa.has_loops_for(tables.of_plane(plane).columns.windows()));
        let height = tables.size.1 as usize;
        // Lines are made one row ahead, so that each line is read long after it was written. It is then no longer
        // in the store buffer, where the batch's stores come before it.
        for ahead in 0..=height {
            if ahead < height && tables.exact.is_none() {
                self.blend(isa, &sources, ahead);
            }
            let Some(y) = ahead.checked_sub(1) else { continue };
            if at_once {
                self.row::<I, true>(isa, y);
            } else {
                self.sums(isa, y);
                self.row::<I, false>(isa, y);
            }
        }
        isa.finish();
    }
}

impl<O: RowOut, const PLANES: usize, const KIND: usize> FramePass<'_, O, PLANES, KIND> {
    /// Makes the lines for row `y` of the picture.
    #[inline(always)]
    fn blend<I: Isa>(&mut self, isa: I, sources: &[SourceRows<'_>; 3], y: usize) {
        for (plane, source) in sources.iter().enumerate().take(PLANES) {
            blend(isa, self.tables.of_plane(plane).rows.row(y), source, &mut self.scratch.lines[y % 2][plane]);
        }
    }

    /// Makes the columns of row `y` of the picture, if they are a step of their own.
    #[inline(always)]
    fn sums<I: Isa>(&mut self, isa: I, y: usize) {
        let Scratch { lines, sums, exact } = &mut *self.scratch;
        if let Some(tables) = &self.tables.exact {
            let width = self.tables.size.0 as usize;
            let mut to = sums.each_mut().map(|sums| &mut sums[..width]);
            tables.row(self.frame, y as u32, UNIT as i32, exact, to.each_mut().map(|to| &mut **to));
            if self.tables.view.flip {
                to.into_iter().for_each(<[i32]>::reverse);
            }
            return;
        }
        for plane in 0..PLANES {
            isa.sums(&lines[y % 2][plane], &self.tables.of_plane(plane).columns, sums[plane].as_chunks_mut().0);
        }
    }

    /// Makes and writes row `y` of the picture, from lines or from sums.
    #[inline(always)]
    fn row<I: Isa, const LINES: bool>(&mut self, isa: I, y: usize) {
        let out = self.slot.split_off(self.tables.size.0 as usize);
        let (lines, sums) = (&self.scratch.lines[y % 2], &self.scratch.sums);
        let row = PictureRow::<PLANES, KIND, LINES> {
            lines: [&lines[0], &lines[1], &lines[2]],
            sums: [sums[0].as_chunks().0, sums[1].as_chunks().0, sums[2].as_chunks().0],
            columns: &self.tables.of_plane(0).columns,
            chroma: &self.tables.of_plane(1).columns,
            conversion: self.conversion,
        };
        row.write(isa, out);
    }
}

/// The rows of a plane, and the number of samples of each that count.
struct SourceRows<'a> {
    /// The samples from the first one that counts in row `first` on.
    samples: &'a [u8],
    pitch: usize,
    first: u32,
    length: usize,
}

impl<'a> SourceRows<'a> {
    fn new(tables: &PlaneTables, frame: &DecodedPart<'a>, plane: usize) -> Self {
        let (x0, y0) = (frame.origin.0 / tables.step, frame.origin.1 / tables.step);
        let (start, length) = tables.columns.source();
        // A plane that is not needed may have no samples.
        let samples = frame.planes[plane].get((start - x0) as usize..).unwrap_or_default();
        SourceRows { samples, pitch: frame.pitches[plane], first: y0, length }
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
fn blend<I: Isa>(isa: I, (base, others): (u32, &[Other]), source: &SourceRows<'_>, line: &mut [i16]) {
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

//! The pass over a frame: for each row of the picture it blends rows of the planes, and then makes the row block by block.
//! Columns, colors and samples stay in registers in between.
//!
//! A function that is called for each block is inlined into a function that is compiled for each kind of machine,
//! so it is compiled for that machine too. A closure would not be, so there are none.
//!
//! All of it is compiled once for each kind of machine, sample and slot. Decisions that depend on the frame are
//! made outside the loop over rows. Impossible cases are not compiled: a slot with one channel has no colors.

use super::super::aligned::Aligned;
use super::colors::{Conversion, Kind};
use super::isa::{Isa, IsaWork, LineBlock, Lines, Machine};
use super::picture_buffer::{PictureBuffer, SampleType};
use super::picture_row::{Constants, PixelOut, PlaneOut, RowOut};
use super::plane_tables::{Other, PlaneTables, Windows};
use super::spec::{BLOCK, UNIT};
use super::tables::Kernel;
use vidrec_jpeg::{ChromaLines, DecodedPart, RgbRows};

/// The kinds of conversions by their numbers, for parameters that have to be numbers.
const KINDS: [Kind; 3] = [Kind::Full, Kind::Plain, Kind::Levels];

/// Buffers of one row, kept from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// A row of each plane, for this row of the picture and the next.
    lines: [[Aligned<i16>; 3]; 2],
    /// Chroma, and a row of levels, of a picture that is not resized.
    chroma: ChromaLines,
    levels: [Aligned<u8>; 3],
    /// A row of the picture for each plane, if the row is not made directly from the lines.
    sums: [Aligned<i32>; 3],
}

/// Writes the picture of `frame` to `slot`, with the loops for a kind of machine.
pub(crate) fn run<S: SampleType>(
    machine: Machine,
    tables: &Kernel,
    frame: &DecodedPart<'_>,
    scratch: &mut Scratch,
    slot: PictureBuffer<'_, S>,
) {
    scratch.fit(tables);
    let slot = match (slot, &tables.exact) {
        (PictureBuffer::Planes(planes), Some(exact)) if !S::NORMALIZED && tables.levels.is_identity(UNIT) => {
            let (width, flip, chroma) = (tables.size.0 as usize, tables.view.flip, &mut scratch.chroma);
            let planes = planes.map(bytemuck::cast_slice_mut);
            return machine.run(LevelPass { exact, frame, chroma, width, flip, planes });
        }
        (slot, _) => slot,
    };
    let conversion = if S::NORMALIZED { &tables.normalized } else { &tables.levels };
    macro_rules! pass {
        ($planes:literal, $kind:ident, $slot:expr) => {{
            const KIND: usize = Kind::$kind as usize;
            machine.run(FramePass::<_, $planes, KIND> { tables, frame, scratch, conversion, slot: $slot })
        }};
    }
    match (slot, tables.planes, conversion.kind()) {
        (PictureBuffer::Pixels(gray), 1, _) if tables.channels == 1 => pass!(1, Full, PixelOut::<_, 1>(gray)),
        (PictureBuffer::Pixels(gray), ..) if tables.channels == 1 => pass!(3, Full, PixelOut::<_, 1>(gray)),
        (PictureBuffer::Planes(planes), 1, _) => pass!(1, Full, PlaneOut(planes)),
        (PictureBuffer::Planes(planes), _, Kind::Plain) => pass!(3, Plain, PlaneOut(planes)),
        (PictureBuffer::Planes(planes), _, Kind::Levels) => pass!(3, Levels, PlaneOut(planes)),
        (PictureBuffer::Planes(planes), _, Kind::Full) => pass!(3, Full, PlaneOut(planes)),
        (PictureBuffer::Pixels(pixels), 1, _) => pass!(1, Full, PixelOut::<_, 3>(pixels)),
        (PictureBuffer::Pixels(pixels), _, Kind::Plain) => pass!(3, Plain, PixelOut::<_, 3>(pixels)),
        (PictureBuffer::Pixels(pixels), _, Kind::Levels) => pass!(3, Levels, PixelOut::<_, 3>(pixels)),
        (PictureBuffer::Pixels(pixels), _, Kind::Full) => pass!(3, Full, PixelOut::<_, 3>(pixels)),
    }
}

impl Scratch {
    fn fit(&mut self, tables: &Kernel) {
        for (plane, line) in self.lines.iter_mut().flat_map(|lines| lines.iter_mut().enumerate()) {
            line.resize(tables.of_plane(plane).columns.line_len());
        }
        let width = tables.size.0 as usize;
        self.sums.iter_mut().for_each(|sums| sums.resize(width.next_multiple_of(BLOCK)));
        self.levels.iter_mut().for_each(|levels| levels.resize(width));
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
        let is_narrow = |plane| tables.of_plane(plane).columns.windows == Windows::Narrow;
        let at_once = I::HAS_COLUMNS && tables.exact.is_none() && (0..PLANES).all(is_narrow);
        let height = tables.size.1 as usize;
        // Lines are made one row ahead, so that each line is read long after it was written. It is then no longer
        // in the store buffer, where the batch's stores come before it.
        for ahead in 0..=height {
            if ahead < height && tables.exact.is_none() {
                for (plane, source) in sources.iter().enumerate().take(PLANES) {
                    let line = &mut self.scratch.lines[ahead % 2][plane];
                    blend(isa, tables.of_plane(plane).rows.row(ahead), source, line);
                }
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
    /// Makes the columns of row `y` of the picture, if they are a step of their own.
    #[inline(always)]
    fn sums<I: Isa>(&mut self, isa: I, y: usize) {
        let Scratch { lines, chroma, levels, sums } = &mut *self.scratch;
        if let Some(exact) = &self.tables.exact {
            exact.row(self.frame, y as u32, chroma, levels.each_mut().map(|levels| &mut levels[..]));
            for (sums, levels) in sums.iter_mut().zip(levels) {
                if self.tables.view.flip {
                    levels.reverse();
                }
                for (sum, &level) in sums.iter_mut().zip(&levels[..]) {
                    *sum = i32::from(level) * UNIT as i32;
                }
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
        let (places, rest) = self.slot.split_off(self.tables.size.0 as usize).places();
        let constants = Constants::new(isa, self.conversion);
        let Scratch { lines, sums, .. } = &*self.scratch;
        // These loops call no function, so that all constants stay in registers. Zipped iterators have one counter
        // and no checks.
        if LINES {
            let [first, blue, red] = lines[y % 2].each_ref().map(|line| &line[..]);
            let [luma, chroma] = [0, 1].map(|plane| &self.tables.of_plane(plane).columns);
            let (luma, chroma) = (Lines::new([first], luma), Lines::new([blue, red], chroma));
            assert!(places.len() <= luma.blocks().len().min(chroma.blocks().len()), "columns without a block");
            for (place, (luma, chroma)) in places.zip(luma.blocks().zip(chroma.blocks())) {
                let planes = Self::from_lines(isa, luma, chroma, &constants);
                O::write(isa, Self::channels(isa, planes, &constants), place);
            }
            if let (Some(rest), Some((luma, chroma))) = (rest, luma.blocks().zip(chroma.blocks()).next_back()) {
                let planes = Self::from_lines(isa, luma, chroma, &constants);
                O::write_rest(isa, Self::channels(isa, planes, &constants), rest);
            }
        } else {
            let sums: [&[[i32; BLOCK]]; 3] = sums.each_ref().map(|sums| sums.as_chunks().0);
            assert!(sums.iter().all(|sums| places.len() <= sums.len()), "columns without sums");
            let [first, second, third] = sums;
            for (place, sums) in places.zip(first.iter().zip(second).zip(third)) {
                let planes = Self::from_sums(isa, sums, &constants);
                O::write(isa, Self::channels(isa, planes, &constants), place);
            }
            if let (Some(rest), Some(sums)) = (rest, first.iter().zip(second).zip(third).next_back()) {
                let planes = Self::from_sums(isa, sums, &constants);
                O::write_rest(isa, Self::channels(isa, planes, &constants), rest);
            }
        }
    }

    /// Makes a block of each plane from lines.
    #[inline(always)]
    fn from_lines<I: Isa>(
        isa: I,
        luma: LineBlock<'_, 1>,
        chroma: LineBlock<'_, 2>,
        constants: &Constants<I>,
    ) -> [I::Floats; PLANES] {
        let mut planes = [isa.splat(constants.offset[0]); PLANES];
        [planes[0]] = isa.columns(luma);
        if PLANES == 3 {
            [planes[1], planes[2]] = isa.columns(chroma);
        }
        planes
    }

    /// Makes a block of each plane from sums.
    #[inline(always)]
    fn from_sums<I: Isa>(isa: I, ((a, b), c): Sums<'_>, constants: &Constants<I>) -> [I::Floats; PLANES] {
        let mut planes = [isa.splat(constants.offset[0]); PLANES];
        for (plane, sums) in planes.iter_mut().zip([a, b, c]) {
            *plane = isa.floats(sums);
        }
        planes
    }

    /// Converts planes to channels. See [`Conversion`].
    #[inline(always)]
    fn channels<I: Isa>(isa: I, planes: [I::Floats; PLANES], constants: &Constants<I>) -> [I::Floats; 3] {
        let mut channels = [isa.splat(constants.offset[0]); 3];
        for (c, channel) in channels.iter_mut().enumerate().take(O::CHANNELS) {
            let mut level = isa.splat(constants.offset[c]);
            for (plane, &floats) in planes.iter().enumerate() {
                if !KINDS[KIND].zeros().contains(&(c, plane)) {
                    level = isa.scale_and_add(floats, constants.rows[c][plane], level);
                }
            }
            *channel = if O::SATURATES { level } else { isa.clamp(level, constants.low[c], constants.high[c]) };
        }
        channels
    }
}

/// All rows of a picture that is not resized and whose colors do not change: its levels are those of libjpeg.
struct LevelPass<'a> {
    exact: &'a RgbRows,
    frame: &'a DecodedPart<'a>,
    chroma: &'a mut ChromaLines,
    width: usize,
    flip: bool,
    planes: [&'a mut [u8]; 3],
}

impl IsaWork for LevelPass<'_> {
    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        let [r, g, b] = self.planes.map(|plane| plane.chunks_exact_mut(self.width));
        for (y, ((r, g), b)) in (0..).zip(r.zip(g).zip(b)) {
            self.exact.row(self.frame, y, self.chroma, [&mut *r, &mut *g, &mut *b]);
            if self.flip {
                [r, g, b].into_iter().for_each(<[u8]>::reverse);
            }
        }
    }
}

/// The sums of a block of each plane.
type Sums<'a> = ((&'a [i32; BLOCK], &'a [i32; BLOCK]), &'a [i32; BLOCK]);

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

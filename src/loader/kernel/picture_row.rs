//! A row of the picture, block by block: columns, colors and samples, which stay in registers in between.
//!
//! Functions called for each block are inlined into a function that is compiled for each kind of machine, and so are
//! compiled for it too. Closures would not be, so there are none.

use std::ops::Range;
use std::slice::IterMut;

use super::column_table::{ColumnBlocks, ColumnTable};
use super::conversion::Conversion;
use super::isa::Isa;
use super::sample::SampleType;
use super::units::BLOCK;

/// A row of the picture. `PLAIN`: as [`Conversion::is_plain`] says.
pub(super) struct PictureRow<'a, const PLANES: usize, const PLAIN: bool, const LINES: bool> {
    pub lines: [&'a [i16]; 3],
    pub sums: [&'a [[i32; BLOCK]]; 3],
    /// Of the first plane and of the others.
    pub columns: &'a ColumnTable,
    pub chroma: &'a ColumnTable,
    pub conversion: &'a Conversion,
    pub width: usize,
}

impl<const PLANES: usize, const PLAIN: bool, const LINES: bool> PictureRow<'_, PLANES, PLAIN, LINES> {
    /// Writes all blocks of the row.
    #[inline(always)]
    pub fn write<I: Isa, O: RowOut>(&self, isa: I, mut out: O) {
        let constants = Constants::new(isa, self.conversion);
        let mut tables = (self.columns.blocks(), self.chroma.blocks());
        // No function is called in this loop, so that everything that does not change stays in registers.
        for block in 0..self.width / BLOCK {
            out.write(isa, self.channels::<I, O>(isa, block, &mut tables, &constants));
        }
        if !self.width.is_multiple_of(BLOCK) {
            out.write_rest(isa, self.channels::<I, O>(isa, self.width / BLOCK, &mut tables, &constants));
        }
    }

    /// Goes from planes to channels. See [`Conversion`].
    #[inline(always)]
    fn channels<I: Isa, O: RowOut>(
        &self,
        isa: I,
        block: usize,
        tables: &mut (ColumnBlocks<'_>, ColumnBlocks<'_>),
        constants: &Constants<I>,
    ) -> [I::Floats; 3] {
        let [first, blue, red] = self.lines;
        let mut planes = [isa.splat(constants.offset[0]); PLANES];
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
        let mut channels = [isa.splat(constants.offset[0]); 3];
        for (c, channel) in channels.iter_mut().enumerate().take(O::CHANNELS) {
            let mut level = isa.splat(constants.offset[c]);
            for (plane, &floats) in planes.iter().enumerate() {
                if !(PLAIN && Conversion::PLAIN_ZEROS.contains(&(c, plane))) {
                    level = isa.scale_and_add(floats, constants.rows[c][plane], level);
                }
            }
            *channel = if O::SATURATES { level } else { isa.clamp(level, constants.low[c], constants.high[c]) };
        }
        channels
    }
}

/// A [`Conversion`] for the loop over a row.
struct Constants<I: Isa> {
    rows: [[I::Constant; 3]; 3],
    offset: [I::Constant; 3],
    low: [I::Constant; 3],
    high: [I::Constant; 3],
}

impl<I: Isa> Constants<I> {
    #[inline(always)]
    fn new(isa: I, Conversion { rows, offset, low, high }: &Conversion) -> Self {
        let three = |[a, b, c]: [f32; 3]| [isa.constant(a), isa.constant(b), isa.constant(c)];
        let rows = [three(rows[0]), three(rows[1]), three(rows[2])];
        Constants { rows, offset: three(*offset), low: three(*low), high: three(*high) }
    }
}

/// A slot, of which one row after the other is written.
pub(super) trait SlotRows {
    /// The pixels of a row, counted from the first one of the slot.
    fn row(&mut self, pixels: Range<usize>) -> impl RowOut;
}

/// One channel, row by row.
pub(super) struct GrayRows<'a, S>(pub &'a mut [S]);

/// A plane for each of three channels.
pub(super) struct PlaneRows<'a, S>(pub [&'a mut [S]; 3]);

/// Three channels of a pixel side by side.
pub(super) struct PixelRows<'a, S>(pub &'a mut [S]);

impl<S: SampleType> SlotRows for GrayRows<'_, S> {
    #[inline(always)]
    fn row(&mut self, pixels: Range<usize>) -> impl RowOut {
        PlaneOut::new([&mut self.0[pixels]])
    }
}

impl<S: SampleType> SlotRows for PlaneRows<'_, S> {
    #[inline(always)]
    fn row(&mut self, pixels: Range<usize>) -> impl RowOut {
        let [first, second, third] = &mut self.0;
        PlaneOut::new([&mut first[pixels.clone()], &mut second[pixels.clone()], &mut third[pixels]])
    }
}

impl<S: SampleType> SlotRows for PixelRows<'_, S> {
    #[inline(always)]
    fn row(&mut self, pixels: Range<usize>) -> impl RowOut {
        PixelOut::new(&mut self.0[3 * pixels.start..3 * pixels.end])
    }
}

/// Where the channels of a row go.
pub(super) trait RowOut {
    /// 1 or 3.
    const CHANNELS: usize;

    /// Whether values may be beyond the ends of their range, because what writes them brings them back.
    const SATURATES: bool;

    /// Writes the next block.
    fn write<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]);

    /// Writes as much of the last block as there is room for.
    fn write_rest<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]);
}

/// A row of the slot, channel by channel: blocks, and what is left after them.
struct PlaneOut<'a, S, const CHANNELS: usize>([(IterMut<'a, [S; BLOCK]>, &'a mut [S]); CHANNELS]);

impl<'a, S, const CHANNELS: usize> PlaneOut<'a, S, CHANNELS> {
    #[inline(always)]
    fn new(rows: [&'a mut [S]; CHANNELS]) -> Self {
        PlaneOut(rows.map(|row| {
            let (blocks, rest) = row.as_chunks_mut();
            (blocks.iter_mut(), rest)
        }))
    }
}

impl<S: SampleType, const CHANNELS: usize> RowOut for PlaneOut<'_, S, CHANNELS> {
    const CHANNELS: usize = CHANNELS;
    const SATURATES: bool = S::SATURATES;

    #[inline(always)]
    fn write<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]) {
        for ((blocks, _), values) in self.0.iter_mut().zip(channels) {
            let Some(block) = blocks.next() else { return };
            S::write(isa, values, block);
        }
    }

    #[inline(always)]
    fn write_rest<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]) {
        for ((_, rest), values) in self.0.iter_mut().zip(channels) {
            let mut block = [S::default(); BLOCK];
            S::store(isa, values, &mut block);
            rest.copy_from_slice(&block[..rest.len()]);
        }
    }
}

/// A row of the slot, with the channels of a pixel side by side: blocks of pixels, and what is left after them.
struct PixelOut<'a, S>(IterMut<'a, [[S; BLOCK]; 3]>, &'a mut [S]);

impl<'a, S> PixelOut<'a, S> {
    #[inline(always)]
    fn new(row: &'a mut [S]) -> Self {
        let (blocks, rest) = row.split_at_mut(row.len() / (3 * BLOCK) * (3 * BLOCK));
        PixelOut(blocks.as_chunks_mut().0.as_chunks_mut().0.iter_mut(), rest)
    }
}

impl<S: SampleType> RowOut for PixelOut<'_, S> {
    const CHANNELS: usize = 3;
    const SATURATES: bool = S::SATURATES;

    #[inline(always)]
    fn write<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]) {
        let Some(block) = self.0.next() else { return };
        for (out, values) in block.iter_mut().zip(isa.interleave(channels)) {
            S::write(isa, values, out);
        }
    }

    #[inline(always)]
    fn write_rest<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]) {
        let mut pixels = [[S::default(); BLOCK]; 3];
        for (out, values) in pixels.iter_mut().zip(isa.interleave(channels)) {
            S::store(isa, values, out);
        }
        self.1.copy_from_slice(&pixels.as_flattened()[..self.1.len()]);
    }
}

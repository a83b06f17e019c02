//! A row of the picture, block by block: columns, colors and samples, which stay in registers in between.
//!
//! Functions called for each block are inlined into a function that is compiled for each kind of machine, and so are
//! compiled for it too. Closures would not be, so there are none.

use super::column_table::{ColumnBlocks, ColumnTable};
use super::conversion::Conversion;
use super::isa::Isa;
use super::sample::SampleType;
use super::units::BLOCK;

/// A row of the picture.
pub(super) struct PictureRow<'a, const PLANES: usize, const CHANNELS: usize, const LINES: bool> {
    pub lines: [&'a [i16]; 3],
    pub sums: [&'a [[i32; BLOCK]]; 3],
    /// Of the first plane and of the others.
    pub columns: &'a ColumnTable,
    pub chroma: &'a ColumnTable,
    pub conversion: &'a Conversion,
    pub width: usize,
}

impl<const PLANES: usize, const CHANNELS: usize, const LINES: bool> PictureRow<'_, PLANES, CHANNELS, LINES> {
    /// Writes all blocks of the row.
    #[inline(always)]
    pub fn write<I: Isa>(&self, isa: I, mut out: impl RowOut) {
        let mut tables = (self.columns.blocks(), self.chroma.blocks());
        // No function is called in this loop, so that everything that does not change stays in registers.
        for block in 0..self.width / BLOCK {
            out.write(isa, self.channels(isa, block, &mut tables));
        }
        if !self.width.is_multiple_of(BLOCK) {
            out.write_rest(isa, self.channels(isa, self.width / BLOCK, &mut tables));
        }
    }

    /// Goes from planes to channels. See [`Conversion`].
    #[inline(always)]
    fn channels<I: Isa>(
        &self,
        isa: I,
        block: usize,
        tables: &mut (ColumnBlocks<'_>, ColumnBlocks<'_>),
    ) -> [I::Floats; 3] {
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

/// Where the channels of a row go.
pub(super) trait RowOut {
    /// Writes the next block.
    fn write<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]);

    /// Writes as much of the last block as there is room for.
    fn write_rest<I: Isa>(&mut self, isa: I, channels: [I::Floats; 3]);
}

/// What is left of a row of the slot, channel by channel.
pub(super) struct PlaneOut<'a, S, const CHANNELS: usize>(pub [&'a mut [S]; CHANNELS]);

impl<S: SampleType, const CHANNELS: usize> RowOut for PlaneOut<'_, S, CHANNELS> {
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
pub(super) struct ScratchOut<'a>(pub [&'a mut [f32]; 3]);

impl RowOut for ScratchOut<'_> {
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
pub(super) fn interleave<I: Isa, S: SampleType>(isa: I, [r, g, b]: [&[f32]; 3], pixels: &mut [f32], out: &mut [S]) {
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

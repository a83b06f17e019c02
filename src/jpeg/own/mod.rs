//! A decoder for tiled JPEGs: from the bytes of the wanted tiles straight to planes, the same as libjpeg-turbo's.
//!
//! It knows one kind of JPEG only, the one that the packer writes (see [`tiles`](super::tiles)), and of that only what an
//! encoder writes. Whatever else the bytes say, it declines, and libjpeg-turbo has the last word. So it never has to
//! judge damage: what it gives is what libjpeg-turbo gives without a warning, and what it does not give, libjpeg-turbo
//! gives or refuses.

mod bits;
mod coding;
#[cfg(any(test, feature = "fuzzing"))]
pub(in crate::jpeg) mod fuzzing;
mod huffman;
mod idct;

use std::ops::Range;

pub(super) use bits::Bits;
pub(super) use coding::Coding;
use coding::component_of;
use huffman::Block;
use idct::{Factors, Idct, Machine};

use super::tiles::Segment;
use super::tj::Scale;

/// Sides of a block of coefficients.
const BLOCK: usize = 8;

/// What to decode: tiles in rows from the top left, of `restart` MCUs each.
pub(super) struct Tiles<'a> {
    pub jpeg: &'a [u8],
    pub coding: &'a Coding,
    /// All tiles of the picture, in the order of the file,
    pub segments: &'a [Segment],
    /// of which there are so many in a row;
    pub across: usize,
    /// and those wanted.
    pub columns: Range<usize>,
    pub rows: Range<usize>,
    /// MCUs in a tile.
    pub restart: usize,
}

/// Keeps the buffers.
pub(super) struct TileDecoder {
    machine: Machine,
    /// A segment without byte stuffing.
    plain: Vec<u8>,
    /// The blocks of an MCU: four of luma, then blue, then red.
    blocks: [Block; 6],
}

/// Planes of whole MCUs, without padding.
pub(super) struct Target<'a> {
    pub planes: [&'a mut [u8]; 3],
    /// Samples in a row of each.
    pub pitches: [usize; 3],
}

impl TileDecoder {
    pub fn new() -> Self {
        Self::on(Machine::best())
    }

    fn on(machine: Machine) -> Self {
        TileDecoder { machine, plain: Vec::new(), blocks: [[0; 128]; 6] }
    }

    /// Decodes `tiles` to `target`, at `scale`. None, and anything in the planes, unless all is as an encoder writes it.
    pub fn decode(&mut self, tiles: &Tiles<'_>, scale: Scale, target: Target<'_>) -> Option<()> {
        self.machine.run(Work { decoder: self, tiles, scale, target })
    }
}

/// A decode, to be compiled for each kind of machine.
struct Work<'a> {
    decoder: &'a mut TileDecoder,
    tiles: &'a Tiles<'a>,
    scale: Scale,
    target: Target<'a>,
}

impl idct::Work for Work<'_> {
    #[inline(always)]
    fn run<I: Idct>(mut self, idct: I) -> Option<()> {
        match self.scale {
            Scale::Full => self.decode::<I, 8>(idct),
            Scale::Half => self.decode::<I, 4>(idct),
            Scale::Quarter => self.decode::<I, 2>(idct),
            Scale::Eighth => self.decode::<I, 1>(idct),
        }
    }
}

impl Work<'_> {
    /// `N` is how many samples the side of a block becomes.
    #[inline(always)]
    fn decode<I: Idct, const N: usize>(&mut self, idct: I) -> Option<()> {
        let Tiles { jpeg, coding, segments, across, ref columns, ref rows, restart } = *self.tiles;
        let tables = [coding.tables(0)?, coding.tables(1)?, coding.tables(2)?];
        let TileDecoder { plain, blocks, .. } = &mut *self.decoder;
        for row in rows.clone() {
            let wanted = &segments[row * across..][columns.clone()];
            for (column, segment) in wanted.iter().enumerate() {
                let mut bits = Bits::new(segment.data(jpeg, plain));
                let mut predictions = [0i32; 3];
                for mcu in 0..restart {
                    let mut last = [0; 6];
                    for (i, block) in blocks.iter_mut().enumerate() {
                        let component = component_of(i);
                        let (dc, ac) = tables[component];
                        block[..BLOCK * BLOCK].fill(0);
                        bits.refill();
                        predictions[component] = predictions[component].wrapping_add(dc.read(&mut bits)?);
                        last[i] = ac.read(&mut bits, block)?;
                        // libjpeg's coefficients have 16 bits.
                        block[0] = predictions[component] as i16;
                    }
                    // Elsewhere libjpeg-turbo's vector code has other overflows than on x86-64, which is what ours does.
                    let as_here = cfg!(target_arch = "x86_64");
                    if !as_here && blocks.iter().enumerate().any(|(i, block)| coding.beyond_pictures(i, block)) {
                        return None;
                    }
                    let place = ((column * restart + mcu), row - rows.start);
                    self.target.mcu::<I, N>(idct, blocks, &last, coding, place)?;
                }
                if !bits.ended_well(segment.plain_length()) {
                    return None;
                }
            }
        }
        Some(())
    }
}

impl Target<'_> {
    /// Writes the samples of the MCU in this column and row.
    #[inline(always)]
    fn mcu<I: Idct, const N: usize>(
        &mut self,
        idct: I,
        blocks: &[Block; 6],
        last: &[usize; 6],
        coding: &Coding,
        (x, y): (usize, usize),
    ) -> Option<()> {
        let pair = |first: usize, factors: &Factors| {
            let blocks = [&blocks[first], &blocks[first + 1]];
            idct::pair::<I, N>(idct, blocks, factors, last[first] | last[first + 1] == 0)
        };
        let [to_luma, to_blue, to_red] = &mut self.planes;
        for half in 0..2 {
            let rows = pair(2 * half, &coding.luma)?;
            let start = (2 * y + half) * N * self.pitches[0] + x * 2 * N;
            for (row, samples) in rows[..N].iter().enumerate() {
                let at = start + row * self.pitches[0];
                to_luma.get_mut(at..at + 2 * N)?.copy_from_slice(&samples[..2 * N]);
            }
        }
        let rows = pair(4, &coding.chroma)?;
        for (row, samples) in rows[..N].iter().enumerate() {
            for (plane, pitch, samples) in
                [(&mut *to_blue, self.pitches[1], &samples[..N]), (&mut *to_red, self.pitches[2], &samples[N..2 * N])]
            {
                let at = (y * N + row) * pitch + x * N;
                plane.get_mut(at..at + N)?.copy_from_slice(samples);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;

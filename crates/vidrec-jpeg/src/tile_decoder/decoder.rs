//! Decodes tiles to planes.

use std::ops::Range;

use super::bits::BitReader;
use super::coding::Coding;
use super::idct::{Idct, IdctMachine, IdctWork, pair};
use super::mcu::{Block, MCU};
use super::mcu::{BlockTables, McuBlocks};
use crate::region::Scale;

/// The tiles to decode, in rows from the top left, of `restart` MCUs each.
pub(crate) struct Tiles<'a> {
    pub jpeg: &'a [u8],
    pub coding: &'a Coding,
    /// All tiles of the picture, in the order of the file.
    pub segments: &'a [TileData],
    /// The number of tiles in a row of the picture.
    pub across: usize,
    /// The wanted tiles.
    pub columns: Range<usize>,
    pub rows: Range<usize>,
    /// The number of MCUs in a tile.
    pub restart: usize,
}

/// Decodes tiles. It keeps its buffers.
pub(crate) struct TileDecoder {
    machine: IdctMachine,
    /// A tile's data without byte stuffing.
    plain: Vec<u8>,
    blocks: Box<McuBlocks>,
}

/// Planes of whole MCUs, without padding.
pub(crate) struct TilePlanes<'a> {
    pub planes: [&'a mut [u8]; 3],
    /// The number of samples in a row of each plane.
    pub pitches: [usize; 3],
}

impl TileDecoder {
    pub fn new() -> Self {
        Self::on(IdctMachine::best())
    }

    pub fn on(machine: IdctMachine) -> Self {
        TileDecoder { machine, plain: Vec::new(), blocks: McuBlocks::new() }
    }

    /// Decodes `tiles` to `target`, at `scale`. Returns `None` if no encoder writes such data. The planes then
    /// have unspecified samples.
    pub fn decode(&mut self, tiles: &Tiles<'_>, scale: Scale, target: TilePlanes<'_>) -> Option<()> {
        self.machine.run(TileWork { decoder: self, tiles, scale, target })
    }
}

/// A decode, compiled for each kind of machine.
struct TileWork<'a> {
    decoder: &'a mut TileDecoder,
    tiles: &'a Tiles<'a>,
    scale: Scale,
    target: TilePlanes<'a>,
}

impl IdctWork for TileWork<'_> {
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

impl TileWork<'_> {
    /// `N` is the number of samples along the side of a decoded block.
    #[inline(always)]
    fn decode<I: Idct, const N: usize>(&mut self, idct: I) -> Option<()> {
        let Tiles { jpeg, coding, segments, across, ref columns, ref rows, restart } = *self.tiles;
        let plan = BlockTables::new([0, 1, 2].map(|component| coding.tables(component)));
        let TileDecoder { plain, blocks, .. } = &mut *self.decoder;
        for row in rows.clone() {
            let wanted = &segments[row * across..][columns.clone()];
            for (column, segment) in wanted.iter().enumerate() {
                let mut bits = BitReader::new(segment.data(jpeg, plain));
                let mut predictions = [0; 3];
                for mcu in 0..restart {
                    let (blocks, behind) = blocks.read(&plan, bits, &mut predictions)?;
                    bits = behind;
                    let place = (column * restart + mcu, row - rows.start);
                    self.target.mcu::<I, N>(idct, blocks, coding, place)?;
                }
                if !bits.ended_well(segment.plain_length()) {
                    return None;
                }
            }
        }
        Some(())
    }
}

impl TilePlanes<'_> {
    /// Writes the samples of the MCU at this column and row.
    #[inline(always)]
    fn mcu<I: Idct, const N: usize>(
        &mut self,
        idct: I,
        blocks: &[Block; MCU],
        coding: &Coding,
        (x, y): (usize, usize),
    ) -> Option<()> {
        // On other machines, libjpeg-turbo's vector code overflows differently than on x86-64, which our code
        // follows.
        let as_here = cfg!(target_arch = "x86_64");
        if !as_here && blocks.iter().enumerate().any(|(i, block)| coding.beyond_pictures(i, block)) {
            return None;
        }
        let [to_luma, to_blue, to_red] = &mut self.planes;
        for half in 0..2 {
            let rows = pair::<I, N>(idct, [&blocks[2 * half], &blocks[2 * half + 1]], &coding.luma)?;
            let start = (2 * y + half) * N * self.pitches[0] + x * 2 * N;
            for (row, samples) in rows[..N].iter().enumerate() {
                let at = start + row * self.pitches[0];
                to_luma.get_mut(at..at + 2 * N)?.copy_from_slice(&samples[..2 * N]);
            }
        }
        let rows = pair::<I, N>(idct, [&blocks[4], &blocks[5]], &coding.chroma)?;
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

/// The entropy-coded data of a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TileData {
    /// The location of the data in the JPEG.
    pub range: Range<usize>,
    /// The number of stuffed zeros among the bytes.
    pub stuffed: usize,
}

impl TileData {
    /// Returns the bytes without stuffing, from `jpeg` or from a copy in `copy`. At least [`BitReader::SLACK`]
    /// other bytes follow them in the slice.
    #[inline]
    pub fn data<'a>(&self, jpeg: &'a [u8], copy: &'a mut Vec<u8>) -> &'a [u8] {
        let Range { start, end } = self.range;
        if self.stuffed == 0 && jpeg.len() - end >= BitReader::SLACK {
            return &jpeg[start..];
        }
        copy.clear();
        let mut rest = &jpeg[start..end];
        while let Some(at) = memchr::memchr(0xFF, rest) {
            copy.extend_from_slice(&rest[..=at]);
            // More 0xFF may follow, which libjpeg also skips. A zero comes after them, because the data would have
            // ended here otherwise.
            let fill = rest[at..].iter().take_while(|&&b| b == 0xFF).count();
            rest = rest.get(at + fill + 1..).unwrap_or_default();
        }
        copy.extend_from_slice(rest);
        copy.extend_from_slice(&[0; BitReader::SLACK]);
        copy
    }

    /// The number of bytes without stuffing.
    pub fn plain_length(&self) -> usize {
        self.range.len() - self.stuffed
    }
}

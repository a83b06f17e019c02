//! The blocks of a tile: coefficients to symbols.

use super::coefficients::{self, AcChooser, Costs};
use super::dct::{Dct, Scaled, Scaling};
use super::huffman::Symbols;
use super::order::COLUMNS;
use vidrec_format::error::Result;

/// The rules that turn blocks of luma (0) and chroma (1) into symbols.
#[derive(Debug)]
pub(super) struct Rules {
    /// Coefficients up to this size become zero. It is at least 0.5, which rounds to 0.
    pub zero_up_to: f32,
    pub costs: [Costs; 2],
}

/// The number of blocks of an MCU: four of luma, row by row, then blue and red.
const MCU: usize = 6;
/// The maximum number of MCUs of a tile.
const MOST_MCUS: usize = 2;

/// Makes the symbols of tiles. It keeps its buffers.
#[derive(Debug)]
pub(super) struct TileEncoder {
    scaled: [Scaled; MCU * MOST_MCUS],
    masks: [u64; MCU * MOST_MCUS],
    chooser: AcChooser,
    /// For each column, and each mask of its coefficients, the mask in zigzag order.
    zigzag: Box<[[u64; 256]; 8]>,
}

impl TileEncoder {
    pub fn new() -> Self {
        let mut zigzag = Box::new([[0; 256]; 8]);
        for (place, &at) in COLUMNS.iter().enumerate().skip(1) {
            for (mask, places) in zigzag[usize::from(at / 8)].iter_mut().enumerate() {
                *places |= ((mask >> (at % 8) & 1) as u64) << place;
            }
        }
        let scaled = [[[0.0; 8]; 8]; MCU * MOST_MCUS];
        TileEncoder { scaled, masks: [0; MCU * MOST_MCUS], chooser: AcChooser::new(), zigzag }
    }

    /// Adds the symbols of `mcus` MCUs, starting with the one at `column` and `row`.
    pub fn encode(
        &mut self,
        source: &Samples<'_>,
        (column, row): (usize, usize),
        mcus: usize,
        rules: &Rules,
        symbols: &mut Symbols,
    ) -> Result<()> {
        let blocks = MCU * mcus.min(MOST_MCUS);
        for i in 0..blocks {
            let (mcu, block) = (column + i / MCU, i % MCU);
            let at = if block < 4 { (2 * mcu + block % 2, 2 * row + block / 2) } else { (mcu, row) };
            self.read_block(i, source, at, rules.zero_up_to);
        }
        let dc = [0, 1, 2].map(|component| self.choose_dc(component, blocks, rules));
        symbols.reserve(blocks)?;
        let (mut last, mut done) = ([0; 3], [0; 3]);
        for i in 0..blocks {
            let component = component_of(i);
            let value = i32::from(dc[component][done[component]]);
            done[component] += 1;
            let kind = component.min(1);
            let (scaled, mask, costs) = (&self.scaled[i], self.masks[i], &rules.costs[kind]);
            symbols.block(kind, value - last[component], |block| self.chooser.choose(scaled, mask, costs, block));
            last[component] = value;
        }
        symbols.end_tile();
        Ok(())
    }

    /// Reads the coefficients of block `i`, which is in column `x` and row `y` of its component.
    #[inline]
    fn read_block(&mut self, i: usize, source: &Samples<'_>, (x, y): (usize, usize), zero_up_to: f32) {
        let (component, (width, height)) = (component_of(i), source.size);
        let side = if component == 0 { 8 } else { 16 };
        if x * side >= width as usize || y * side >= height as usize {
            // A block outside the picture repeats the block before it, without details.
            let before = if component == 0 && i > 0 { i - 1 } else { i };
            self.scaled[i][0][0] = self.scaled[before][0][0];
            self.masks[i] = 0;
            return;
        }
        let columns = source.block(component, (x, y), zero_up_to, &mut self.scaled[i]);
        self.masks[i] =
            columns.iter().zip(&*self.zigzag).fold(0, |mask, (&column, zigzag)| mask | zigzag[usize::from(column)]);
    }

    fn choose_dc(&self, component: usize, blocks: usize, rules: &Rules) -> [i16; coefficients::MAX_DC] {
        let (mut scaled, mut count) = ([0.0; coefficients::MAX_DC], 0);
        for i in (0..blocks).filter(|&i| component_of(i) == component) {
            scaled[count] = self.scaled[i][0][0];
            count += 1;
        }
        coefficients::choose_dc(&scaled[..count], &rules.costs[component.min(1)])
    }
}

/// The component of a block of a tile.
fn component_of(block: usize) -> usize {
    (block % MCU).saturating_sub(3)
}

/// A plane of samples, one row after another.
#[derive(Clone, Copy)]
pub(super) struct Plane<'a> {
    pub samples: &'a [u8],
    pub width: usize,
    pub height: usize,
}

/// Samples, which the DCT turns into coefficients.
pub(super) struct Samples<'a> {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Luma, blue and red.
    pub planes: [Plane<'a>; 3],
    pub dct: Dct,
    /// The factors of luma and chroma.
    pub scaling: &'a [Scaling; 2],
}

impl Samples<'_> {
    /// Returns the coefficients of the block in column `x` and row `y` of a component. At least a part of the block must be
    /// inside the picture. The result has a bit for each coefficient, as in [`Dct::forward`].
    #[inline]
    pub fn block(&self, component: usize, (x, y): (usize, usize), zero_up_to: f32, out: &mut Scaled) -> [u8; 8] {
        let samples = self.planes[component].block(8 * x, 8 * y);
        self.dct.forward(&samples, &self.scaling[component.min(1)], zero_up_to, out)
    }
}

impl Plane<'_> {
    /// Reads 8x8 samples. Beyond the picture, it repeats the last column and row.
    #[inline]
    fn block(&self, x: usize, y: usize) -> [[u8; 8]; 8] {
        let mut block = [[0; 8]; 8];
        for (i, row) in block.iter_mut().enumerate() {
            let samples = &self.samples[(y + i).min(self.height - 1) * self.width..][..self.width];
            *row = match samples.get(x..x + 8) {
                Some(eight) => std::array::from_fn(|i| eight[i]),
                None => std::array::from_fn(|i| samples[(x + i).min(self.width - 1)]),
            };
        }
        block
    }
}

//! The tables of one axis across, in the form that vector loops want.

use super::axis::{Axis, PlaneAxis};
use super::units::BLOCK;

/// Samples after the last one that counts, which the loops may read but do not use.
const SLACK: usize = 64;

/// How far apart the samples of neighboring pixels are, which decides which loops can use the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Windows {
    /// Those of four pixels fit a window of 8 (about two samples from one to the next), and those of sixteen one of 32,
    Narrow,
    /// or only the latter.
    Wide,
    /// Those of sixteen fit a window of 64 (about four samples from one to the next).
    Double,
    /// There are no blocks, and the loops go sample by sample.
    None,
}

/// Sixteen pixels: which samples make them.
///
/// Weights go in pairs, so that each pixel has its next two samples side by side. The order is that of the first pair;
/// the second pair has the same order two samples further on.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// Which of the samples from `window` on the pairs of all sixteen pixels are: of 32, or of 64 if
    /// [`Windows::Double`].
    pub order: [u16; 32],
    /// For [`Windows::Narrow`], and each eight pixels: which bytes of two times 8 samples their pairs are, counted
    /// separately in each 16 bytes.
    pub shuffles: [[u8; 32]; 2],
    pub window: u32,
    /// Where the two times 8 begin.
    pub windows: [[u32; 2]; 2],
}

impl Block {
    fn new(first: &[u32; BLOCK]) -> (Windows, Self) {
        let start = |pixels: &[u32]| pixels.iter().copied().min().unwrap_or(0);
        let fits = |pixels: &[u32], window: u32| pixels.iter().all(|&x| x - start(pixels) + 2 <= window);
        let fours = first.as_chunks::<4>().0;
        let windows = if !fits(first, 64) {
            Windows::None
        } else if !fits(first, 32) {
            Windows::Double
        } else if !fours.iter().all(|four| fits(four, 8)) {
            Windows::Wide
        } else {
            Windows::Narrow
        };
        // Where they do not fit, these have no meaning.
        let byte = |i: usize| {
            let (pixel, byte) = (i / 4, i % 4);
            (2 * (first[pixel] - start(&fours[pixel / 4])) as usize + byte) as u8
        };
        let block = Block {
            window: start(first),
            order: std::array::from_fn(|i| (first[i / 2] - start(first)) as u16 + (i % 2) as u16),
            windows: [[start(&fours[0]), start(&fours[1])], [start(&fours[2]), start(&fours[3])]],
            shuffles: [std::array::from_fn(byte), std::array::from_fn(|i| byte(32 + i))],
        };
        (windows, block)
    }

    /// The sample after the last one that loops may read for so many pairs.
    fn end(&self, pairs: usize) -> usize {
        let narrow = self.windows.as_flattened().iter().map(|&window| window + 8);
        narrow.fold(self.window + 64, u32::max) as usize + 2 * (pairs - 1)
    }
}

/// The weights of one pair of samples for sixteen pixels.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct PairWeights(pub [i16; 32]);

/// One axis across: the plane's columns that count, and how the picture's columns are made from them.
#[derive(Debug, Clone)]
pub(crate) struct ColumnTable {
    axis: Axis,
    /// First column of the plane that counts; the line begins with it.
    start: u32,
    /// Columns that count.
    len: usize,
    windows: Windows,
    blocks: Vec<Block>,
    /// For each block, and in it for each pair: the weights of sixteen pixels.
    weights: Vec<PairWeights>,
}

impl ColumnTable {
    pub fn new(axis: PlaneAxis, out: u32, flip: bool) -> Self {
        let axis = Axis::new(axis, out, flip);
        let (start, end) = axis.reach();
        let (windows, blocks, weights) = (Windows::Narrow, Vec::new(), Vec::new());
        let mut columns = ColumnTable { start, len: (end - start) as usize, windows, blocks, weights, axis };
        columns.fill_blocks();
        columns
    }

    fn fill_blocks(&mut self) {
        let last = self.axis.first.last().map_or(0, |first| first - self.start);
        for first in self.axis.first.chunks(BLOCK) {
            let first = std::array::from_fn(|i| first.get(i).map_or(last, |first| first - self.start));
            let (windows, block) = Block::new(&first);
            self.windows = self.windows.max(windows);
            if windows == Windows::None {
                return self.blocks.clear();
            }
            self.blocks.push(block);
        }
        let pairs = self.pairs();
        let line_len = self.line_len();
        // Loops rely on it: see `blocks`.
        assert!(self.blocks.iter().all(|block| block.end(pairs) <= line_len), "a block reads beyond its line");
        self.weights.resize(self.blocks.len() * pairs, PairWeights([0; 32]));
        for (x, weights) in self.axis.weights.chunks_exact(self.axis.taps).enumerate() {
            for (k, &weight) in weights.iter().enumerate() {
                self.weights[x / BLOCK * pairs + k / 2].0[x % BLOCK * 2 + k % 2] = weight;
            }
        }
    }

    /// Weights of each column of the picture.
    #[cfg(any(test, target_arch = "x86_64"))]
    pub fn taps(&self) -> usize {
        self.axis.taps
    }

    /// Pairs of samples for each column of the picture.
    fn pairs(&self) -> usize {
        self.axis.taps.div_ceil(2)
    }

    /// The plane's columns that count: the first, and how many.
    pub fn source(&self) -> (u32, usize) {
        (self.start, self.len)
    }

    /// Samples that a line must have: those that count, and those that the loops may read or write besides.
    pub fn line_len(&self) -> usize {
        self.len + SLACK
    }

    /// Which loops can use the [`blocks`](Self::blocks).
    #[inline(always)]
    pub fn windows(&self) -> Windows {
        self.windows
    }

    /// Each block with its weights, one array for each pair.
    ///
    /// All samples of a block's windows, and of those up to two samples further for each pair but the first, are among the
    /// first [`line_len`](Self::line_len).
    #[inline(always)]
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = (&Block, &[PairWeights])> + ExactSizeIterator {
        self.blocks.iter().zip(self.weights.chunks_exact(self.pairs()))
    }

    /// For column `x` of the picture, if there is one: the first sample of the line that counts, and all weights from
    /// those of the column on.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn pixel(&self, x: usize) -> Option<(usize, &[i16])> {
        let first = self.axis.first.get(x)?;
        Some(((first - self.start) as usize, &self.axis.weights[x * self.axis.taps..]))
    }

    /// For each column of the picture: the first sample of the line that counts, and the weights from there on.
    pub fn pixels(&self) -> impl Iterator<Item = (usize, &[i16])> {
        self.axis.pixels().map(|(first, weights)| ((first - self.start) as usize, weights))
    }
}

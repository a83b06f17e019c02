//! The tables of one axis across, in the form that vector loops want.

use super::axis::{Axis, PlaneAxis};

/// Pixels that are made at a time.
const BLOCK: usize = 16;

/// Samples that the loops may read, but not use, behind the last one that counts.
const SLACK: usize = 32;

/// Sixteen pixels: which samples make them.
///
/// Weights go in pairs, so that each pixel has its next two samples side by side. The order is that of the first pair;
/// the second has the same two samples further on.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(in crate::loader) struct Block {
    /// Which of 32 samples of the line the pairs of all sixteen pixels are.
    pub order: [u16; 32],
    /// For each eight pixels: which bytes of two times 8 samples their pairs are, counted in each 16 by themselves.
    pub shuffles: [[u8; 32]; 2],
    /// Where the 32 samples begin,
    pub window: u32,
    /// and where the two times 8.
    pub windows: [[u32; 2]; 2],
}

/// The weights of one pair of samples for sixteen pixels.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::loader) struct Weights(pub [i16; 32]);

impl Block {
    /// None if pixels are so far apart that their samples do not fit the windows: more than two samples, about.
    fn new(first: &[u32; BLOCK]) -> Option<Self> {
        let start = |pixels: &[u32]| pixels.iter().copied().min().unwrap_or(0);
        let fits = |pixels: &[u32], window: u32| pixels.iter().all(|&x| x - start(pixels) + 2 <= window);
        let fours = first.as_chunks::<4>().0;
        if !fits(first, 32) || !fours.iter().all(|four| fits(four, 8)) {
            return None;
        }
        let byte = |i: usize| {
            let (pixel, byte) = (i / 4, i % 4);
            2 * (first[pixel] - start(&fours[pixel / 4])) as u8 + byte as u8
        };
        Some(Block {
            window: start(first),
            order: std::array::from_fn(|i| (first[i / 2] - start(first)) as u16 + (i % 2) as u16),
            windows: [[start(&fours[0]), start(&fours[1])], [start(&fours[2]), start(&fours[3])]],
            shuffles: [std::array::from_fn(byte), std::array::from_fn(|i| byte(32 + i))],
        })
    }
}

/// One axis across: the plane's columns that count, and how the picture's are made of them.
#[derive(Debug, Clone)]
pub(in crate::loader) struct Columns {
    axis: Axis,
    /// First column of the plane that counts; the line begins with it.
    start: u32,
    /// Columns that count.
    len: usize,
    /// Empty if the loops have to go sample by sample.
    blocks: Vec<Block>,
    /// For each block, and in it for each pair: the weights of sixteen pixels.
    weights: Vec<Weights>,
}

impl Columns {
    pub fn new(axis: PlaneAxis, out: u32, flip: bool) -> Self {
        let axis = Axis::new(axis, out, flip);
        let (start, end) = axis.reach();
        let mut columns = Columns { start, len: (end - start) as usize, blocks: Vec::new(), weights: Vec::new(), axis };
        columns.fill_blocks();
        columns
    }

    fn fill_blocks(&mut self) {
        let last = self.axis.first.last().map_or(0, |first| first - self.start);
        for first in self.axis.first.chunks(BLOCK) {
            let block = Block::new(&std::array::from_fn(|i| first.get(i).map_or(last, |first| first - self.start)));
            let Some(block) = block else { return self.blocks.clear() };
            self.blocks.push(block);
        }
        let pairs = self.pairs();
        self.weights.resize(self.blocks.len() * pairs, Weights([0; 32]));
        for (x, weights) in self.axis.weights.chunks_exact(self.axis.taps).enumerate() {
            for (k, &weight) in weights.iter().enumerate() {
                self.weights[x / BLOCK * pairs + k / 2].0[x % BLOCK * 2 + k % 2] = weight;
            }
        }
    }

    /// Weights a column of the picture has.
    #[cfg(test)]
    pub fn taps(&self) -> usize {
        self.axis.taps
    }

    /// Pairs of samples that a column of the picture is made of.
    pub fn pairs(&self) -> usize {
        self.axis.taps.div_ceil(2)
    }

    /// The plane's columns that count: the first, and how many.
    pub fn source(&self) -> (u32, usize) {
        (self.start, self.len)
    }

    /// Samples that a line must have: those that count, and as many more as the loops may read.
    pub fn line_len(&self) -> usize {
        self.len + SLACK
    }

    /// Sums that a row of the picture has: its columns, filled up to whole blocks.
    pub fn out_len(&self) -> usize {
        self.axis.first.len().next_multiple_of(BLOCK)
    }

    /// Whether there are [`blocks`](Self::blocks).
    pub fn permutes(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Each block with its weights, one array for each pair.
    pub fn blocks(&self) -> impl Iterator<Item = (&Block, &[Weights])> {
        self.blocks.iter().zip(self.weights.chunks_exact(self.pairs()))
    }

    /// The same for `N` [`pairs`](Self::pairs): none if there are as many as that.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn blocks_of<const N: usize>(&self) -> impl Iterator<Item = (&Block, &[Weights; N])> {
        self.blocks.iter().zip(self.weights.as_chunks().0)
    }

    /// For each column of the picture: the first sample of the line that counts, and the weights from there on.
    pub fn pixels(&self) -> impl Iterator<Item = (usize, &[i16])> {
        self.axis.pixels().map(|(first, weights)| ((first - self.start) as usize, weights))
    }
}

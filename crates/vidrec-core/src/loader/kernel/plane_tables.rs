//! The tables of one kind of plane: how its columns and rows make those of the picture, in the form that the inner loops
//! need.

use super::axis::{Axis, PlaneAxis, Samples};
use super::spec::{BLOCK, PictureSpec, View};
use vidrec_jpeg::Region;

/// Tables for one kind of plane.
#[derive(Debug, Clone)]
pub(super) struct PlaneTables {
    /// The number of frame pixels for each sample, along both axes.
    pub step: u32,
    pub columns: ColumnTable,
    pub rows: RowTable,
}

impl PlaneTables {
    /// Creates tables for samples of luma that are `step` pixels wide, or for chroma at half of that.
    pub fn new(target: &PictureSpec, view: &View, frame: (u32, u32), step: u32, samples: Samples) -> Self {
        let axis = |span, side| PlaneAxis { span, side, step, samples };
        PlaneTables {
            step: if samples == Samples::Full { step } else { 2 * step },
            columns: ColumnTable::new(axis(view.x, frame.0), target.size.0, view.flip),
            rows: RowTable::new(axis(view.y, frame.1), target.size.1),
        }
    }

    /// The frame pixels under the samples that count.
    pub fn region(&self, frame: (u32, u32)) -> Region {
        let (x, width) = self.columns.source();
        let (y, bottom) = self.rows.reach;
        let end = |samples: u32, side: u32| (samples * self.step).min(side);
        let (x, right) = (x * self.step, end(x + width as u32, frame.0));
        let (y, bottom) = (y * self.step, end(bottom, frame.1));
        Region { x, y, width: right - x, height: bottom - y }
    }
}

/// The number of samples after the last one that counts. The loops may read these samples, but do not use them.
const SLACK: usize = 64;

/// The distance of the samples of neighboring pixels, which decides which loops can use the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Windows {
    /// The samples of four pixels fit a window of 8 (about two samples from one to the next), and those of sixteen
    /// one of 32.
    Narrow,
    /// Only the samples of sixteen pixels fit a window of 64 (about four samples from one to the next).
    Double,
    /// There are no blocks. The loops go sample by sample.
    None,
}

/// Sixteen pixels, and the samples that make them.
///
/// Weights go in pairs, so that each pixel has its next two samples side by side. The order is that of the first
/// pair. The second pair has the same order two samples further on.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// The samples of the pairs of all sixteen pixels, counted from `window`: out of 32, or out of 64 for
    /// [`Windows::Double`].
    pub order: [u16; 32],
    /// For [`Windows::Narrow`], and for each eight pixels: the bytes of their pairs in two times 8 samples,
    /// counted separately in each 16 bytes.
    pub shuffles: [[u8; 32]; 2],
    pub window: u32,
    /// The first samples of the two times 8.
    pub windows: [[u32; 2]; 2],
}

impl Block {
    fn new(first: &[u32; BLOCK]) -> (Windows, Self) {
        let start = |pixels: &[u32]| pixels.iter().copied().min().unwrap_or(0);
        let fits = |pixels: &[u32], window: u32| pixels.iter().all(|&x| x - start(pixels) + 2 <= window);
        let fours = first.as_chunks::<4>().0;
        let windows = if !fits(first, 64) {
            Windows::None
        } else if fits(first, 32) && fours.iter().all(|four| fits(four, 8)) {
            Windows::Narrow
        } else {
            Windows::Double
        };
        // The shuffles have no meaning if the pairs do not fit.
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

    /// The end of the samples that loops may read for this many pairs.
    fn end(&self, pairs: usize) -> usize {
        let narrow = self.windows.as_flattened().iter().map(|&window| window + 8);
        narrow.fold(self.window + 64, u32::max) as usize + 2 * (pairs - 1)
    }
}

/// The weights of one pair of samples for sixteen pixels.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct PairWeights(pub [i16; 32]);

/// The horizontal axis: the plane's columns that count, and how they make the picture's columns.
#[derive(Debug, Clone)]
pub(crate) struct ColumnTable {
    pub(super) axis: Axis,
    /// The first column of the plane that counts. The line begins with it.
    start: u32,
    /// The number of columns that count.
    len: usize,
    /// The kind of windows, which says which loops can use the [`blocks`](Self::blocks).
    pub windows: Windows,
    blocks: Vec<Block>,
    /// For each block, and in it for each pair, the weights of sixteen pixels.
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
        // The loops rely on this assertion: see `blocks`.
        assert!(self.blocks.iter().all(|block| block.end(pairs) <= line_len), "a block reads beyond its line");
        self.weights.resize(self.blocks.len() * pairs, PairWeights([0; 32]));
        for (x, weights) in self.axis.weights.chunks_exact(self.axis.taps).enumerate() {
            for (k, &weight) in weights.iter().enumerate() {
                self.weights[x / BLOCK * pairs + k / 2].0[x % BLOCK * 2 + k % 2] = weight;
            }
        }
    }

    /// The number of pairs of samples for each column of the picture.
    fn pairs(&self) -> usize {
        self.axis.taps.div_ceil(2)
    }

    /// The plane's columns that count: the first, and their number.
    pub fn source(&self) -> (u32, usize) {
        (self.start, self.len)
    }

    /// The number of samples that a line must have: those that count, and those that the loops may also read or
    /// write.
    pub fn line_len(&self) -> usize {
        self.len + SLACK
    }

    /// The blocks, each with its weights: one array for each pair.
    ///
    /// All samples of a block's windows are among the first [`line_len`](Self::line_len) samples. So are those two
    /// samples further on for each pair after the first.
    #[inline(always)]
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = (&Block, &[PairWeights])> + ExactSizeIterator {
        self.blocks.iter().zip(self.weights.chunks_exact(self.pairs()))
    }

    /// The first sample of the line that counts for column `x` of the picture, and all weights from those of the
    /// column on. `None` if there is no such column.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn pixel(&self, x: usize) -> Option<(usize, &[i16])> {
        let first = self.axis.first.get(x)?;
        Some(((first - self.start) as usize, &self.axis.weights[x * self.axis.taps..]))
    }

    /// For each column of the picture, the first sample of the line that counts and the weights from there on.
    pub fn pixels(&self) -> impl Iterator<Item = (usize, &[i16])> {
        self.axis.pixels().map(|(first, weights)| ((first - self.start) as usize, weights))
    }
}

/// The vertical axis: for each row of the picture, the plane's rows that make it.
#[derive(Debug, Clone)]
pub(super) struct RowTable {
    /// The range of rows that count: the first, and the one after the last.
    pub reach: (u32, u32),
    /// For each row of the picture, its first row and the end of its part of `others`.
    rows: Vec<(u32, usize)>,
    others: Vec<Other>,
}

/// A row of a plane, and twice its weight. In units of 2^-15, this is the part of its difference from the first row
/// that is added to the first row.
pub(super) type Other = (u32, i16);

impl RowTable {
    pub fn new(axis: PlaneAxis, out: u32) -> Self {
        let axis = Axis::new(axis, out, false);
        let mut rows = RowTable { reach: axis.reach(), rows: Vec::with_capacity(out as usize), others: Vec::new() };
        for (first, weights) in axis.pixels() {
            let mut counting = (first..).zip(weights).filter(|&(_, &weight)| weight != 0);
            let base = counting.next().map_or(first, |(row, _)| row);
            // The value is below 2^15: each weight is less than one, because the first row has a part of the sum.
            rows.others.extend(counting.map(|(row, &weight)| (row, 2 * weight)));
            rows.rows.push((base, rows.others.len()));
        }
        rows
    }

    /// The maximum number of the plane's rows that make a row of the picture.
    #[cfg(test)]
    pub fn taps(&self) -> usize {
        (0..self.rows.len()).map(|y| 1 + self.row(y).1.len()).max().unwrap_or(1)
    }

    /// The plane's rows that make row `y` of the picture: a first row, and others.
    #[inline(always)]
    pub fn row(&self, y: usize) -> (u32, &[Other]) {
        let begin = if y == 0 { 0 } else { self.rows[y - 1].1 };
        let (base, end) = self.rows[y];
        (base, &self.others[begin..end])
    }
}

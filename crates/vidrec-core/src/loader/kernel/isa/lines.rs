//! Lines of planes, block by block.

use super::super::column_table::{Block, ColumnTable, PairWeights};

/// One line of each of several planes that have the same columns.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a, const N: usize> {
    lines: [&'a [i16]; N],
    columns: &'a ColumnTable,
}

/// A block of the picture's columns, and the lines that make it. Only [`Lines`] creates one, so the lines have all
/// samples under the windows of the block, for every pair of weights: see [`ColumnTable::blocks`].
pub(crate) struct LineBlock<'a, const N: usize> {
    pub(super) lines: [&'a [i16]; N],
    pub(super) block: &'a Block,
    /// One array for each pair of samples.
    pub(super) weights: &'a [PairWeights],
}

impl<'a, const N: usize> Lines<'a, N> {
    /// # Panics
    ///
    /// If a line does not have [`ColumnTable::line_len`] samples.
    #[inline(always)]
    pub fn new(lines: [&'a [i16]; N], columns: &'a ColumnTable) -> Self {
        assert!(lines.iter().all(|line| line.len() >= columns.line_len()), "a line is too short for its columns");
        Lines { lines, columns }
    }

    /// The blocks, one after another.
    #[inline(always)]
    pub fn blocks(self) -> impl DoubleEndedIterator<Item = LineBlock<'a, N>> + ExactSizeIterator {
        self.columns.blocks().map(move |(block, weights)| LineBlock { lines: self.lines, block, weights })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::axis::{PlaneAxis, Samples};
    use super::super::super::view::Span;
    use super::*;

    fn columns() -> ColumnTable {
        let span = Span { bounds: (0, 100), start: 0.0, scale: 1.5 };
        ColumnTable::new(PlaneAxis { span, side: 100, step: 1, samples: Samples::Full }, 50, false)
    }

    #[test]
    fn fifty_columns_are_four_blocks_with_a_pair_of_weights_for_each_two_taps() {
        let (columns, line) = (columns(), [0; 200]);
        let blocks: Vec<_> = Lines::new([&line, &line], &columns).blocks().map(|block| block.weights.len()).collect();
        assert_eq!(blocks, [columns.taps().div_ceil(2); 4]);
    }

    #[test]
    #[should_panic(expected = "a line is too short for its columns")]
    fn a_line_that_is_a_sample_too_short_is_refused() {
        let columns = columns();
        let (line, short) = (vec![0; columns.line_len()], vec![0; columns.line_len() - 1]);
        Lines::new([&line[..], &short], &columns);
    }
}

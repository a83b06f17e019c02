//! The tables of one axis down.

use super::axis::{Axis, PlaneAxis};

/// One axis down: for each row of the picture, the plane's rows that it is made of.
#[derive(Debug, Clone)]
pub(super) struct RowTable {
    /// The first row that counts, and the one after the last.
    reach: (u32, u32),
    /// For each row of the picture, a first one, and the end of its own among `others`.
    rows: Vec<(u32, usize)>,
    others: Vec<Other>,
}

/// A row of a plane, and twice its weight: the part of its difference from the first row that is added to the first, in
/// units of 2^-15.
pub(super) type Other = (u32, i16);

impl RowTable {
    pub fn new(axis: PlaneAxis, out: u32) -> Self {
        let axis = Axis::new(axis, out, false);
        let mut rows = RowTable { reach: axis.reach(), rows: Vec::with_capacity(out as usize), others: Vec::new() };
        for (first, weights) in axis.pixels() {
            let mut counting = (first..).zip(weights).filter(|&(_, &weight)| weight != 0);
            let base = counting.next().map_or(first, |(row, _)| row);
            // Below 2^15: each weight is less than one, because the first row has part of the sum.
            rows.others.extend(counting.map(|(row, &weight)| (row, 2 * weight)));
            rows.rows.push((base, rows.others.len()));
        }
        rows
    }

    /// The most rows of the plane that a row of the picture is made of.
    #[cfg(test)]
    pub fn taps(&self) -> usize {
        (0..self.rows.len()).map(|y| 1 + self.row(y).1.len()).max().unwrap_or(1)
    }

    /// The plane's rows that count: the first, and the one after the last.
    pub fn reach(&self) -> (u32, u32) {
        self.reach
    }

    /// The rows for row `y` of the picture: a first row, and others.
    #[inline(always)]
    pub fn row(&self, y: usize) -> (u32, &[Other]) {
        let begin = if y == 0 { 0 } else { self.rows[y - 1].1 };
        let (base, end) = self.rows[y];
        (base, &self.others[begin..end])
    }
}

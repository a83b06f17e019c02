//! The tables of the vertical axis.

use super::axis::{Axis, PlaneAxis};

/// The vertical axis: for each row of the picture, the plane's rows that make it.
#[derive(Debug, Clone)]
pub(super) struct RowTable {
    /// The range of rows that count: the first, and the one after the last.
    reach: (u32, u32),
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

    /// The same as an axis. Rows between those that count have the weight 0.
    pub fn axis(&self) -> Axis {
        let dense = |y: usize| {
            let (base, others) = self.row(y);
            let mut weights = vec![0; others.last().map_or(1, |&(last, _)| (last - base) as usize + 1)];
            others.iter().for_each(|&(row, weight)| weights[(row - base) as usize] = weight / 2);
            weights[0] = (Axis::ONE - weights.iter().map(|&weight| i32::from(weight)).sum::<i32>()) as i16;
            (base, weights)
        };
        let all: Vec<_> = (0..self.rows.len()).map(dense).collect();
        let taps = all.iter().map(|(_, weights)| weights.len()).max().unwrap_or(1);
        let mut axis = Axis { taps, first: Vec::new(), weights: Vec::new() };
        for (first, weights) in all {
            axis.first.push(first);
            axis.weights.extend_from_slice(&weights);
            axis.weights.resize(axis.first.len() * taps, 0);
        }
        axis
    }

    /// The maximum number of the plane's rows that make a row of the picture.
    #[cfg(test)]
    pub fn taps(&self) -> usize {
        (0..self.rows.len()).map(|y| 1 + self.row(y).1.len()).max().unwrap_or(1)
    }

    /// The range of the plane's rows that count: the first, and the one after the last.
    pub fn reach(&self) -> (u32, u32) {
        self.reach
    }

    /// The plane's rows that make row `y` of the picture: a first row, and others.
    #[inline(always)]
    pub fn row(&self, y: usize) -> (u32, &[Other]) {
        let begin = if y == 0 { 0 } else { self.rows[y - 1].1 };
        let (base, end) = self.rows[y];
        (base, &self.others[begin..end])
    }
}

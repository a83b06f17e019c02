//! The tables of a kernel as plain numbers, for a kernel on another device that computes the same bits.

use super::axis::Axis;
use super::plane_tables::PlaneTables;
use super::spec::{DecodedForm, View};
use super::tables::Kernel;

/// Numbers of all tables of a batch, one table after another.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ExportedTables {
    /// For each table a head of [`HEAD`](Self::HEAD) numbers, and the first samples of its axes.
    pub numbers: Vec<i32>,
    /// The weights of all axes.
    pub weights: Vec<i16>,
    /// For each table the factors (row by row), offsets, and lower and upper ends of each channel.
    pub conversions: Vec<f32>,
}

impl ExportedTables {
    /// The numbers of a table before its axes. The first three are: whether the picture is a copy of the
    /// frame's pixels, the number of planes that it needs, and whether a copy is mirrored. Then come the left and upper
    /// side of a copy, and the width and height of the frame. For columns and rows of luma, and columns and rows of chroma, there are three each: the number of weights of a
    /// pixel, and the places of the first samples and of the weights.
    const HEAD: usize = Self::AXES + 4 * 3;

    /// Where those of the axes begin.
    const AXES: usize = 7;

    /// The tables of a kernel. `None` if they are not for planes. `normalized` says which conversion they get.
    pub fn of(tables: &Kernel, normalized: bool) -> Option<Self> {
        let DecodedForm::Planes(_) = tables.form else { return None };
        let mut to = ExportedTables { numbers: vec![0; Self::HEAD], ..ExportedTables::default() };
        let View { x, y, flip } = tables.view;
        let head = [
            i32::from(tables.exact.is_some()),
            tables.planes as i32,
            i32::from(flip),
            x.start as i32,
            y.start as i32,
            tables.frame.0 as i32,
            tables.frame.1 as i32,
        ];
        to.numbers[..Self::AXES].copy_from_slice(&head);
        if tables.exact.is_none() {
            for plane in 0..tables.planes.min(2) {
                let PlaneTables { columns, rows, .. } = tables.of_plane(plane);
                let at = Self::AXES + 6 * plane;
                to.axis(at, columns.axis());
                to.axis(at + 3, &rows.axis());
            }
        }
        let conversion = if normalized { &tables.normalized } else { &tables.levels };
        to.conversions.extend(conversion.rows.as_flattened());
        to.conversions.extend([conversion.offset, conversion.low, conversion.high].as_flattened());
        Some(to)
    }

    /// Appends another table, and returns its place in [`numbers`](Self::numbers).
    pub fn append(&mut self, table: &ExportedTables) -> Option<i32> {
        let [start, weights] = [self.numbers.len(), self.weights.len()].map(|n| i32::try_from(n).ok());
        let (start, weights) = (start?, weights?);
        self.numbers.extend(&table.numbers);
        let axes = self.numbers[start as usize..][Self::AXES..Self::HEAD].chunks_exact_mut(3);
        for places in axes.filter(|places| places[0] > 0) {
            places[1] = places[1].checked_add(start)?;
            places[2] = places[2].checked_add(weights)?;
        }
        self.weights.extend(&table.weights);
        self.conversions.extend(&table.conversions);
        Some(start)
    }

    fn axis(&mut self, head: usize, axis: &Axis) {
        let places = [axis.taps, self.numbers.len(), self.weights.len()].map(|n| n as i32);
        self.numbers[head..][..3].copy_from_slice(&places);
        self.numbers.extend(axis.first.iter().map(|&first| first as i32));
        self.weights.extend_from_slice(&axis.weights);
    }
}

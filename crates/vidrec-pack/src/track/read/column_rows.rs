//! What some rows of a column hold, and how it becomes an array.

use crate::track::array::Array;
use vidrec_core::dataset::writer::TrackValues;
use vidrec_format::error::{Error, Result};
use vidrec_format::list_levels::repetition;

/// The contents of some rows of a column.
#[derive(Debug, Default)]
pub(crate) struct ColumnRows {
    /// The values of all rows, one after the other.
    pub values: TrackValues,
    /// The number of values in each row; 0 where the cell is empty.
    pub counts: Vec<usize>,
    /// The number of lists around a value.
    pub depth: i16,
    /// For each value, the depth of the outermost list that continues with it; 0 for the first value of a row.
    pub repeated: Vec<i16>,
}

impl ColumnRows {
    /// Returns the values of each row as an array of this shape.
    ///
    /// # Errors
    ///
    /// A row has another number of values, or its values are in lists of other lengths.
    pub(crate) fn into_array(self, shape: &[u32]) -> Result<Array> {
        let sides: Vec<usize> = shape.iter().map(|&side| side as usize).collect();
        let each = sides.iter().try_fold(1usize, |all, &side| all.checked_mul(side));
        let each = each.ok_or_else(|| Error::limit("a value has too many numbers"))?;
        if let Some(row) = self.counts.iter().position(|&count| count != each) {
            return Err(Error::usage(format!("row {row} has a different number of values"))
                .expected(each)
                .found(self.counts[row]));
        }
        if self.depth as usize == sides.len() && self.depth > 1 {
            let place = |i: &usize| self.repeated[*i] != repetition(&sides, i % each.max(1));
            if let Some(i) = (0..self.repeated.len()).find(place) {
                return Err(Error::usage(format!("row {} has lists of different lengths", i / each.max(1)))
                    .expected(format!("the shape {sides:?}")));
            }
        }
        let shape = [self.counts.len()].into_iter().chain(sides).collect();
        Ok(Array { values: self.values, shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_another_length_are_refused() {
        let rows = |counts: &[usize], repeated: &[i16]| ColumnRows {
            values: TrackValues::U8(vec![0; repeated.len()]),
            counts: counts.to_vec(),
            depth: 2,
            repeated: repeated.to_vec(),
        };
        let whole = rows(&[4, 4], &[0, 2, 1, 2, 0, 2, 1, 2]).into_array(&[2, 2]).unwrap();
        assert_eq!(whole.shape, [2, 2, 2]);
        let e = rows(&[4, 3], &[0, 2, 1, 2, 0, 2, 1]).into_array(&[2, 2]).unwrap_err().to_string();
        assert!(e.contains("row 1 has a different number of values: expected 4, found 3"), "{e}");
        let e = rows(&[4], &[0, 2, 2, 1]).into_array(&[2, 2]).unwrap_err().to_string();
        assert!(e.contains("row 0 has lists of different lengths"), "{e}");
    }
}

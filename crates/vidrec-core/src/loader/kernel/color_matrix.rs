//! An affine map of colors.

/// An affine map of (red, green, blue), with levels of 0 to 255 before and after: `rows * rgb + offset`, then
/// clamped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColorMatrix {
    /// One row for each channel of the result.
    pub rows: [[f32; 3]; 3],
    /// Added to each channel of the result.
    pub offset: [f32; 3],
}

impl ColorMatrix {
    /// The map that changes nothing.
    pub const IDENTITY: ColorMatrix =
        ColorMatrix { rows: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], offset: [0.0; 3] };

    /// Keeps `factor` of each pixel, and takes the rest from a mix of its channels and a constant.
    pub(crate) fn blend(factor: f32, mix: [f32; 3], constant: f32) -> Self {
        let rest = 1.0 - factor;
        let rows = Self::IDENTITY.rows.map(|row| std::array::from_fn(|c| factor * row[c] + rest * mix[c]));
        ColorMatrix { rows, offset: [rest * constant; 3] }
    }

    /// Returns the map that applies this map, then `next`.
    pub(crate) fn then(self, next: ColorMatrix) -> Self {
        let dot = |row: [f32; 3], column: [f32; 3]| row[0] * column[0] + row[1] * column[1] + row[2] * column[2];
        let column = |c: usize| self.rows.map(|row| row[c]);
        ColorMatrix {
            rows: next.rows.map(|row| std::array::from_fn(|c| dot(row, column(c)))),
            offset: std::array::from_fn(|r| dot(next.rows[r], self.offset) + next.offset[r]),
        }
    }

    /// Maps one color.
    pub fn apply(&self, rgb: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|r| {
            let row = self.rows[r];
            (row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2] + self.offset[r]).clamp(0.0, 255.0)
        })
    }
}

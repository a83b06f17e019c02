//! Two numbers on which the tables and the loops agree.

/// The value of one level after both steps of resampling: 1/128 of a level for each row, 2^-14 for each column.
pub(super) const UNIT: f64 = (128 * (1 << 14)) as f64;

/// The number of columns of the picture that are made at a time.
pub(super) const BLOCK: usize = 16;

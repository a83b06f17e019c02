//! What a file or a list of values holds.

use super::table::Table;
use crate::pack::track::array::Array;
use crate::pack::track::place::Raw;

/// Largest file that values are read from, and largest array in one.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// What a file or a list holds.
pub(super) enum Content {
    /// One array without a name.
    One(Array),
    /// Named arrays or columns.
    Named(Table),
    /// Spans as a list has them.
    Spans(Raw),
}

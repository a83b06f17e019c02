//! The contents of a file or a list of values.

use super::table::Table;
use crate::track::array::Array;
use crate::track::place::Raw;

/// The size limit in bytes of a file of values, and of each array in it.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// The contents of a file or a list.
pub(super) enum Content {
    /// One array without a name.
    One(Array),
    /// Named arrays or columns.
    Named(Table),
    /// Spans from a list.
    Spans(Raw),
}

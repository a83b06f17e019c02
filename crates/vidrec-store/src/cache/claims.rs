//! Pages, byte ranges made of pages, and the processes that fetch them.

use std::ops::Range;

/// Bytes of a page. The last page of an object may be shorter.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// Which process fetches which pages of a range. The ranges are in bytes and in order. Each begins at the start of
/// a page and ends at the end of one, or at the end of the object. Pages that are present are in none of the
/// ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Claims {
    /// The caller has to fetch and store these, or give them up.
    pub mine: Vec<Range<u64>>,
    /// Other threads or processes are fetching these.
    pub others: Vec<Range<u64>>,
    /// These are absent, and there is no room for them: the caller fetches them without storing them.
    pub full: Vec<Range<u64>>,
}

/// The pages that a range of bytes touches, in an object of `length` bytes.
pub(super) fn pages_of(range: &Range<u64>, length: u64) -> Range<u64> {
    let end = range.end.min(length);
    if range.start >= end { 0..0 } else { range.start / PAGE_BYTES..end.div_ceil(PAGE_BYTES) }
}

/// Appends a page to ranges of bytes in ascending order.
pub(super) fn push(ranges: &mut Vec<Range<u64>>, page: u64, length: u64) {
    let (start, end) = (page * PAGE_BYTES, length.min((page + 1).saturating_mul(PAGE_BYTES)));
    match ranges.last_mut() {
        Some(last) if last.end == start => last.end = end,
        _ => ranges.push(start..end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_touches_its_first_and_last_page_and_none_beyond_the_end() {
        let of = |range| pages_of(&range, 10_000);
        assert_eq!([of(0..1), of(4095..4097), of(4096..8192), of(9_999..u64::MAX)], [0..1, 0..2, 1..2, 2..3]);
        assert_eq!([of(5..5), of(10_000..20_000), of(u64::MAX..u64::MAX)], [0..0, 0..0, 0..0]);
        assert_eq!(pages_of(&(0..1), 0), 0..0);
    }

    #[test]
    fn neighbours_become_one_range_and_the_last_page_ends_with_the_object() {
        let mut ranges = Vec::new();
        [0, 1, 3, 4].into_iter().for_each(|page| push(&mut ranges, page, 4 * PAGE_BYTES + 7));
        assert_eq!(ranges, [0..8192, 12_288..16_391]);
    }
}

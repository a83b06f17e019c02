//! Ranges of bytes, as requests ask for them and answers name them.

use std::ops::Range;

/// The bytes that a `Range` field asks for, of an object of `length`: `None` if it is no range that this understands, and
/// an empty range if the object has no such bytes.
pub fn asked(field: &str, length: u64) -> Option<Range<u64>> {
    let (first, last) = field.strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let count = last.parse::<u64>().ok()?;
        return Some(length.saturating_sub(count)..length);
    }
    let first = first.parse::<u64>().ok()?;
    let end = if last.is_empty() { length } else { last.parse::<u64>().ok()?.checked_add(1)?.min(length) };
    Some(first..end.max(first)).map(|range| if range.start >= length { length..length } else { range })
}

/// The bytes and the length of the whole that a `Content-Range` field names.
pub fn sent(field: &str) -> Option<(Range<u64>, u64)> {
    let (range, length) = field.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some((first.parse().ok()?..last.parse::<u64>().ok()?.checked_add(1)?, length.parse().ok()?))
}

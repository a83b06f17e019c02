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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_object() {
        assert_eq!(asked("bytes=0-9", 100), Some(0..10));
        assert_eq!(asked("bytes=90-", 100), Some(90..100));
        assert_eq!(asked("bytes=-10", 100), Some(90..100));
        assert_eq!(asked("bytes=-1000", 100), Some(0..100));
        assert_eq!(asked("bytes=95-200", 100), Some(95..100));
        assert!(asked("bytes=100-", 100).unwrap().is_empty());
        assert_eq!(asked("bytes=0-1,5-6", 100), None);
        assert_eq!(asked("lines=0-1", 100), None);
        assert_eq!(sent("bytes 5-9/100"), Some((5..10, 100)));
        assert_eq!(sent("bytes */100"), None);
    }
}

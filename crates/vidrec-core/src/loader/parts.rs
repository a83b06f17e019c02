//! Equal parts of a slice.

/// Divides a slice into this many parts of equal length, which may be empty.
pub(crate) fn parts<T>(mut all: &mut [T], count: usize) -> impl Iterator<Item = &mut [T]> {
    let each = all.len() / count.max(1);
    (0..count).map(move |_| all.split_off_mut(..each).unwrap_or_default())
}

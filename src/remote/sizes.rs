//! How much is asked for at a time.

/// The most that one request asks for, unless one record is longer. AWS recommends ranges of 8 to 16 MB ("Performance
/// design patterns for Amazon S3"); smaller ones come sooner and are repeated for less.
pub(crate) const REQUEST_BYTES: u64 = 8 << 20;

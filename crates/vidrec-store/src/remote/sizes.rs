//! How many bytes a request asks for.

/// The most bytes that one request asks for, unless one record is longer. AWS recommends ranges of 8 to 16 MB
/// ("Performance design patterns for Amazon S3"). Smaller ranges arrive sooner and cost less to repeat.
pub const REQUEST_BYTES: u64 = 8 << 20;

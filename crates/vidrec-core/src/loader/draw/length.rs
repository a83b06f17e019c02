//! The number of frames of a sample.

/// The number of frames of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// All frames of the clip; every clip must have the same number.
    Stored,
    /// This many frames of each clip, 1 or more.
    Fixed(u32),
    /// All frames of each clip, whatever their number, up to a maximum.
    Any { most: Option<u32> },
}

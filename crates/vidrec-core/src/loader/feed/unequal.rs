//! Clips that should have the same number of frames, and do not.

use vidrec_format::error::{Error, Hint};

/// The error about a clip that should have `expected` frames.
pub(super) fn unequal(clip: u64, expected: u32, found: u32) -> Error {
    Error::usage("the clips do not all have the same number of frames")
        .in_clip(clip)
        .expected(expected)
        .found(found)
        .hint(Hint::Set("frames"))
}

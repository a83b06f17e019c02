//! Clips that should have the same number of frames, and do not.

use vidrec_dataset::Dataset;
use vidrec_format::error::Hint;
use vidrec_format::error::{Error, Result};

/// The error about a clip that should have `expected` frames.
pub(super) fn unequal(clip: u64, expected: u32, found: u32) -> Error {
    Error::usage("the clips do not all have the same number of frames")
        .in_clip(clip)
        .expected(expected)
        .found(found)
        .hint(Hint::Set("frames"))
}

/// The error about the first clip that does not have as many frames as the first of all.
pub(super) fn first_that_differs(dataset: &Dataset) -> Result<Error> {
    let mut expected = None;
    for clip in dataset.clips() {
        let clip = clip?;
        if *expected.get_or_insert(clip.frame_count()) != clip.frame_count() {
            return Ok(unequal(clip.ordinal(), expected.unwrap_or_default(), clip.frame_count()));
        }
    }
    Ok(Error::format("clip-frames", "the clips do not have as many frames as the header says"))
}

//! Planes of decoded frames, in memory that all processes of the machine share.
//!
//! Each data set has one file in memory. Its length is fixed:
//!
//! | from byte | contents |
//! | --- | --- |
//! | 0 | the header, and the number of bytes that are taken |
//! | 4096 | a number for each frame and scale: the offset of its planes, or 0 |
//! | then | planes of whole frames, one after another, each after a head; they never change |
//!
//! A process writes the planes first, and then sets the frame's number to their offset by compare-and-swap. There is
//! therefore no lock, and a killed process leaves nothing half done: planes that no number leads to do not count. If two
//! processes decode the same frame at the same time, both write it, and the number leads to one of the two.
//!
//! The cache never evicts a frame. If each clip comes once an epoch, any fixed part of the data serves as well as a
//! choice that knows the future.

mod cache;
#[cfg(any(test, vidrec_internals))]
#[path = "../../../../../fuzz/internals/decoded.rs"]
pub mod fuzzing;
mod layout;

pub(crate) use cache::{CacheUse, DecodedFrames};
pub(crate) use layout::FrameKey;

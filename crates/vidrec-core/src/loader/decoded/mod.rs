//! Planes of decoded frames, in memory that all processes of the machine share.
//!
//! Each data set has one file in memory. Its length is fixed:
//!
//! | from byte | what it is |
//! | --- | --- |
//! | 0 | `layout`: the header, and the number of bytes that are taken |
//! | 4096 | a number for each frame and scale: the offset of its newest segment, or 0 |
//! | then | `segments`, one after another: tiles of one frame, which never change |
//!
//! A segment has the tiles that one sample needed and that no process had decoded before. It also holds the offset
//! of the segment before it. A process writes the segment first, and then sets the frame's number to its offset by
//! compare-and-swap. There is therefore no lock and no claim, and a killed process leaves nothing half done: a
//! segment outside the frame's chain does not count. If two processes decode the same tiles at the same time, both
//! write them, and only one of the two segments enters the chain.
//!
//! Nothing is ever evicted. If each clip comes once an epoch, any fixed part of the data serves as well as a
//! choice that knows the future.

mod cache;
mod found;
#[cfg(any(test, vidrec_internals))]
#[path = "../../../../../fuzz/internals/decoded.rs"]
pub mod fuzzing;
mod layout;
mod segment;
mod window;

pub(crate) use cache::{Cache, Contents, Kept};
pub(crate) use found::Found;
pub(crate) use segment::FrameKey;

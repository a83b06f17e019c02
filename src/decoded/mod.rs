//! Planes of decoded frames, in memory that all processes of the machine share.
//!
//! One file in memory for each data set, of a fixed length that it never passes:
//!
//! | from byte | what it is |
//! | --- | --- |
//! | 0 | [`layout`]: what the file is, and how much of it is taken |
//! | 4096 | a number for each frame and scale: where its newest segment begins, or 0 |
//! | behind | [`segments`](segment), one after another: tiles of one frame, which never change |
//!
//! A segment has the tiles that one sample needed and nobody had decoded before, and says where the one before it is. It is
//! written first, and then its place to the frame's number, by compare-and-swap. So there is no lock and no claim, and
//! nothing that a killed process could leave half done: what is not in the frame's chain was never there. Two processes
//! that decode the same tiles at the same time both write them, and only one gets into the chain.
//!
//! Nothing is ever evicted. Where each clip comes once an epoch, any fixed part of the data is as good as knowing the
//! future.

mod cache;
mod found;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod layout;
mod segment;
mod window;

pub(crate) use cache::{Cache, Contents, Kept};
pub(crate) use found::Found;
pub(crate) use segment::FrameKey;

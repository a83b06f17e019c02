//! The draws for a sample: frames, the part of each frame, flip and colors. All are pure functions of numbers.

mod color;
mod frames;
mod key;
mod window;

pub use color::{ColorDraw, ColorStep};
pub(super) use frames::{ChosenFrames, together};
pub(super) use key::DrawKey;

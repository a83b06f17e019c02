//! The draws for a sample: frames, the part of each frame, flip and colors. All are pure functions of numbers.

mod augmentation;
mod clock;
mod color;
mod key;
mod length;
mod part;
mod temporal;
mod together;
mod window;

pub(super) use augmentation::Augmentation;
pub(super) use clock::Clock;
pub use color::{ColorDraw, ColorJitter, ColorStep};
pub(super) use key::DrawKey;
pub(super) use length::Length;
pub(super) use part::Part;
pub(super) use temporal::Temporal;
pub use temporal::{Start, WindowPad};
pub(crate) use together::together;
pub(super) use window::{enlarged, view};

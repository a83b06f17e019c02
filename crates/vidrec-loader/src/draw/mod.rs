//! The draws for a sample: frames, the part of each frame, flip and colors. All are pure functions of numbers.

mod augmentation;
mod clock;
mod color;
mod crop;
mod frames;
mod key;
mod temporal;
mod together;
mod window;

pub use augmentation::Augmentation;
pub(super) use clock::Clock;
pub use color::{ColorDraw, ColorJitter, ColorStep};
pub use crop::Crop;
pub use frames::{Frames, ShortClips};
pub(super) use key::DrawKey;
pub use temporal::{Start, Temporal};
pub(crate) use together::together;
pub(super) use window::view;

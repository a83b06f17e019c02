//! What is drawn for a sample: frames, the part of each frame, flip and colors. Pure functions of numbers.

mod augmentation;
mod color;
mod crop;
mod key;
mod temporal;
mod window;

pub use augmentation::Augmentation;
pub use color::{ColorDraw, ColorJitter, ColorStep};
pub use crop::Crop;
pub(super) use key::DrawKey;
pub use temporal::{Start, Temporal};
pub(super) use window::view;

//! Pictures that the program draws: contact sheets, and frames in a terminal.

mod file;
mod pixels;
mod scale;

pub use self::file::{Animation, jpeg, png};
pub use self::pixels::{Picture, Rgb};

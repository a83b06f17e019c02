//! Folders of images: one folder per clip.

mod export;
mod import;
mod layout;

pub use export::export;
pub use import::import;

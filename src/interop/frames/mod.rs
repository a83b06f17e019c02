//! Folders of pictures: a folder a clip.

mod export;
mod import;
mod layout;

pub use export::export;
pub use import::import;

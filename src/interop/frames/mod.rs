//! Folders of pictures: a folder a clip.

mod export;
mod import;

pub use export::export;
pub use import::import;

/// All that is known of the clip, in its folder.
const CLIP_FILE: &str = "clip.json";

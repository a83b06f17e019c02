//! Exports clips as MP4 videos for people to look at.

mod export;
mod mp4;

pub use export::export;

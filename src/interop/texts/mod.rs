//! Texts: JSON lines, each of which becomes a clip without frames.

mod import;

pub use import::import;

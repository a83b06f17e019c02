//! WebDataset: tar files in which the files of a sample follow each other and have the same name up to the first dot.

mod export;
mod import;

pub use export::{WebdatasetOptions, export};
pub use import::import;

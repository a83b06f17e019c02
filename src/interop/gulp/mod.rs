//! GulpIO and its forks: `data_N.gulp` with concatenated JPEGs, `meta_N.gmeta` with JSON, and `label2idx.json`.
//!
//! Source: GulpIO, `src/main/python/gulpio/fileio.py`. GulpIO2 has the same files.

mod export;
mod import;
mod layout;

pub use export::export;
pub use import::import;

//! MXNet's image records: `.rec` with `.idx` and `.lst`, as used by `im2rec`, mxnet-videoio and DALI.
//!
//! A vidrec record file already is such a file, so an export only adds the files that other readers expect beside
//! it. An import has to find which records form a clip, because these files do not say it.

mod export;
mod import;
mod records;

pub use export::export;
pub use import::{MxnetOptions, import};

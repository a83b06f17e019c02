//! MXNet's image records: `.rec` with `.idx` and `.lst`, as `im2rec`, mxnet-videoio and DALI have them.
//!
//! A vidrec record file is such a file already, so an export only adds what other readers look for beside it. An import
//! has to find out which records are one clip, which these files do not say.

mod export;
mod grouping;
mod import;
mod in_place;
mod labels;
mod scan;
mod side_files;

pub use export::export;
pub use grouping::Ids;
pub use import::{MxnetOptions, import};
pub use in_place::import_in_place;

//! vidrec packs a video data set once, offline, and then feeds training as fast as the hardware allows.
#![warn(missing_docs)]

mod error;
mod planes;
pub mod limits;

pub use error::{Error, ErrorKind, Result};
pub use planes::Planes;

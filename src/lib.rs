//! vidrec packs a video data set once, offline, and then feeds training as fast as the hardware allows.
#![warn(missing_docs)]

mod error;
pub mod limits;

pub use error::{Error, ErrorKind, Result};

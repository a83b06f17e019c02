//! vidrec packs a video data set once, offline, and then feeds training as fast as the hardware allows.
#![warn(missing_docs)]

mod error;
pub mod limits;
mod planes;
#[cfg(feature = "pack")]
pub mod video;

pub use error::{Error, ErrorKind, Result};
pub use planes::Planes;

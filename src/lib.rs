//! vidrec packs a video data set once, offline, and then feeds training as fast as the hardware allows.
#![warn(missing_docs)]

mod error;
pub mod jpeg;
pub mod limits;
pub mod order;
mod planes;
mod random;
pub mod sampler;

pub use error::{Error, ErrorKind, Result};
pub use planes::Planes;

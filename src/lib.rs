//! vidrec packs a video data set once, offline, and then feeds training as fast as the hardware allows.

mod atomic_file;
pub mod dataset_json;
mod error;
pub mod format;
mod index;
pub mod jpeg;
pub mod limits;
mod loader;
mod map;
pub mod order;
#[cfg(feature = "pack")]
pub mod pack;
mod planes;
mod random;
mod reader;
pub mod sampler;
mod verify;
#[cfg(feature = "pack")]
pub mod video;
mod writer;

pub use error::{Error, ErrorKind, Result};
pub use loader::{Batch, BatchData, Crop, Dtype, Epoch, Layout, Loader, LoaderOptions};
pub use order::LastBatch;
pub use planes::Planes;
pub use reader::{Clip, Dataset, Frame};
pub use verify::{Problem, VerifyOptions, VerifyReport, verify};
pub use writer::{ClipInfo, FrameData, Writer, WriterOptions, Written};

//! vidrec packs a video data set once, offline, and then feeds training as fast as the hardware allows.

mod advice;
mod atomic_file;
pub mod dataset_json;
mod error;
mod fingerprint;
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
mod storage;
mod verify;
#[cfg(feature = "pack")]
pub mod video;
mod writer;

pub use error::{Error, ErrorKind, Result};
pub use fingerprint::Fingerprint;
pub use loader::{
    Batch, BatchData, Batches, ColorDraw, ColorJitter, ColorMatrix, ColorStep, Crop, Dtype, Epoch, Layout, Loader,
    LoaderOptions, LoaderState, LoaderStats, OnBadFrame, PrefetchedBatch, SampleParams, Start, Temporal,
};
pub use order::LastBatch;
pub use planes::Planes;
pub use reader::{Clip, Dataset, Frame};
pub use storage::Io;
pub use verify::{Problem, VerifyOptions, VerifyReport, verify};
pub use writer::{ClipInfo, FrameData, Writer, WriterOptions, Written};

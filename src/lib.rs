//! vidrec packs a video data set once, offline, and then feeds training as fast as the hardware allows.
//!
//! A data set is a directory of shards. A shard is a record file (`.rec`: one JPEG a frame, a valid MXNet RecordIO
//! file) and an index (`.vidx`: offsets, checksums, times, labels and names, mapped and used in place).
//! `format-spec/vidrec-v1.md` in the repository has every byte.
//!
//! # Write
//!
//! The program `vidrec pack` makes a data set from videos; so does `vidrec::pack::pack` (feature `pack`,
//! which needs FFmpeg). [`Writer`] takes JPEGs from anywhere:
//!
//! ```
//! use vidrec::jpeg::Encoder;
//! use vidrec::{ClipInfo, Dataset, FrameData, Planes, Writer, WriterOptions};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let dir = folder.path().join("train");
//! let mut jpeg = Vec::new();
//! Encoder::new(90)?.encode(&Planes::new(320, 256)?, &mut jpeg)?;
//!
//! let mut writer = Writer::create(&dir, WriterOptions::default())?;
//! for label in 0..4 {
//!     let clip = ClipInfo { label: Some(label), source: format!("{label}.mp4"), ..ClipInfo::default() };
//!     writer.append(&clip, &[FrameData { jpeg: &jpeg, pts: 0, source_index: None }; 8])?;
//! }
//! writer.finish()?;
//!
//! // # Read
//! let train = Dataset::open(&dir)?;
//! let clip = train.clip(2)?;
//! assert_eq!((clip.label(), clip.source()?), (Some(2), "2.mp4"));
//! assert_eq!(clip.frame(7)?.jpeg(), jpeg);
//! # Ok::<(), vidrec::Error>(())
//! ```
//!
//! # Train
//!
//! [`Loader`] gives batches of shape (batch, frames, channels, height, width), decoded in parallel, in an order and with
//! crops that are a pure function of the seed: see its page for an example, and `examples/train_loop.rs` for a whole
//! training loop.
//!
//! # Check
//!
//! [`verify`] proves a data set: structure, ids, every checksum and, on demand, every picture. [`Dataset::open`] proves
//! in constant time what later reads rest on.
//!
//! # Modules
//!
//! | module | what it is for |
//! | --- | --- |
//! | [`mod@format`] | the bytes of each structure on disk |
//! | [`jpeg`] | encode and decode JPEG |
//! | [`sampler`] | which frames of a video |
//! | [`order`] | which clip comes when, on which rank |
//! | [`limits`] | what is refused as too large |
//! | [`edit`] | merge, split, subset, reshard, append, relabel |
//! | [`dataset_json`] | the list of shards |
//! | `interop` | data sets of other projects, both ways (feature `interop`) |
//! | `video`, `pack` | decode videos, make data sets (feature `pack`) |
//!
//! # Features
//!
//! `pack` (default) needs FFmpeg's libraries; `cli` (default) is the program; `interop` (part of `cli`) reads and writes
//! other formats. A training machine does without both:
//! `vidrec = { version = "0.1", default-features = false }`.

mod allocation;
mod dataset;
mod disk;
pub mod edit;
mod error;
pub mod format;
#[cfg(feature = "interop")]
pub mod interop;
pub mod jpeg;
pub mod limits;
mod loader;
mod machine;
pub mod order;
#[cfg(feature = "pack")]
pub mod pack;
mod planes;
mod progress;
mod random;
mod repair;
pub mod sampler;
#[cfg(test)]
#[path = "../tests/common/skip.rs"]
mod skip;
#[cfg(any(feature = "interop", feature = "pack"))]
mod source_name;
#[cfg(feature = "pack")]
pub mod video;
mod words;
mod writer;

/// Parts for this crate's own benchmarks. They may change at any time.
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench {
    pub use crate::jpeg::bench::TileBench;
    pub use crate::loader::kernel::bench::KernelBench;
}

/// What this crate's own fuzz targets try. It may change at any time.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::jpeg::fuzzing::{Verdict, changed, changed_again, decoders, generated, originals, segments};
}

pub use dataset::{
    Bin, ClassStats, Clip, Dataset, Fingerprint, Frame, Io, Problem, SizeStats, Stats, Summary, VerifyOptions,
    VerifyReport, stats, verify,
};
pub use disk::sigbus::lost_pages;
pub use error::{Error, ErrorKind, Hint, Result};
pub use format::dataset_json;
pub use loader::{
    Aligned, Batch, BatchData, Batches, BatchesInto, Channels, ColorDraw, ColorJitter, ColorMatrix, ColorStep, Crop,
    Draws, Dtype, Epoch, Layout, Loader, LoaderOptions, LoaderState, LoaderStats, Memory, OnBadFrame, Part,
    PrefetchedBatch, SampleParams, Start, Temporal,
};
pub use order::LastBatch;
pub use planes::Planes;
pub use progress::{Progress, ProgressFn, no_progress};
pub use repair::{LostClip, PartlyLost, RepairOptions, RepairReport, repair};
pub use writer::{ClipInfo, FrameData, Writer, WriterOptions, Written};

/// Compiles the README's Rust with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

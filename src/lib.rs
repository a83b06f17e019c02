//! vidrec packs a video data set once, offline, and then feeds training as fast as the hardware allows.
//!
//! A data set is a folder of shards. Each shard is a record file and an index. The record file (`.rec`) holds one JPEG
//! per frame and is a valid MXNet RecordIO file. The index (`.vidx`) holds offsets, checksums, times, labels and names,
//! and is memory-mapped and used in place. `format-spec/vidrec-v1.md` in the repository specifies every byte.
//!
//! # Write
//!
//! The program `vidrec pack` makes a data set from videos, and so does `vidrec::pack::pack` (feature `pack`, which
//! needs FFmpeg). [`Writer`] takes JPEGs from any source:
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
//! assert_eq!((clip.label(), clip.source()?), (Some(2), "2.mp4".into()));
//! assert_eq!(clip.frame(7)?.jpeg(), jpeg);
//! # Ok::<(), vidrec::Error>(())
//! ```
//!
//! # Train
//!
//! [`Loader`] decodes batches of shape (batch, frames, channels, height, width) in parallel. Their order and crops are
//! a pure function of the seed. Its page has an example, and `examples/train_loop.rs` is a complete training loop.
//!
//! # Check
//!
//! [`verify`] checks a data set: its structure, ids, every checksum and, on demand, every image. [`Dataset::open`]
//! checks, in constant time, everything that later reads rely on. [`check::check`] looks for clips that a person should look
//! at: black, frozen, duplicate, leaked, mislabelled ones.
//!
//! # Modules
//!
//! | module | purpose |
//! | --- | --- |
//! | [`jpeg`] | encode and decode JPEG |
//! | [`sampler`] | choose frames of a video |
//! | [`order`] | the order of the clips of an epoch, and which rank gets which |
//! | [`limits`] | the sizes above which vidrec refuses a file |
//! | [`check`] | find clips that a person should look at |
//! | [`edit`] | merge, split, subset, reshard, append, relabel, retile |
//! | [`dataset_json`] | the list of shards |
//! | `cache` | pages of remote data sets that are kept on disk: show, trim, clear (feature `remote`) |
//! | `report` | pages about data sets (feature `report`) |
//! | `interop` | import and export other projects' data sets (feature `interop`) |
//! | `video`, `pack` | decode videos, make data sets (feature `pack`) |
//!
//! # Features
//!
//! `pack` (default) needs FFmpeg's libraries; `cli` (default) is the program; `interop` (part of `cli`) reads and writes
//! other formats. A training machine needs none of them: `vidrec = { version = "0.1", default-features = false }`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod allocation;
mod byte_size;
#[cfg(feature = "remote")]
pub mod cache;
pub mod check;
mod dataset;
mod decoded;
mod disk;
pub mod edit;
mod error;
#[cfg(feature = "remote")]
mod fetch;
mod format;
#[cfg(feature = "interop")]
pub mod interop;
pub mod jpeg;
pub mod limits;
#[cfg(any(feature = "interop", feature = "pack"))]
mod list_levels;
mod loader;
mod location;
mod machine;
#[cfg(any(feature = "interop", feature = "pack"))]
mod natural_order;
#[cfg(any(feature = "interop", feature = "pack"))]
mod npy;
pub mod order;
#[cfg(feature = "pack")]
pub mod pack;
mod planes;
mod printable;
mod progress;
mod random;
#[cfg(feature = "remote")]
mod remote;
mod repair;
#[cfg(feature = "report")]
pub mod report;
pub mod sampler;
#[cfg(test)]
#[path = "../tests/common/skip.rs"]
mod skip;
#[cfg(all(test, unix, feature = "remote"))]
#[path = "../tests/common/small_disk.rs"]
mod small_disk;
#[cfg(any(feature = "interop", feature = "pack"))]
mod source_name;
mod stop;
mod storage;
mod threads;
#[cfg(feature = "remote")]
mod upload;
mod verify;
#[cfg(feature = "pack")]
pub mod video;
mod words;
mod writer;

/// The bytes of each structure on disk, for this crate's own tests. They may change at any time.
#[doc(hidden)]
pub mod raw {
    pub use crate::format::{
        clip_entry, crc32, data_binding, footer, frame_entry, header, record_header, recordio, section, track,
    };
}

/// Internals for this crate's own benchmarks. They may change at any time.
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench {
    pub use crate::jpeg::bench::TileBench;
    pub use crate::loader::kernel::bench::KernelBench;
}

/// Internals for this crate's own fuzz targets. They may change at any time.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::decoded::fuzzing::decoded_segments;
    pub use crate::format::fuzzing::{dataset_json, meta, tracks};
    pub use crate::jpeg::fuzzing::{
        Verdict, changed, changed_again, decoders, encoder, generated, originals, segments,
    };
    #[cfg(feature = "pack")]
    pub use crate::pack::fuzzing::{journal, journal_of, messages, receipts, values};
    #[cfg(feature = "remote")]
    pub use crate::remote::fuzzing::answers;

    /// Reads the plan for publishing in a folder, and changes nothing.
    pub fn plan(folder: &std::path::Path) {
        let _ = crate::disk::publication::check_whole(folder);
    }
}

pub use byte_size::parse_bytes;
pub use dataset::{
    Bin, ClassStats, Clip, ClipTracks, Dataset, Fingerprint, Frame, Io, Leftover, OpenOptions, SizeStats, Stats,
    Summary, TrackView, WarmReport, stats,
};
pub use disk::sigbus::lost_pages;
pub use error::{Error, ErrorKind, Hint, Result};
#[cfg(feature = "remote")]
pub use fetch::{FetchOptions, FetchReport, fetch};
pub use format::dataset_json;
pub use format::json_object::JsonObject;
pub use format::meta::Meta;
pub use format::track::payload::TrackNumber;
pub use format::track::schema::{TrackSchema, TrackTiming, TrackType};
pub use loader::{
    Aligned, Augmentation, Batch, BatchData, Batches, BatchesInto, Batching, Budget, Cameras, CamerasCrop, Channels,
    ColorDraw, ColorJitter, ColorMatrix, ColorStep, Crop, DecodedCache, DecodedStats, Draws, Dtype, Epochs, Field,
    Frames, JpegBatch, JpegFrame, Layout, Loader, LoaderOptions, LoaderState, LoaderStats, Memory, Missing, Mix,
    MixLabels, MixOptions, OnBadFrame, Pictures, Prefetch, PrefetchedBatch, Safety, SampleParams, Sampling, ShortClips,
    SourceCount, Start, Temporal, TrackAnchor, TrackBatch, TrackData, TrackHow, TrackWindow,
};
pub use location::is_remote;
pub use order::LastBatch;
pub use planes::Planes;
pub use printable::printable;
pub use progress::{Progress, ProgressFn, no_progress};
pub use repair::{LostClip, PartlyLost, RepairOptions, RepairReport, repair};
pub use storage::{RemoteStats, Storage};
#[cfg(feature = "remote")]
pub use upload::{PushOptions, PushReport, RemoteOutput, push, write_remote, write_remote_parts};
pub use verify::{Problem, VerifyOptions, VerifyReport, verify};
pub use writer::{ClipInfo, FrameData, Sharding, Track, TrackTimes, TrackValues, Writer, WriterOptions, Written};

/// Compiles the README's Rust examples as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The same for the Rust in the pages of the documentation.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../docs/reference/rust.md")]
    struct Rust;
}

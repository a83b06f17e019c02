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
//! checks, in constant time, everything that later reads rely on.
//!
//! # Modules
//!
//! | module | purpose |
//! | --- | --- |
//! | [`jpeg`] | encode and decode JPEG |
//! | [`sampler`] | the rules that choose frames of a video |
//! | [`order`] | the order of the clips of an epoch |
//! | [`edit`] | merge, append, split, subset, remove; with other labels, attributes or shards |
//! | `pack` | make data sets of videos (feature `pack`) |
//!
//! The program does the rest: it looks for clips that a person should look at, makes pages about data sets, imports, exports,
//! estimates, and packs in parts on many machines. It prints results as JSON for programs.
//!
//! # Features
//!
//! `pack` (default) needs FFmpeg's libraries; `cli` (default) is the program, pages, checks, imports and exports. A training
//! machine needs none of them: `vidrec = { version = "1", default-features = false }`.
//!
//! # Crates
//!
//! This crate lists the names of all crates, and holds the program. The code is in crates that a program may also use alone:
//! `vidrec-format`, `vidrec-jpeg`, `vidrec-core` and `vidrec-pack`. ARCHITECTURE.md in the repository has their map.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod cli;
#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod interop;
#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod report;
mod stats;

pub use vidrec_core::dataset::repair::{DamagedClip, RepairOptions, RepairReport, repair};
pub use vidrec_core::dataset::verify::{Problem, VerifyOptions, VerifyReport, verify};
pub use vidrec_core::dataset::writer::{
    ClipInfo, FrameData, Sharding, SoundCoding, Track, TrackTimes, TrackValues, WriteReport, Writer, WriterOptions,
};
pub use vidrec_core::dataset::{
    Clip, ClipTracks, Dataset, FailedSource, Fingerprint, Frame, Io, OpenOptions, TrackStats, TrackView, picture_stats,
    track_stats,
};
pub use vidrec_core::loader::{
    Batch, BatchData, Batches, BatchesInto, Batching, Cameras, CamerasCrop, Channels, ColorDraw, ColorJitter,
    ColorMatrix, ColorStep, CoordinateSize, Crop, DecodedCache, DecodedStats, Dtype, Epochs, Field, Frames, Geometry,
    JpegBatch, JpegFrame, JpegMemory, Layout, Loader, LoaderOptions, LoaderState, LoaderStats, Memory, Missing, Mix,
    MixOptions, Normalize, Offsets, OnBadFrame, OwnOptions, Prefetch, PrefetchedBatch, SampleParams, ShortClips,
    SmartResize, SourceCount, Start, TrackAnchor, TrackBatch, TrackHow, TrackNormalize, TrackScaling, TrackWindow,
    WindowPad,
};
pub use vidrec_core::progress::{Progress, ProgressFn, no_progress};
pub use vidrec_core::store::storage::{RemoteStats, Storage};
pub use vidrec_core::transfer::fetch::{FetchOptions, FetchReport, fetch};
pub use vidrec_core::transfer::upload::{PushOptions, PushReport, push};
pub use vidrec_format::error::{Error, ErrorKind, Result};
pub use vidrec_format::json_object::JsonObject;
pub use vidrec_format::meta::Meta;
pub use vidrec_format::sampler::order::LastBatch;
pub use vidrec_format::track::coding::TrackCoding;
pub use vidrec_format::track::payload::{TrackNumber, f16};
pub use vidrec_format::track::schema::{TrackSchema, TrackTiming, TrackType};
pub use vidrec_jpeg::Planes;

// What the program, the Python package and this project's tests share. It may change at any time.
#[doc(hidden)]
#[cfg(feature = "cli")]
pub use report::check;
#[doc(hidden)]
pub use stats::{Bin, ClassStats, Distribution, Stats, Summary, stats, stats_of};
#[doc(hidden)]
pub use vidrec_core::byte_size::{parse_bytes, shown_bytes};
#[doc(hidden)]
pub use vidrec_core::dataset::{Leftover, writer::EncodedTrack};
#[doc(hidden)]
pub use vidrec_core::loader::{MixState, PinnedAllocator, PinnedMemory, PlanSizes, SourceState, TilePlan};
#[doc(hidden)]
pub use vidrec_core::stop::stoppable;
#[doc(hidden)]
pub use vidrec_core::store::disk::{sigbus::lost_pages, write_whole};
#[doc(hidden)]
pub use vidrec_core::store::location::is_remote;
#[doc(hidden)]
pub use vidrec_core::store::remote::{pinned, read_object};
#[doc(hidden)]
pub use vidrec_core::transfer::upload::{push_meta, write_remote};
#[doc(hidden)]
pub use vidrec_format::{dataset_json, error::Hint, limits, printable::printable};
#[doc(hidden)]
#[cfg(feature = "pack")]
pub use vidrec_pack::video;

/// Builds new data sets from existing ones, and adds tracks to existing ones. Every edit copies JPEGs byte for byte.
pub mod edit {
    pub use vidrec_core::dataset::edit::{
        Change, Changes, ClipList, EditOptions, EditReport, KeepTogether, Key, RatioSplit, Selection, TrackAdder,
        TracksReport, append, merge, remove, remove_tracks, split, subset,
    };
    #[doc(hidden)]
    pub use vidrec_core::dataset::edit::{joined_meta, keys_by_clip, split_clips, subset_clips};
}

/// JPEG: encode from planes, decode to RGB or planes. Opens no file.
///
/// An [`Encoder`](jpeg::Encoder) writes an ordinary baseline JPEG whose restart markers cut the picture into tiles. A
/// reader that wants a crop decodes only the tiles that it touches.
pub mod jpeg {
    pub use vidrec_jpeg::{Decoder, Encoder, JpegHeader, RgbPicture, Subsampling};
    #[doc(hidden)]
    pub use vidrec_jpeg::{Retiled, Retiler};
}

/// The order of an epoch: a pure function of the number of samples, the seed and the epoch.
pub mod order {
    #[doc(hidden)]
    pub use vidrec_format::sampler::order::{
        Blocks, Draw, EpochOrder, Homes, LastBatch, Mixed, Permutation, Ranks, Shares, Slot,
    };
    pub use vidrec_format::sampler::order::{Order, SourceOrder, Weights};
}

/// Packing: from videos to a data set, in parallel, in order, with every failure reported.
#[cfg(feature = "pack")]
pub mod pack {
    pub use vidrec_pack::video::{AudioChannels, AudioOptions, FrameSize};
    #[doc(hidden)]
    pub use vidrec_pack::{
        ArrayFile, Attributes, ClipCell, ClipValues, Estimate, IgnoredFiles, Job, ManifestColumns, PackPlan,
        PartOptions, PartsPlan, PlanStatus, PublishOptions, Recipe, Segment, Sharding, WrittenPlan, arguments,
        estimate, pack_plan, plan_status, write_plan,
    };
    pub use vidrec_pack::{
        Failure, FrameChoice, FrameOptions, IfExists, InputOptions, LimitOptions, MaxFailures, PackOptions, PackReport,
        PictureOptions, Resources, RunOptions, SegmentClock, TimeUnit, TrackClock, TrackSpec, TrackSpecTiming, Warning,
        pack, serve,
    };
}

/// Which frames of a video to take.
pub mod sampler {
    #[doc(hidden)]
    pub use vidrec_format::sampler::{
        FrameLimit, Selection, UnroundedTimes, centered, endpoints, linspace, nanoseconds_after_first, select,
        select_draw, uniform, unrounded_times,
    };
    pub use vidrec_format::sampler::{Rate, RateRule, Rounding, Rule, ShortVideo};
}

/// The bytes of each structure on disk, for this project's own tests. They may change at any time.
#[doc(hidden)]
pub mod raw {
    pub use vidrec_format::{clip_entry, crc32, data_binding, frame_entry, header, recordio, section, track};
}

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

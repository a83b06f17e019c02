//! Tracks of clips from files and columns that manifests name: numbers and texts beside the frames.
//!
//! ```text
//! spec.rs     which column becomes which track, and how its values lie in time
//! given.rs    what a row of a manifest gives
//! array.rs    values that were read, and other types of numbers
//! read/       files and lists: .npy, .npz, Parquet, .csv, .tsv, .json
//! times.rs    times and spans as nanoseconds
//! window.rs   the part of a video that a clip is of
//! place.rs    values put on the clip's clock, cut and checked
//! planned.rs  type and shape of each track, the same for all clips
//! ```

mod array;
mod given;
mod place;
mod planned;
mod read;
mod spec;
mod times;
mod window;

pub(super) use given::{EpisodeRows, Given, RowTracks, TrackCell};
pub(super) use planned::{PlannedTrack, plan};
pub(super) use read::ParquetRows;
pub use spec::{TimeUnit, TrackClock, TrackSpec, TrackSpecTiming};
pub(super) use window::{Span, Window};

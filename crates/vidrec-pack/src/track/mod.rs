//! Tracks of clips from the files and columns that manifests name: numbers and texts beside the frames.
//!
//! ```text
//! spec.rs       which column becomes which track, and how its values lie in time
//! arguments.rs  what a row of a manifest provides
//! array.rs      values that were read, and conversions between number types
//! read/         files and lists: .npy, .npz, .csv, .tsv, .json; PNG files and videos of depth
//! window.rs     the part of a video that a clip covers
//! place.rs      values placed on the clip's clock, cut and checked
//! planned.rs    the type and shape of each track, the same for all clips
//! ```

mod arguments;
mod array;
mod place;
mod planned;
mod read;
mod spec;

/// Reads a file of values in every way: as rows of a track, with times, and as spans.
#[cfg(any(test, vidrec_internals))]
pub(super) fn read_any(file: &std::path::Path) {
    for words in ["a=x,rate=50", "a=x,times=t,unit=ms", "a=x,spans,unit=us", "a=x,frames,values=b"] {
        let Ok(spec) = words.parse::<TrackSpec>() else { continue };
        let cell = TrackCell { values: TrackInput::File(file.to_owned()), times: None };
        let _ = read::read(&spec, &cell, &crate::video::open_regular);
    }
}

pub(super) use arguments::{EpisodeFrames, RowTracks, TrackCell, TrackInput};
pub(super) use array::Array;
pub(super) use place::{Span, Window};
pub(super) use planned::{PlannedTrack, plan};
pub use read::ArrayFile;
pub(super) use read::{ChoosePictures, EncodePicture, ReadVideo, TrackFiles};
pub use spec::{TimeUnit, TrackClock, TrackSpec, TrackSpecTiming};

//! Stores the tracks of a clip as files beside its frames, for formats that have room for files of any kind.
//!
//! ```text
//! description  describes a track in the JSON of a clip
//! stems        the prefixes of the names of a track's files
//! write        writes a track to its files
//! read         reads it back
//! ```
//!
//! Numbers are a NumPy array, `STEM.npy`, whose first side is the values. Texts are a list, `STEM.json`. Times are
//! an array `STEM.times.npy` of nanoseconds on the clip's clock: one for each value, or the start and end of each.
//! A track of timing `frames` has no times. Those of timing `rate` are in the description.

mod description;
mod read;
mod stems;
mod write;

pub(super) use description::TrackJson;
pub(super) use read::read;
pub(super) use stems::TrackStems;
pub(super) use write::write_all;

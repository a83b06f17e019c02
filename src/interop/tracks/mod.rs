//! The tracks of a clip as files beside its frames: for formats that have room for files of any kind.
//!
//! ```text
//! description  what the JSON of a clip says of a track
//! stems        what the names of the files of a track begin with
//! write        a track to its files
//! read         and back
//! ```
//!
//! Numbers are an array of NumPy, `STEM.npy`, the first side the values; texts are a list, `STEM.json`. Times are an
//! array `STEM.times.npy` of nanoseconds on the clip's clock: one for each value, or start and end of each. A track of
//! timing `frames` has none, and that of timing `rate` is in the description.

mod description;
mod read;
mod stems;
mod write;

pub(super) use description::TrackJson;
pub(super) use read::read;
pub(super) use stems::{TrackStems, is_file};
pub(super) use write::{times, write_all};

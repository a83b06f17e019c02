//! The bytes of each structure on disk, and utilities that all crates of vidrec share. `format-spec/vidrec-v1.md` is
//! the normative text.
//!
//! Each structure has a function that writes its bytes and one that reads them. Nothing here opens a file.

pub mod allocation;
pub mod error;
pub mod limits;
pub mod machine;
pub mod printable;
pub mod random;
pub mod words;

mod added_tracks;
pub mod clip_entry;
mod crc;
pub mod data_binding;
pub mod dataset_json;
pub mod file_name;
pub mod frame_entry;
#[doc(hidden)]
#[cfg(any(test, vidrec_internals))]
#[path = "../../../fuzz/internals/format.rs"]
pub mod fuzzing;
pub mod header;
pub mod json_object;
pub mod meta;
pub mod recordio;
pub mod sampler;
pub mod section;
pub mod track;

pub use added_tracks::{AddedClipsJson, AddedFileJson, AddedJson};
pub use clip_entry::ClipEntry;
pub use crc::crc32;
pub(crate) use crc::entry_crc32;
pub use data_binding::DataBinding;
pub use dataset_json::{DatasetJson, FailuresJson, ShardJson, TrackFileJson};
pub use error::{Error, ErrorKind, Hint, Result};
pub use file_name::{FileKind, FileName};
pub use frame_entry::FrameEntry;
pub use json_object::JsonObject;
pub use meta::Meta;
pub use recordio::RecordHeader;
pub use section::{SectionEntry, SectionId};

/// Rules that a file breaks because it has a newer version of the format, not because it is damaged.
pub const NEWER: [&str; 5] = ["index-version", "index-flags", "section-unknown", "track-version", "track-flags"];

/// Rounds `n` up to a multiple of `to`; `None` if the result does not fit.
pub fn align_up(n: u64, to: u64) -> Option<u64> {
    n.checked_next_multiple_of(to)
}

// Lets test code that several crates share name this crate.
#[cfg(test)]
extern crate self as vidrec_format;

#[cfg(test)]
#[path = "../../../tests/common/fuzz_seeds.rs"]
mod fuzz_seeds;

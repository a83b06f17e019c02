//! The bytes of each structure on disk, and nothing else. `format-spec/vidrec-v1.md` is the normative text.
//!
//! Each structure has a fixed size, a function that writes its bytes and one that reads them. Nothing here opens a
//! file.

pub mod clip_entry;
pub mod data_binding;
pub mod dataset_json;
pub mod file_name;
pub mod footer;
pub mod frame_entry;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod header;
pub mod json_object;
pub mod meta;
pub mod names;
mod only_objects;
pub mod record_header;
pub mod recordio;
pub mod section;
pub mod track;

/// Rules that a file breaks because it is of a newer version of the format, and not because it is damaged.
pub(crate) const NEWER: [&str; 5] = ["index-version", "index-flags", "section-unknown", "track-version", "track-flags"];

/// The CRC-32 (IEEE 802.3, as in zlib and PNG) of some bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The CRC-32 of a table entry. It covers the entry's bytes before the CRC-32 itself, followed by its ordinal as a
/// `u64`.
///
/// Because of the ordinal, an intact entry in the wrong place is detected when it is used. Without it, the CRC-32 of
/// the whole table would be the same for any entries.
pub(crate) fn entry_crc32(bytes: &[u8], ordinal: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes);
    hasher.update(&ordinal.to_le_bytes());
    hasher.finalize()
}

/// Rounds `n` up to a multiple of `to`; `None` if the result does not fit.
pub(crate) fn align_up(n: u64, to: u64) -> Option<u64> {
    n.checked_next_multiple_of(to)
}

//! The bytes of track files: `format-spec/vidrec-v1.md#track-file`.
//!
//! ```text
//! schema     the tracks that clips can have: names, types, shapes, timings
//! file       header, footer and table, and the sizes of parts
//! directory  the tracks of one clip, and a block of them
//! payload    the bytes of one track of one clip: values and times
//! coding     blocks of coded values, with a checksum each
//! flac       the frames of coded sound
//! opus       the packets of sound that may change a little
//! png        values that are pictures
//! assembly   the bytes of a whole file in the order in which they are written
//! ```

pub mod assembly;
pub mod coding;
pub mod directory;
pub mod file;
pub mod flac;
pub mod opus;
pub mod payload;
pub(crate) mod png;
pub mod schema;
#[cfg(test)]
mod tests;

//! The bytes of track files: `format-spec/vidrec-v1.md#track-file`.
//!
//! ```text
//! sizes        lengths of parts that have a fixed length
//! schema       the tracks that clips can have: names, types, shapes, timings
//! ends         header and footer
//! table_entry  the location of a clip's block
//! flac/        the frames of coded sound
//! opus         the packets of sound that may change a little
//! picture      values that are pictures, as PNG
//! coding       blocks of coded values, with a checksum each
//! payload      the bytes of one track of one clip: values and times
//! directory    the tracks of one clip, and a block of them
//! assembly     the bytes of a whole file, in the order in which they are written
//! ```

pub mod assembly;
pub mod coding;
pub mod directory;
pub mod ends;
pub mod flac;
pub mod opus;
pub mod payload;
pub(crate) mod picture;
pub mod schema;
pub mod sizes;
pub mod table_entry;
#[cfg(test)]
mod tests;

//! The bytes of track files: `format-spec/vidrec-v1.md#track-file`.
//!
//! ```text
//! sizes        how long its parts of a fixed length are
//! schema       which tracks there are: names, types, shapes, timings
//! ends         header and footer
//! table_entry  where the block of a clip is
//! payload      the bytes of one track of one clip: values and times
//! directory    the tracks of one clip, and a block of them
//! assembly     the bytes of a whole file, in the order in which they are written
//! ```

pub mod assembly;
pub mod directory;
pub mod ends;
pub mod payload;
pub mod schema;
pub mod sizes;
pub mod table_entry;
#[cfg(test)]
mod tests;

//! Sizes in a track file, and the alignment of its parts.

/// Blocks and the bytes of tracks begin at multiples of this.
pub const ALIGNMENT: u64 = 64;

/// Size of the header in bytes. The footer has the same size.
pub const END_BYTES: usize = 64;

/// Size of an entry of the table in bytes.
pub const TABLE_ENTRY_BYTES: usize = 24;

/// Size of a directory without entries.
pub const DIRECTORY_HEAD_BYTES: usize = 8;

/// Size of an entry of a directory.
pub const DIRECTORY_ENTRY_BYTES: usize = 48;

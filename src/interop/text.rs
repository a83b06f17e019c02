//! Small files from other programs, most of them text. They are read as a whole, after a check of their length.

use std::path::Path;

use crate::disk::regular_file::{Links, read_regular};
use crate::{Error, Result};

/// Largest text file that is read, in bytes: enough for the names and offsets of about 20 million frames.
const MAX_BYTES: u64 = 1 << 30;

/// Reads a text file of UTF-8.
pub(super) fn read(path: &Path) -> Result<String> {
    String::from_utf8(read_bytes(path, MAX_BYTES)?).map_err(|_| malformed(path, "the file is not UTF-8 text"))
}

/// Reads a file of at most `most` bytes.
pub(super) fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_regular(path, most, Links::Follow)
}

/// An error about a file of another project's format.
pub(super) fn malformed(path: &Path, what: impl Into<String>) -> Error {
    Error::decode(what).file(path)
}

/// The last part of a path, as text.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

//! Reads small files from other programs, most of them text. Each is read whole, after a check of its length.

use std::path::Path;

use crate::{Error, Result};
use vidrec_core::store::disk::regular_file::{Links, read_regular};

/// The largest text file to read, in bytes: enough for the names and offsets of about 20 million frames.
const MAX_BYTES: u64 = 1 << 30;

/// Reads a UTF-8 text file.
pub(super) fn read(path: &Path) -> Result<String> {
    String::from_utf8(read_bytes(path, MAX_BYTES)?).map_err(|_| malformed(path, "the file is not UTF-8 text"))
}

/// Reads a file of at most `most` bytes.
pub(super) fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_regular(path, most, Links::Follow)
}

/// Creates an error about a file of another project's format.
pub(super) fn malformed(path: &Path, what: impl Into<String>) -> Error {
    Error::decode(what).file(path)
}

/// Returns the last part of a path, as text.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

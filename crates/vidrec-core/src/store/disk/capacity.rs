//! How much a file system holds.

use std::path::Path;

use vidrec_format::error::{Error, Result};

/// Free bytes on the file system of `dir`, or of its nearest existing parent.
///
/// # Errors
///
/// The system does not report the free space.
pub fn free_space(dir: &Path) -> Result<u64> {
    let existing = dir.ancestors().find(|p| p.exists()).unwrap_or(Path::new("."));
    let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
    fs4::available_space(existing).map_err(|e| Error::io("read the free space", existing, e))
}

/// All bytes of the file system of `dir`, which exists.
pub(crate) fn total_space(dir: &Path) -> Result<u64> {
    fs4::total_space(dir).map_err(|e| Error::io("read the size of the disk", dir, e))
}

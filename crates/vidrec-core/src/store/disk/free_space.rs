//! Free space on the disk, checked at intervals during a long run.

use std::io;
use std::path::{Path, PathBuf};

use crate::byte_size::shown_bytes;
use vidrec_format::error::{Error, Result};

/// Bytes written between two checks.
const INTERVAL: u64 = 64 << 20;

/// Bytes that stay free, so that work in progress can finish cleanly.
const RESERVE: u64 = 64 << 20;

/// Checks the free space of a folder at intervals of written bytes.
#[derive(Debug)]
pub struct Watch {
    dir: PathBuf,
    next: u64,
}

impl Watch {
    pub fn new(dir: &Path) -> Self {
        Watch { dir: dir.to_owned(), next: INTERVAL }
    }

    /// Call this with the number of bytes written so far.
    ///
    /// # Errors
    ///
    /// The disk is nearly full. There is still enough space to finish cleanly.
    pub fn check(&mut self, written: u64) -> Result<()> {
        if written < self.next {
            return Ok(());
        }
        self.next = written.saturating_add(INTERVAL);
        // The index, which is written later, needs a few bytes per thousand bytes of frames.
        enough(&self.dir, written / 50, free_space(&self.dir)?)
    }
}

fn enough(dir: &Path, index: u64, free: u64) -> Result<()> {
    if free >= RESERVE + INTERVAL + index {
        return Ok(());
    }
    Err(full("continue: the disk is nearly full", dir)
        .found(format!("{} left", shown_bytes(free)))
        .help("free some space and pack again"))
}

fn full(doing: &str, dir: &Path) -> Error {
    Error::io(doing, dir, io::Error::from(io::ErrorKind::StorageFull))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_space_of_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        assert!(free_space(&dir.path().join("a/b")).unwrap() > 0);
        assert!(free_space(Path::new("not-there")).unwrap() > 0);
    }

    #[test]
    fn a_disk_that_is_nearly_full_is_refused_with_numbers() {
        let dir = Path::new("out");
        enough(dir, 0, 1 << 30).unwrap();
        assert!(enough(dir, 0, 100 << 20).unwrap_err().to_string().contains("104.9 MB left"));
        assert!(enough(dir, 1 << 30, 1 << 30).is_err());
    }
}

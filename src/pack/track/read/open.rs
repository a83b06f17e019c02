//! Files of values, opened after a look at what and how large they are.

use std::fs::{self, File};
use std::path::Path;

use super::content::MAX_BYTES;
use crate::{Error, Result, is_remote};

/// Opens a file on this machine.
pub(super) fn open(path: &Path) -> Result<File> {
    if is_remote(path) {
        return Err(Error::usage("files of values have to be on this machine"));
    }
    let io = |e| Error::io("read the values", path, e).without_file();
    // Checked before opening, because opening a named pipe waits for its writer.
    let meta = fs::metadata(path).map_err(io)?;
    if !meta.is_file() {
        return Err(Error::usage("not a regular file"));
    }
    if meta.len() > MAX_BYTES {
        return Err(Error::limit("the file is too large")
            .expected(format!("at most {MAX_BYTES} bytes"))
            .found(meta.len()));
    }
    File::open(path).map_err(io)
}

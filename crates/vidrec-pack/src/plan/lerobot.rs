//! Refuses data sets of LeRobot as inputs: a video file of theirs holds several episodes, and the values are in Parquet files.

use std::io::Read;
use std::path::Path;

use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, Result};

/// Refuses a folder that is a data set of LeRobot.
///
/// # Errors
///
/// It is one.
pub(super) fn refuse(folder: &Path) -> Result<()> {
    let mut start = Vec::new();
    // What cannot be read is reported by the walk through the folder.
    let Ok(file) = open_regular(&folder.join("meta/info.json"), Links::Follow) else { return Ok(()) };
    let is_read = file.take(64 << 10).read_to_end(&mut start).is_ok();
    match is_read && memchr::memmem::find(&start, b"codebase_version").is_some() {
        true => Err(refused(folder)),
        false => Ok(()),
    }
}

/// Whether an object of this name is in data sets of LeRobot alone.
pub(super) fn has_object(name: &str) -> bool {
    name.strip_prefix("meta/episodes").is_some_and(|rest| rest.ends_with(".parquet") || rest == ".jsonl")
}

/// The error for a data set of LeRobot.
pub(super) fn refused(place: &Path) -> Error {
    let e = Error::usage("this is a data set of LeRobot, whose videos hold several episodes").file(place);
    e.help("pack it from Python, with vidrec.convert.from_lerobot")
}

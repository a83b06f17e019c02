//! What fetches and uploads have in common: where the `dataset.json` is, and what an error says of the work so far.

use std::path::{Path, PathBuf};

use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::error::{Error, ErrorKind, Result};

/// Returns the path of the `dataset.json` of a data set. `verb` is what happens to it: `fetches` or `pushes`.
pub(crate) fn listing_of(set: &Path, verb: &str) -> Result<PathBuf> {
    match set.extension().and_then(|e| e.to_str()) {
        Some("json") => Ok(set.to_owned()),
        Some("rec" | "vidx") => {
            let e = Error::usage(format!("this is a shard, but vidrec {verb} only whole data sets")).file(set);
            Err(e.help("give the folder that it is in"))
        }
        _ => Ok(set.join(FILE_NAME)),
    }
}

/// Whether the same call may succeed later with the files that are done.
pub(crate) fn may_continue(e: &Error) -> bool {
    matches!(e.kind(), ErrorKind::Io | ErrorKind::Interrupted)
}

/// Adds to an error that the files that were `done` are not lost, if another call may resume.
pub(crate) fn to_continue(e: Error, done: &str) -> Error {
    if !may_continue(&e) {
        return e;
    }
    e.also_help(format!("the {done} files remain: run the same call again to continue"))
}

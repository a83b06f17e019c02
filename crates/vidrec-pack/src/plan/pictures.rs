//! Folders of pictures: which files are pictures, and their order.

use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use vidrec_core::natural_order::{NaturalOrder, is_hidden};
use vidrec_format::error::{Error, Result};

/// Extensions of pictures that can be the frames of a clip.
const PICTURE_ENDINGS: [&str; 4] = ["jpg", "jpeg", "png", "webp"];

/// Returns the pictures of a folder in the natural order of their names: `img_2.jpg` before `img_10.jpg`.
///
/// Hidden files do not count.
///
/// # Errors
///
/// The folder cannot be listed, or an entry cannot be looked at.
pub(crate) fn pictures(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in WalkDir::new(folder).min_depth(1).max_depth(1).follow_links(true) {
        let entry: DirEntry = entry.map_err(|e| {
            let path = e.path().unwrap_or(folder).to_owned();
            let doing = if path == folder { "list the folder" } else { "look at the picture" };
            let looped = || io::Error::other("it leads back to a folder that it is in");
            Error::io(doing, path, e.into_io_error().unwrap_or_else(looped))
        })?;
        if entry.file_type().is_file() && is_picture(entry.path()) && !is_hidden(entry.file_name()) {
            paths.push(entry.into_path());
        }
    }
    paths.sort_by_cached_key(|path| NaturalOrder::of_file(path));
    Ok(paths)
}

pub(crate) fn is_jpeg(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jpg") || e.eq_ignore_ascii_case("jpeg"))
}

pub(super) fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|e| PICTURE_ENDINGS.iter().any(|p| e.eq_ignore_ascii_case(p)))
}

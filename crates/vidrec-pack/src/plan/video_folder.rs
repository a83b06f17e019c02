//! Manifests of Hugging Face's VideoFolder: `metadata.csv` or `metadata.jsonl` in a folder of videos.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use vidrec_core::source_name;
use vidrec_core::store::disk::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, Result};

const METADATA: [&str; 2] = ["metadata.csv", "metadata.jsonl"];

/// Returns the manifests in `root` itself, or else those in the folders directly below it, which are then the
/// splits.
///
/// # Errors
///
/// A folder or a manifest cannot be read.
pub(super) fn lists(root: &Path) -> Result<Vec<(PathBuf, Option<String>)>> {
    let of = |folder: &Path| {
        let lists = METADATA.iter().map(|name| folder.join(name));
        lists.map(|list| Ok(names_files(&list)?.then_some(list))).find_map(Result::transpose).transpose()
    };
    if let Some(list) = of(root)? {
        return Ok(vec![(list, None)]);
    }
    let io = |e| Error::io("list the folder", root, e);
    let mut lists = Vec::new();
    for entry in fs::read_dir(root).map_err(io)? {
        let entry = entry.map_err(io)?;
        if let Some(list) = of(&entry.path())? {
            lists.push((list, Some(source_name::of_os_str(&entry.file_name()))));
        }
    }
    lists.sort();
    Ok(lists)
}

/// Whether a file has `file_name` at its start. The manifests of a VideoFolder do; other tables of that name may
/// not.
///
/// # Errors
///
/// The file exists but cannot be read. Without it, the folder would be packed in another way.
fn names_files(path: &Path) -> Result<bool> {
    let io = |e| Error::io("read the list", path, e);
    let is_file = match fs::metadata(path) {
        Ok(meta) => meta.is_file(),
        // The walk through the folder reports entries that cannot be looked at.
        Err(_) => false,
    };
    if !is_file {
        return Ok(false);
    }
    let mut start = Vec::new();
    open_regular(path, Links::Follow)?.take(64 << 10).read_to_end(&mut start).map_err(io)?;
    // In UTF-16, reading it says so.
    let wide: Vec<u8> = b"file_name".iter().flat_map(|&byte| [byte, 0]).collect();
    Ok([&b"file_name"[..], &wide].into_iter().any(|name| memchr::memmem::find(&start, name).is_some()))
}

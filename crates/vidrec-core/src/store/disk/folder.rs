//! Operations on folders: remove a file, sync the entries to the disk.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use vidrec_format::error::{Error, Result};

/// Removes a file. It is fine if the file does not exist.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, e)),
        _ => Ok(()),
    }
}

/// Makes renames and removals in a folder durable.
pub fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let synced = File::open(folder).and_then(|f| f.sync_all());
        synced.map_err(|e| Error::io("sync the folder to the disk", folder, e))?;
    }
    Ok(())
}

/// Refuses a path at which no folder can be, because it, or a part of it, is a file.
///
/// # Errors
///
/// [`Usage`](vidrec_format::error::ErrorKind::Usage): there is a file.
pub fn refuse_file(dir: &Path) -> Result<()> {
    match dir.ancestors().find_map(|part| Some((part, fs::metadata(part).ok()?))) {
        Some((file, meta)) if !meta.is_dir() => {
            Err(Error::usage("a folder is needed, but this is a file").file(file).help("choose another folder"))
        }
        _ => Ok(()),
    }
}

/// The folder that contains a path.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

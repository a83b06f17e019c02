//! Files and folders that appear whole or not at all. Nothing else in the library renames, removes, links or syncs files;
//! a test holds it to that.
//!
//! [`publication`] is the commit point of data sets. [`NewFolder`] is that of exports, whose files need fixed names.

pub(crate) mod advice;
mod atomic_file;
mod folder_lock;
#[cfg(feature = "pack")]
pub(crate) mod free_space;
mod link;
#[cfg(feature = "pack")]
mod log_file;
pub(crate) mod map;
#[cfg(feature = "interop")]
mod new_folder;
pub(crate) mod open_files;
pub(crate) mod positional;
pub(crate) mod publication;
pub(crate) mod sigbus;
#[cfg(feature = "interop")]
mod swap;
#[cfg(feature = "interop")]
mod system;

use std::fs::{self, File};
use std::io;
use std::path::Path;

pub(crate) use atomic_file::{AtomicFile, Temporary, remove_temporaries, write_file};
pub(crate) use folder_lock::FolderLock;
pub(crate) use link::share;
#[cfg(feature = "pack")]
pub(crate) use log_file::LogFile;
#[cfg(feature = "interop")]
pub(crate) use new_folder::{NewFile, NewFolder, Written as WrittenFolder};

use crate::{Error, Result};

/// Removes a file; one that is gone already is as it should be.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, e)),
        _ => Ok(()),
    }
}

/// Makes renames and removals in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let synced = File::open(folder).and_then(|f| f.sync_all());
        synced.map_err(|e| Error::io("bring the folder to the disk", folder, e))?;
    }
    Ok(())
}

/// The folder that a path lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

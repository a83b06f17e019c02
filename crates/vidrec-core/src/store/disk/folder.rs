//! Folders: they are created, renamed, removed and synced to the disk. And the space of their file systems.

use std::fs::{self, File};
use std::io::ErrorKind::NotFound;
use std::path::Path;

use vidrec_format::error::{Error, Result};

/// Removes a file. It is fine if the file does not exist.
pub fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != NotFound => Err(Error::io("remove", path, e)),
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

/// Creates a folder and its missing parents.
pub fn create(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).map_err(|e| Error::io("create the folder", dir, e))
}

/// Renames a folder. A folder of the new name must be empty.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|e| Error::io("rename", from, e))
}

/// Removes a folder and everything in it. It follows no links. It is fine if the folder does not exist.
pub fn remove(dir: &Path) -> Result<()> {
    // If the name is a link or a file, only the name is removed.
    if !fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir()) {
        return remove_file(dir);
    }
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != NotFound => Err(Error::io("remove", dir, e)),
        _ => Ok(()),
    }
}

/// Removes a folder if it is empty. A folder that stays does no harm.
pub fn remove_if_empty(dir: &Path) {
    let _ = fs::remove_dir(dir);
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_space_of_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        assert!(free_space(&dir.path().join("a/b")).unwrap() > 0);
        assert!(free_space(Path::new("not-there")).unwrap() > 0);
    }

    #[test]
    fn folders_appear_once_and_go_without_what_their_links_name() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["a", "b"] {
            create(&at(name)).unwrap();
            fs::write(at(name).join("x"), "x").unwrap();
        }
        rename(&at("a"), &at("c")).unwrap();
        assert!(rename(&at("b"), &at("c")).is_err() && rename(&at("a"), &at("d")).is_err());
        fs::write(at("source"), b"not ours").unwrap();
        create(&at("elsewhere/deep")).unwrap();
        std::os::unix::fs::symlink(at("source"), at("c/link")).unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("c/folder")).unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("e")).unwrap();
        for name in ["c", "e", "not-there"] {
            remove(&at(name)).unwrap();
            assert!(fs::symlink_metadata(at(name)).is_err());
        }
        assert_eq!(fs::read(at("source")).unwrap(), b"not ours");
        assert!(at("elsewhere/deep").is_dir());
    }
}

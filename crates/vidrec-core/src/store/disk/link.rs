//! Links to files that no process changes in place.

use std::fs;
use std::io;
use std::path::Path;

use super::atomic_file::{AtomicFile, Temporary};
use super::regular_file::{Links, open_regular};
use vidrec_format::error::{Error, Result};

/// Stages a hard link to `from` under the temporary name of `to`, or a copy if a link is not possible. Returns whether
/// it is a copy.
pub fn share(from: &Path, to: &Path) -> Result<(Temporary, bool)> {
    let from = fs::canonicalize(from).map_err(|e| Error::io("find the file", from, e))?;
    // A pipe or a device must not get a name in a data set through a link.
    open_regular(&from, Links::Refuse)?;
    let staged = Temporary::vacant(to)?;
    if fs::hard_link(&from, staged.path()).is_ok() {
        return Ok((staged, false));
    }
    // If it were dropped later, it would remove the copy, which has the same name.
    drop(staged);
    let mut copy = AtomicFile::create(to)?;
    let mut input = open_regular(&from, Links::Refuse)?;
    io::copy(&mut input, &mut copy).map_err(|e| Error::io("copy the file", &from, e))?;
    copy.sync()?;
    Ok((copy.seal(), true))
}

/// Gives a complete file a second name, and replaces an existing file of that name. No process may change the file in
/// place. If a link is not possible, the file is copied. Callers that do this at the same time each pass another
/// number `by`.
pub fn give_name(from: &Path, to: &Path, by: u32) -> Result<()> {
    let mut own = to.as_os_str().to_owned();
    own.push(format!(".{by}"));
    // If both names already lead to the same file, POSIX leaves both, and the drop removes this one.
    let (staged, _) = share(from, Path::new(&own))?;
    fs::rename(staged.path(), to).map_err(|e| Error::io("rename the file", to, e))
}

/// Renames a complete file, unless the new name exists. Returns whether it did. If several processes try, on one
/// machine or on several that share a folder, exactly one succeeds.
pub fn name_once(from: &Path, to: &Path) -> Result<bool> {
    let done = match fs::hard_link(from, to) {
        Ok(()) => true,
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => false,
        // Some servers of shared folders repeat a call whose answer was lost.
        Err(e) => {
            let there = fs::read(to).map_err(|_| Error::io("create a link", to, e))?;
            fs::read(from).is_ok_and(|own| own == there)
        }
    };
    super::folder::remove_file(from)?;
    super::folder::sync_folder(super::folder_of(to))?;
    Ok(done)
}

/// Makes a hard link, or a symbolic link if that is not possible. Returns whether it is symbolic.
pub(super) fn link(from: &Path, to: &Path) -> Result<bool> {
    let from = fs::canonicalize(from).map_err(|e| Error::io("find the file", from, e))?;
    let Err(hard) = fs::hard_link(&from, to) else { return Ok(false) };
    let failed = |e| Error::io(&format!("create a link to {}", from.display()), to, e);
    if matches!(hard.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return Err(failed(hard));
    }
    #[cfg(unix)]
    let soft = std::os::unix::fs::symlink(&from, to);
    #[cfg(not(unix))]
    let soft: io::Result<()> = Err(io::ErrorKind::Unsupported.into());
    soft.map(|()| true).map_err(|_| failed(hard))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_file_gets_a_second_name_or_is_copied_from_another_file_system() {
        let here = tempfile::tempdir().unwrap();
        for parent in [here.path(), Path::new("/dev/shm")] {
            let Ok(folder) = tempfile::tempdir_in(parent) else {
                crate::skip::skip("no /dev/shm, which is another file system");
                continue;
            };
            let from = folder.path().join("a");
            fs::write(&from, "a").unwrap();
            let (staged, is_copy) = share(&from, &here.path().join("b")).unwrap();
            let device = |path: &Path| fs::metadata(path).unwrap().dev();
            assert_eq!(is_copy, device(&from) != device(staged.path()));
            assert_eq!(fs::read(staged.path()).unwrap(), b"a");
        }
    }
}

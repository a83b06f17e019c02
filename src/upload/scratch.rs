//! A folder of this machine for an output on its way to object storage.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::disk::{FolderLock, own_folder, whole_folder};
use crate::format::data_binding::hex;
use crate::format::dataset_json::FILE_NAME;
use crate::{Error, Hint, Result};

/// A folder that is the same for each call with the same location, so that what was interrupted goes on there.
pub(super) struct Scratch {
    dir: PathBuf,
    // Nobody else writes there meanwhile.
    _lock: FolderLock,
}

/// The data set in it, and the same once it is published: then it is only to be removed.
const SET: &str = "set";
const DONE: &str = "done";

impl Scratch {
    /// Takes the folder for a location, in `parent` or else in the default one.
    pub fn take(parent: Option<&Path>, location: &Path) -> Result<Self> {
        let dir = own_folder_for(parent, location)?;
        let lock = FolderLock::take(&dir)?;
        whole_folder::remove(&dir.join(DONE), &[])?;
        Ok(Scratch { dir, _lock: lock })
    }

    /// Removes what a call left that ended after it had published this `dataset.json`, before it had tidied up.
    pub fn remove_published(parent: Option<&Path>, location: &Path, listing: &[u8]) -> Result<()> {
        let dir = folder_for(parent, location);
        if !dir.exists() {
            return Ok(());
        }
        own_folder::claim(&dir, "the scratch folder").map_err(|e| e.hint(Hint::Set("scratch")))?;
        let is_published = || fs::read(dir.join(SET).join(FILE_NAME)).is_ok_and(|found| found == listing);
        if dir.join(DONE).exists() || is_published() {
            Scratch::take(parent, location)?.remove()?;
        }
        Ok(())
    }

    /// Where the data set is written.
    pub fn output(&self) -> PathBuf {
        self.dir.join(SET)
    }

    /// After an error: keeps what was written, and says where it is.
    pub fn keep(self, e: Error) -> Error {
        let is_empty = fs::read_dir(self.output()).map_or(true, |mut entries| entries.next().is_none());
        if is_empty {
            return match self.remove() {
                Ok(()) => e,
                Err(other) => e.also_help(format!("a folder stays that may be removed ({other})")),
            };
        }
        let dir = self.dir.display();
        e.without_hints(&[Hint::Overwrite, Hint::Resume, Hint::Restart]).also_help(format!(
            "what was written is kept in {dir}: run the same command again to continue, or remove that folder to start over"
        ))
    }

    /// Removes it with all that is in it.
    pub fn remove(self) -> Result<()> {
        if self.output().exists() {
            // In one step, so that nobody takes half of it for something to continue.
            whole_folder::rename(&self.output(), &self.dir.join(DONE))?;
        }
        whole_folder::remove(&self.dir, &[])
    }
}

/// The folder for a location, made so that no other user can enter it. One that another user has made is refused: its name
/// can be guessed, and what is in it would be written to.
pub(crate) fn own_folder_for(parent: Option<&Path>, location: &Path) -> Result<PathBuf> {
    let folder = folder_for(parent, location);
    own_folder::create_all(&folder)?;
    own_folder::claim(&folder, "the scratch folder").map_err(|e| e.hint(Hint::Set("scratch")))?;
    Ok(folder)
}

fn folder_for(parent: Option<&Path>, location: &Path) -> PathBuf {
    let text = location.to_string_lossy();
    let digest = hex(&Sha256::digest(text.trim_end_matches('/').as_bytes()));
    let parent = parent.map_or_else(own_folder::for_scratch, Path::to_owned);
    parent.join(format!("vidrec-scratch-{}", &digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_location_has_a_folder_of_its_own() {
        let of = |location: &str| folder_for(Some(Path::new("x")), Path::new(location));
        assert_eq!(of("s3://b/train"), of("s3://b/train/"));
        assert_ne!(of("s3://b/train"), of("s3://b/val"));
        assert!(of("s3://b/train").to_string_lossy().contains("vidrec-scratch-"));
        assert!(folder_for(None, Path::new("s3://b")).starts_with(own_folder::for_scratch()));
    }

    #[test]
    #[cfg(unix)]
    fn what_another_user_put_there_is_refused() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
        let (dir, location) = (tempfile::tempdir().unwrap(), Path::new("s3://b/train"));
        let made = own_folder_for(Some(dir.path()), location).unwrap();
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(Scratch::take(Some(dir.path()), location).is_ok());
        fs::remove_dir(&made).unwrap();
        // A link to a folder of this user, by which another one would have chosen what is written to.
        let chosen = dir.path().join("chosen");
        fs::create_dir(&chosen).unwrap();
        symlink(&chosen, &made).unwrap();
        let e = Scratch::take(Some(dir.path()), location).map(drop).unwrap_err();
        assert!(e.to_string().contains("not this user's alone") && e.hints() == [Hint::Set("scratch")], "{e}");
        assert!(Scratch::remove_published(Some(dir.path()), location, b"").is_err());
        assert_eq!(fs::read_dir(&chosen).unwrap().count(), 0);
        fs::remove_file(&made).unwrap();
        fs::create_dir(&made).unwrap();
        if chown(&made, Some(65534), None).is_err() {
            return eprintln!("skipped: only root can give files to others");
        }
        assert!(Scratch::take(Some(dir.path()), location).is_err() && made.metadata().unwrap().uid() == 65534);
    }
}

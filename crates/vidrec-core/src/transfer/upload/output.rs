//! The output of a command that goes to object storage: it is written to a scratch folder, then pushed.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::options::{PushOptions, PushReport};
use super::place::Place;
use super::push::push;
use crate::progress::ProgressFn;
use crate::store::disk::{FolderLock, folder, private};
use crate::store::location::is_remote;
use vidrec_format::data_binding::hex;
use vidrec_format::dataset_json::FILE_NAME;
use vidrec_format::error::{Error, Hint, Result};

/// Writes a data set to `location`, in object storage. `write` makes it in a local folder, and
/// [`push`](crate::transfer::upload::push) copies it.
///
/// Before the work, this probes whether `location` can be written to, and whether it holds a data set. `write` gets a
/// folder inside a scratch folder. The scratch folder is the same for each call with the same `location`, so after an
/// interruption it contains what an earlier call left. If `write` can resume, it should. Otherwise it should
/// overwrite. The scratch folder is removed at the end. After an error it stays, and the error names it.
///
/// If `write` makes no data set, such as a pack that can read no video, nothing is pushed, and the report says 0
/// clips. Items of `progress` are bytes of the push.
///
/// ```no_run
/// use vidrec::{Dataset, PushOptions, edit};
///
/// let set = Dataset::open("s3://bucket/train")?;
/// let write = |out: &std::path::Path| {
///     let options = edit::EditOptions { overwrite: true, ..edit::EditOptions::default() };
///     edit::merge(&[set.clone()], out, &options, &mut vidrec::no_progress)
/// };
/// let location = "s3://bucket/other";
/// let (edited, pushed) = vidrec::write_remote(location, &PushOptions::default(), write, &mut vidrec::no_progress)?;
/// assert_eq!(edited.clips, pushed.clips);
/// # Ok::<(), vidrec::Error>(())
/// ```
///
/// # Errors
///
/// The errors of `write` and of [`push`](crate::transfer::upload::push).
pub fn write_remote<T>(
    location: impl AsRef<Path>,
    options: &PushOptions,
    write: impl FnOnce(&Path) -> Result<T>,
    progress: &mut ProgressFn<'_>,
) -> Result<(T, PushReport)> {
    let (location, parent) = (location.as_ref(), options.scratch.as_deref());
    if !is_remote(location) {
        return Err(Error::usage("this is a local folder").file(location).help("write to it directly"));
    }
    let place = Place::open(location, options)?;
    // An earlier call may have ended after it had published this, but before it had tidied up.
    let folder = folder_for(parent, location);
    let is_same = |listing: &[u8]| fs::read(folder.join(SET).join(FILE_NAME)).is_ok_and(|found| found == listing);
    if place.listing().is_some_and(|listing| folder.join(DONE).exists() || is_same(listing)) {
        Scratch::take(parent, location)?.remove()?;
    }
    place.check()?;
    let scratch = Scratch::take(parent, location)?;
    let out = scratch.output();
    let done = write(&out).and_then(|written| match out.join(FILE_NAME).exists() {
        true => Ok((written, push(&out, location, options, progress)?)),
        false => Ok((written, PushReport { output: location.display().to_string(), ..PushReport::default() })),
    });
    let (written, mut report) = match done {
        Ok(done) => done,
        Err(e) => return Err(scratch.keep(e)),
    };
    // The output is complete, so this is not an error.
    let left = scratch.remove().err();
    report.notes.extend(left.map(|e| format!("vidrec could not remove the scratch folder: {e}")));
    Ok((written, report))
}

/// A folder that is the same for each call with the same location, so that an interrupted call can resume there.
pub(super) struct Scratch {
    dir: PathBuf,
    // No other process writes there meanwhile.
    _lock: FolderLock,
}

/// The folder of the data set. After the data set is published, the folder has the second name and only waits to be
/// removed.
const SET: &str = "set";
const DONE: &str = "done";

impl Scratch {
    /// Takes the folder for a location, in `parent` or else in the default folder.
    pub fn take(parent: Option<&Path>, location: &Path) -> Result<Self> {
        let dir = own_folder_for(parent, location)?;
        let lock = FolderLock::take(&dir)?;
        folder::remove(&dir.join(DONE))?;
        Ok(Scratch { dir, _lock: lock })
    }

    /// The folder to which the data set is written.
    pub fn output(&self) -> PathBuf {
        self.dir.join(SET)
    }

    /// Keeps the output after an error, and adds its place to the error.
    pub fn keep(self, e: Error) -> Error {
        let is_empty = fs::read_dir(self.output()).map_or(true, |mut entries| entries.next().is_none());
        if is_empty {
            return match self.remove() {
                Ok(()) => e,
                Err(other) => e.also_help(format!("vidrec could not remove its folder; you may remove it ({other})")),
            };
        }
        let dir = self.dir.display();
        e.without_hints(&[Hint::Overwrite, Hint::Resume, Hint::Restart]).also_help(format!(
            "what was written is kept in {dir}: run the same command again to continue, or remove that folder to start over"
        ))
    }

    /// Removes the folder and everything in it.
    pub fn remove(self) -> Result<()> {
        if self.output().exists() {
            // The rename takes one step, so that no call mistakes half of the output for one to resume.
            folder::rename(&self.output(), &self.dir.join(DONE))?;
        }
        folder::remove(&self.dir)
    }
}

/// The folder for a location. It is created so that no other user can enter it. A folder that another user has
/// created is refused, because its name can be guessed, and this program would write to what is in it.
pub fn own_folder_for(parent: Option<&Path>, location: &Path) -> Result<PathBuf> {
    let folder = folder_for(parent, location);
    private::create_folder_all(&folder)?;
    private::claim(&folder, "the scratch folder").map_err(|e| e.hint(Hint::Set("scratch")))?;
    Ok(folder)
}

fn folder_for(parent: Option<&Path>, location: &Path) -> PathBuf {
    let text = location.to_string_lossy();
    let digest = hex(&Sha256::digest(text.trim_end_matches('/').as_bytes()));
    let parent = parent.map_or_else(private::for_scratch, Path::to_owned);
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
        assert!(folder_for(None, Path::new("s3://b")).starts_with(private::for_scratch()));
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
        // Another user may leave a link to a folder of this user, to choose where this program writes.
        let chosen = dir.path().join("chosen");
        fs::create_dir(&chosen).unwrap();
        symlink(&chosen, &made).unwrap();
        let e = Scratch::take(Some(dir.path()), location).map(drop).unwrap_err();
        assert!(
            e.to_string().contains("other users own or can write to") && e.hints() == [Hint::Set("scratch")],
            "{e}"
        );
        assert_eq!(fs::read_dir(&chosen).unwrap().count(), 0);
        fs::remove_file(&made).unwrap();
        fs::create_dir(&made).unwrap();
        if chown(&made, Some(65534), None).is_err() {
            return eprintln!("skipped: only root can give files to others");
        }
        assert!(Scratch::take(Some(dir.path()), location).is_err() && made.metadata().unwrap().uid() == 65534);
    }
}

//! Where the files of a plan are: in a folder, or in object storage.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::bucket::InBucket;
use super::folder::Folder;
use vidrec_dataset::{Io, Source};
use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::FileName;
use vidrec_format::names;
use vidrec_store::disk::{AtomicFile, FolderLock, Temporary, whole_folder};
use vidrec_store::location::is_remote;
use vidrec_store::storage::Storage;

pub(super) use super::folder::PLAN;

/// The place of a plan's files. Attempts on several machines use it at once, so every file appears as a whole.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Folder(Folder),
    Bucket(InBucket),
}

impl Place {
    pub fn open(location: &Path, storage: &Storage) -> Result<Self> {
        if !is_remote(location) {
            return Ok(Place::Folder(Folder { dir: location.to_owned() }));
        }
        InBucket::open(location, storage).map(Place::Bucket)
    }

    /// Returns the place of a plan whose parts become the data set at `location`. The plan is removed when the pack
    /// ends.
    pub fn within(location: &Path, storage: &Storage) -> Result<Self> {
        if !is_remote(location) {
            return Ok(Place::Folder(Folder { dir: location.join(names::PACK) }));
        }
        InBucket::within(location, storage).map(Place::Bucket)
    }

    pub fn location(&self) -> &Path {
        match self {
            Place::Folder(folder) => &folder.dir,
            Place::Bucket(bucket) => bucket.bucket.location(),
        }
    }

    /// Returns the path of a file of the plan, for errors.
    pub fn path(&self, name: &str) -> PathBuf {
        match self {
            Place::Folder(folder) => folder.dir.join(name),
            Place::Bucket(bucket) => bucket.path(name),
        }
    }

    /// Returns the path of a file of a shard.
    pub fn shard_path(&self, name: &str) -> PathBuf {
        self.location().join(name)
    }

    /// Returns the source from which to read shards.
    pub fn source(&self) -> Result<Source> {
        match self {
            Place::Folder(_) => Ok(Source::Local(Io::default())),
            Place::Bucket(bucket) => bucket.remote().map(Source::Remote),
        }
    }

    /// Returns the folder on this machine with the working folders of attempts. `scratch` is for plans that are
    /// not on a file system.
    pub fn attempts(&self, scratch: Option<&Path>, plan: &str) -> Result<PathBuf> {
        match self {
            Place::Folder(_) if scratch.is_some() => {
                let e = Error::usage("a pack into a folder works there").file(self.location());
                Err(e.hint(vidrec_format::error::Hint::Unset("scratch")))
            }
            Place::Folder(folder) => Ok(folder.dir.join("attempts")),
            // Another plan may have been here before, so the folder is named for this one.
            Place::Bucket(_) => Ok(self.scratch(scratch)?.join(&plan[..16])),
        }
    }

    fn scratch(&self, given: Option<&Path>) -> Result<PathBuf> {
        Ok(vidrec_transfer::upload::own_folder_for(given, self.location())?.join("parts"))
    }

    /// Returns the number of files to ask for at a time.
    pub fn at_once(&self) -> usize {
        match self {
            Place::Folder(_) => 1,
            Place::Bucket(_) => 64,
        }
    }

    /// Returns the file in which to write the list of videos of a new plan at first, and a lock to hold meanwhile.
    pub fn draft(&self, scratch: Option<&Path>) -> Result<(FolderLock, PathBuf)> {
        match self {
            Place::Folder(folder) => folder.draft(),
            Place::Bucket(_) => InBucket::draft(&self.scratch(scratch)?),
        }
    }

    /// Returns the name that the list of videos gets, if it is not [`JOBS`].
    pub fn name_of(&self, jobs: &mut AtomicFile) -> Result<Option<String>> {
        match self {
            Place::Folder(_) => Ok(None),
            Place::Bucket(_) => InBucket::name_of(jobs).map(Some),
        }
    }

    /// Puts a plan in its place, with `plan.json` last. It is not an error if the same plan exists already.
    pub fn put_plan(&self, jobs: (&str, AtomicFile), plan: &impl Serialize) -> Result<()> {
        let bytes = to_bytes(plan)?;
        if let Some(there) = self.read(PLAN)? {
            jobs.1.discard();
            return self.is_same(&there, &bytes);
        }
        match self {
            Place::Folder(folder) => folder.put_plan(jobs.1, &bytes),
            Place::Bucket(bucket) => {
                bucket.put_jobs(jobs.0, jobs.1)?;
                if bucket.put_once(PLAN, bytes.clone())? {
                    return Ok(());
                }
                self.is_same(&self.read(PLAN)?.unwrap_or_default(), &bytes)
            }
        }
    }

    /// Refuses a plan if another one exists.
    fn is_same(&self, there: &[u8], plan: &[u8]) -> Result<()> {
        if there == plan {
            return Ok(());
        }
        Err(Error::usage("there is already another plan here")
            .file(self.path(PLAN))
            .help("plan into another folder, or remove this one if you no longer need its parts"))
    }

    /// Returns the bytes of a file, or `None` if it does not exist.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        match self {
            Place::Folder(folder) => folder.read(name),
            Place::Bucket(bucket) => bucket.read(name),
        }
    }

    /// Returns the parsed contents of a file, or `None` if it does not exist.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let unknown = |e| Error::usage("this version of vidrec did not write this file").file(self.path(name)).found(e);
        serde_json::from_slice(&bytes).map(Some).map_err(unknown)
    }

    /// Returns a range of a file.
    pub fn read_range(&self, name: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        match self {
            Place::Folder(folder) => folder.read_range(name, start, length),
            Place::Bucket(bucket) => bucket.read_range(name, start, length),
        }
    }

    /// Writes a file, and replaces one of this name. If several attempts do so, the last one counts.
    pub fn put(&self, name: &str, attempt: u32, value: &impl Serialize) -> Result<()> {
        let bytes = to_bytes(value)?;
        match self {
            Place::Folder(folder) => folder.put(name, attempt, &bytes),
            Place::Bucket(bucket) => bucket.put(name, bytes),
        }
    }

    /// Writes a file if none of this name exists. Returns whether it did: of several attempts, one succeeds.
    pub fn put_once(&self, name: &str, attempt: u32, value: &impl Serialize) -> Result<bool> {
        let bytes = to_bytes(value)?;
        match self {
            Place::Folder(folder) => folder.put_once(name, attempt, &bytes),
            Place::Bucket(bucket) => bucket.put_once(name, bytes),
        }
    }

    /// Removes a file. It is not an error if it does not exist.
    pub fn remove(&self, name: &str) -> Result<()> {
        match self {
            Place::Folder(folder) => folder.remove(name),
            Place::Bucket(bucket) => bucket.remove(name),
        }
    }

    /// Takes the complete files of a shard, each with its name in this place. Calls `told` repeatedly if that takes
    /// long.
    pub fn take(
        &self,
        files: &[(Temporary, FileName)],
        attempt: u32,
        told: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        match self {
            Place::Folder(folder) => folder.take(files, attempt),
            Place::Bucket(bucket) => bucket.take(files, told),
        }
    }

    /// Removes leftover folders of attempts on this machine that nobody needs.
    pub fn tidy(&self, attempts: &Path) {
        whole_folder::remove_if_empty(attempts);
        if let Place::Bucket(_) = self {
            attempts.ancestors().skip(1).take(2).for_each(whole_folder::remove_if_empty);
        }
    }

    /// Returns how long ago a file was written, by the clock that sets the times of files, or `None` if it does
    /// not exist.
    pub fn age(&self, name: &str, now: SystemTime) -> Result<Option<Duration>> {
        match self {
            Place::Folder(folder) => Ok(folder.age(name, now)),
            Place::Bucket(bucket) => bucket.age(name, now),
        }
    }

    /// Returns the time of the clock that sets the times of files, because each machine has its own clock. If no
    /// file can be created, it is the time of this machine's clock.
    pub fn now(&self) -> SystemTime {
        match self {
            Place::Folder(folder) => folder.now(),
            Place::Bucket(bucket) => bucket.now(),
        }
    }
}

/// Returns a value as the text of a file.
pub(super) fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| Error::internal(format!("JSON: {e}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

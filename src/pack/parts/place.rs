//! Where the files of a plan are: in a folder, or in object storage.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "remote")]
use super::bucket::InBucket;
use super::folder::Folder;
use crate::dataset::{Io, Source};
use crate::disk::{AtomicFile, FolderLock, whole_folder};
use crate::{Error, Result, Storage, is_remote};

pub(super) use super::folder::PLAN;

/// The place of a plan's files. Attempts on several machines use it at once, so every file appears whole.
#[derive(Debug, Clone)]
pub(super) enum Place {
    Folder(Folder),
    #[cfg(feature = "remote")]
    Bucket(InBucket),
}

impl Place {
    pub fn open(location: &Path, storage: &Storage) -> Result<Self> {
        if !is_remote(location) {
            return Ok(Place::Folder(Folder { dir: location.to_owned() }));
        }
        #[cfg(feature = "remote")]
        return InBucket::open(location, storage).map(Place::Bucket);
        #[cfg(not(feature = "remote"))]
        {
            let _ = storage;
            Err(Error::usage("this build writes local files only")
                .file(location)
                .help("build it with the feature remote"))
        }
    }

    /// The place of a plan whose parts become the data set at `location` in object storage, and which goes with its end.
    #[cfg(feature = "remote")]
    pub fn within(location: &Path, storage: &Storage) -> Result<Self> {
        InBucket::within(location, storage).map(Place::Bucket)
    }

    pub fn location(&self) -> &Path {
        match self {
            Place::Folder(folder) => &folder.dir,
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.bucket.location(),
        }
    }

    /// A file of the plan, for errors.
    pub fn path(&self, name: &str) -> PathBuf {
        match self {
            Place::Folder(folder) => folder.dir.join(name),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.path(name),
        }
    }

    /// A file of a shard.
    pub fn shard_path(&self, name: &str) -> PathBuf {
        self.location().join(name)
    }

    /// From where to read shards.
    pub fn source(&self) -> Result<Source> {
        match self {
            Place::Folder(_) => Ok(Source::Local(Io::default())),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.remote().map(Source::Remote),
        }
    }

    /// The folder on this machine in which the working folders of attempts are. `scratch` is for plans that are not on
    /// file systems.
    #[cfg_attr(not(feature = "remote"), expect(unused_variables, reason = "only object storage needs it"))]
    pub fn attempts(&self, scratch: Option<&Path>, plan: &str) -> Result<PathBuf> {
        match self {
            Place::Folder(_) if scratch.is_some() => {
                let e = Error::usage("a plan in a folder has its working folders there").file(self.location());
                Err(e.hint(crate::Hint::Unset("scratch")))
            }
            Place::Folder(folder) => Ok(folder.dir.join("attempts")),
            // Another plan may have been here before.
            #[cfg(feature = "remote")]
            Place::Bucket(_) => Ok(self.scratch(scratch)?.join(&plan[..16])),
        }
    }

    #[cfg(feature = "remote")]
    fn scratch(&self, given: Option<&Path>) -> Result<PathBuf> {
        Ok(crate::upload::own_folder_for(given, self.location())?.join("parts"))
    }

    /// Whether a file of the plan shows that an attempt died: where attempts on other machines leave no mark.
    pub fn has_marks(&self) -> bool {
        matches!(self, Place::Folder(_))
    }

    /// The number of files to ask for at a time.
    pub fn at_once(&self) -> usize {
        match self {
            Place::Folder(_) => 1,
            #[cfg(feature = "remote")]
            Place::Bucket(_) => 64,
        }
    }

    /// Where to write the list of videos of a new plan, before it has its name there, and a lock to hold meanwhile.
    #[cfg_attr(not(feature = "remote"), expect(unused_variables, reason = "only object storage needs it"))]
    pub fn draft(&self, scratch: Option<&Path>) -> Result<(FolderLock, PathBuf)> {
        match self {
            Place::Folder(folder) => folder.draft(),
            #[cfg(feature = "remote")]
            Place::Bucket(_) => InBucket::draft(&self.scratch(scratch)?),
        }
    }

    /// The name that the list of videos gets, if it is not [`JOBS`].
    #[cfg_attr(not(feature = "remote"), expect(unused_variables, reason = "only object storage needs it"))]
    pub fn name_of(&self, jobs: &mut AtomicFile) -> Result<Option<String>> {
        match self {
            Place::Folder(_) => Ok(None),
            #[cfg(feature = "remote")]
            Place::Bucket(_) => InBucket::name_of(jobs).map(Some),
        }
    }

    /// Puts a plan there, its own file last. It is fine if the same is there.
    pub fn put_plan(&self, jobs: (&str, AtomicFile), plan: &impl Serialize) -> Result<()> {
        let bytes = to_bytes(plan)?;
        if let Some(there) = self.read(PLAN)? {
            jobs.1.discard();
            return self.is_same(&there, &bytes);
        }
        match self {
            Place::Folder(folder) => folder.put_plan(jobs.1, &bytes),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => {
                bucket.put_jobs(jobs.0, jobs.1)?;
                if bucket.put_once(PLAN, bytes.clone())? {
                    return Ok(());
                }
                self.is_same(&self.read(PLAN)?.unwrap_or_default(), &bytes)
            }
        }
    }

    /// Refuses a plan where another one is.
    fn is_same(&self, there: &[u8], plan: &[u8]) -> Result<()> {
        if there == plan {
            return Ok(());
        }
        Err(Error::usage("another plan is here already")
            .file(self.path(PLAN))
            .help("plan into another folder, or remove this one if its parts are of no use any more"))
    }

    /// The bytes of a file; `None` if there is none.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        match self {
            Place::Folder(folder) => folder.read(name),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.read(name),
        }
    }

    /// What a file says; `None` if there is none.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let unknown =
            |e| Error::usage("this is not what this version of vidrec writes there").file(self.path(name)).found(e);
        serde_json::from_slice(&bytes).map(Some).map_err(unknown)
    }

    /// A range of a file.
    pub fn read_range(&self, name: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        match self {
            Place::Folder(folder) => folder.read_range(name, start, length),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.read_range(name, start, length),
        }
    }

    /// Puts a file there, in place of one of this name. Of several attempts that do so, the last one counts.
    pub fn put(&self, name: &str, attempt: u32, value: &impl Serialize) -> Result<()> {
        let bytes = to_bytes(value)?;
        match self {
            Place::Folder(folder) => folder.put(name, attempt, &bytes),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.put(name, bytes),
        }
    }

    /// Puts a file there if there is none. Returns whether it did: of several that try, one does.
    pub fn put_once(&self, name: &str, attempt: u32, value: &impl Serialize) -> Result<bool> {
        let bytes = to_bytes(value)?;
        match self {
            Place::Folder(folder) => folder.put_once(name, attempt, &bytes),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.put_once(name, bytes),
        }
    }

    /// Removes a file. It is fine if there is none.
    pub fn remove(&self, name: &str) -> Result<()> {
        match self {
            Place::Folder(folder) => folder.remove(name),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.remove(name),
        }
    }

    /// Takes complete files of shards, each with the name that it gets there. Calls `told` while that takes long.
    pub fn take(&self, files: &[(PathBuf, String)], attempt: u32, told: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        match self {
            Place::Folder(folder) => folder.take(files, attempt, told),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.take(files, told),
        }
    }

    /// Removes what is left of an attempt on this machine but is in nobody's way.
    pub fn tidy(&self, attempts: &Path) {
        if !self.has_marks() {
            whole_folder::remove_if_empty(attempts);
            attempts.ancestors().skip(1).take(2).for_each(whole_folder::remove_if_empty);
        }
    }

    /// How long ago a file was written, by the clock that gives files their times; `None` if there is none.
    pub fn age(&self, name: &str, now: SystemTime) -> Result<Option<Duration>> {
        match self {
            Place::Folder(folder) => Ok(folder.age(name, now)),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.age(name, now),
        }
    }

    /// The time of the clock that gives files their times: machines have clocks of their own. Where no file can be
    /// created, the time of this machine's clock.
    pub fn now(&self) -> SystemTime {
        match self {
            Place::Folder(folder) => folder.now(),
            #[cfg(feature = "remote")]
            Place::Bucket(bucket) => bucket.now(),
        }
    }
}

/// A value as the text of a file.
pub(super) fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| Error::internal(format!("JSON: {e}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

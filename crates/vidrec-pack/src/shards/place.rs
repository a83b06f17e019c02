//! Where a plan and its shards are: in the folder of the data set, or at its location in object storage.
//!
//! Attempts on several machines use a place at once, so every file appears as a whole.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use vidrec_core::dataset::{Io, Source};
use vidrec_core::store::disk::publication::sha256_of;
use vidrec_core::store::disk::regular_file::{Links, open_regular, read_if_there, refuse_link};
use vidrec_core::store::disk::{
    AtomicFile, FolderLock, Temporary, folder, name_once, remove_file, sync_folder, write_file,
};
use vidrec_core::store::location::is_remote;
use vidrec_core::store::remote::{Bucket, Remote};
use vidrec_core::store::storage::Storage;
use vidrec_core::transfer::upload::own_folder_for;
use vidrec_format::error::{Error, Hint, Result};
use vidrec_format::file_name;
use vidrec_format::file_name::FileName;

/// The file that makes a folder a plan, which is written last.
pub(super) const PLAN: &str = "plan.json";

/// The most bytes of `plan.json` or of a receipt.
const MOST: u64 = 1 << 30;

/// The place of a plan and its shards.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The folder or location of the data set.
    pub out: PathBuf,
    /// The object storage, if the data set is there.
    pub bucket: Option<Bucket>,
    pub storage: Storage,
}

impl Place {
    /// Returns the place of the plan whose parts become the data set at a location.
    pub fn of(out: &Path, storage: &Storage) -> Result<Self> {
        let storage = Storage { cache: None, ..storage.clone() };
        let bucket = is_remote(out).then(|| Bucket::open(out, &storage)).transpose()?;
        let place = Place { out: out.to_owned(), bucket, storage };
        if place.bucket.is_none() {
            refuse_link(&place.folder())?;
        }
        Ok(place)
    }

    /// Returns the folder of the plan.
    fn folder(&self) -> PathBuf {
        self.out.join(file_name::PACK)
    }

    /// Returns the path of a file of the plan.
    pub fn path(&self, name: &str) -> PathBuf {
        self.bucket.as_ref().map_or_else(|| self.folder().join(name), |bucket| bucket.path(&own(name)))
    }

    /// Returns the path of a file of a shard. In a folder, it moves to the data set at the end.
    pub fn shard_path(&self, name: &FileName) -> PathBuf {
        let (path, moved) = (self.folder().join(name), self.out.join(name));
        if self.bucket.is_some() || (!path.exists() && moved.exists()) { moved } else { path }
    }

    /// Returns the source from which to read shards.
    pub fn source(&self) -> Result<Source> {
        match &self.bucket {
            None => Ok(Source::Local(Io::default())),
            Some(_) => Remote::new(&self.storage).map(Source::Remote),
        }
    }

    /// Returns the folder on this machine with the working folders of processes. `scratch` is for data sets that are
    /// not on a file system.
    pub fn attempts(&self, scratch: Option<&Path>, plan: &str) -> Result<PathBuf> {
        match &self.bucket {
            None if scratch.is_some() => {
                let e = Error::usage("a pack into a folder works there").file(&self.out);
                Err(e.hint(Hint::Unset("scratch")))
            }
            None => Ok(self.folder().join("attempts")),
            // Another plan may have been here before, so the folder is named for this one.
            Some(_) => Ok(self.scratch(scratch)?.join(&plan[..16])),
        }
    }

    fn scratch(&self, given: Option<&Path>) -> Result<PathBuf> {
        Ok(own_folder_for(given, &self.out)?.join("parts"))
    }

    /// Removes leftover folders of processes on this machine that are empty.
    pub fn tidy(&self, attempts: &Path) {
        folder::remove_if_empty(attempts);
        if self.bucket.is_some() {
            attempts.ancestors().skip(1).take(2).for_each(folder::remove_if_empty);
        }
    }

    /// Returns the number of files to ask for at a time.
    pub fn at_once(&self) -> usize {
        if self.bucket.is_some() { 64 } else { 1 }
    }

    /// Returns the file in which to write the list of videos of a new plan at first, and a lock to hold meanwhile.
    pub fn draft(&self, scratch: Option<&Path>) -> Result<(FolderLock, PathBuf)> {
        let folder = if self.bucket.is_some() { self.scratch(scratch)? } else { self.folder() };
        Ok((FolderLock::take(&folder)?, folder.join("jobs.jsonl")))
    }

    /// Puts a plan in its place, with `plan.json` last. It is not an error if the same plan exists already.
    pub fn put_plan(&self, (name, mut jobs): (&str, Temporary), plan: &impl Serialize) -> Result<()> {
        let bytes = to_bytes(plan)?;
        if let Some(there) = self.read(PLAN)? {
            return self.is_same(&there, &bytes);
        }
        match &self.bucket {
            None => {
                // The folder for receipts. Those of a plan that is gone are of no other one.
                folder::remove(&self.path("parts"))?;
                folder::create(&self.path("parts"))?;
                jobs.rename(&self.path(name))?;
                write_file(&self.path(PLAN), &bytes)
            }
            Some(bucket) => {
                let uploaded = bucket.upload(&own(name), &jobs.path, &|_| Ok(()), &mut |_| Ok(()));
                uploaded?;
                if bucket.put_if(&own(PLAN), bytes.clone(), None)? {
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
        match &self.bucket {
            None => read_if_there(&self.path(name), MOST, Links::Refuse),
            Some(bucket) => Ok(bucket.read(&own(name), MOST)?.map(|(bytes, _)| bytes)),
        }
    }

    /// Returns whether a file exists in object storage.
    pub fn has(bucket: &Bucket, name: &str) -> Result<bool> {
        Ok(bucket.look(&own(name))?.is_some())
    }

    /// Returns the parsed contents of a file, or `None` if it does not exist.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let unknown = |e| Error::usage("this version of vidrec did not write this file").file(self.path(name)).found(e);
        serde_json::from_slice(&bytes).map(Some).map_err(unknown)
    }

    /// Returns a range of a file.
    pub fn read_range(&self, name: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        let (path, mut bytes) = (self.path(name), Vec::new());
        if let Some(bucket) = &self.bucket {
            bytes = bucket.read_range(&own(name), start, length)?;
        } else {
            let mut file = open_regular(&path, Links::Refuse)?;
            let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.take(length).read_to_end(&mut bytes));
            read.map_err(|e| Error::io("read the file", &path, e))?;
        }
        if bytes.len() as u64 != length {
            return Err(Error::usage("the file is shorter than the plan says")
                .file(path)
                .expected(format!("{length} bytes from byte {start}"))
                .found(format!("{} bytes", bytes.len())));
        }
        Ok(bytes)
    }

    /// Writes a file if none of this name exists. Returns whether it did: of several attempts, one succeeds.
    pub fn put_once(&self, name: &str, attempt: u32, value: &impl Serialize) -> Result<bool> {
        let bytes = to_bytes(value)?;
        if let Some(bucket) = &self.bucket {
            return bucket.put_if(&own(name), bytes, None);
        }
        let path = self.path(&format!("{name}.{attempt}"));
        write_file(&path, &bytes)?;
        name_once(&path, &self.path(name))
    }

    /// Takes the complete files of a shard, each with its name in this place. A file of the same name is replaced: it has
    /// the same contents, unless it is damaged. Calls `told` repeatedly if that takes long.
    pub fn take(&self, files: Vec<(Temporary, FileName)>, told: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        if let Some(bucket) = &self.bucket {
            return files
                .iter()
                .try_for_each(|(file, name)| bucket.upload(name, &file.path, &|_| Ok(()), &mut |_| told()));
        }
        files.into_iter().try_for_each(|(mut file, name)| file.rename(&self.path(&name)))?;
        sync_folder(&self.folder())
    }

    /// Removes a file. It is not an error if it does not exist.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.bucket.as_ref().map_or_else(|| remove_file(&self.path(name)), |bucket| bucket.remove(&own(name)))
    }

    /// Removes the folder of a plan, with `plan.json` first: a folder without it has no plan, whatever else is left.
    pub fn remove_folder(&self) -> Result<()> {
        remove_file(&self.path(PLAN))?;
        folder::remove(&self.folder())
    }
}

/// Returns the name of a file of the plan at the location of a data set.
fn own(name: &str) -> String {
    format!("{}/{name}", file_name::PACK)
}

/// Returns the name of a list of videos, with digits of its digest, so that two planners cannot replace each other's
/// lists.
pub(super) fn name_of_jobs(jobs: &AtomicFile) -> Result<String> {
    Ok(file_name::with_digest("jobs", &sha256_of(&jobs.temporary.path)?, "jsonl"))
}

/// Returns a value as the text of a file.
fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| Error::internal(format!("JSON: {e}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The most processes that pack shards of a plan at the same time in one folder.
const MOST_ATTEMPTS: u32 = 1024;

/// A working folder that only this process uses.
pub(super) struct Attempt {
    pub number: u32,
    pub dir: PathBuf,
    lock: FolderLock,
}

impl Attempt {
    /// Takes the first working folder that no process uses. What a killed process left there is removed.
    pub fn begin(attempts: &Path) -> Result<Self> {
        for number in 1..=MOST_ATTEMPTS {
            let dir = attempts.join(number.to_string());
            let Some(lock) = FolderLock::try_take(&dir)? else { continue };
            let attempt = Attempt { number, dir, lock };
            folder::remove(&attempt.shard())?;
            folder::create(&attempt.shard())?;
            return Ok(attempt);
        }
        Err(Error::usage(format!("{MOST_ATTEMPTS} processes already pack shards of this plan")).file(attempts))
    }

    /// Returns the folder of the open shard.
    pub fn shard(&self) -> PathBuf {
        self.dir.join("shard")
    }

    /// Removes the working folder. The lock goes last, so no other process begins here before.
    pub fn remove(self) -> Result<()> {
        folder::remove(&self.shard())?;
        drop(self.lock);
        // Another process may have begun here in the meantime.
        folder::remove_if_empty(&self.dir);
        Ok(())
    }
}

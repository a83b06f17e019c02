//! The files of a plan in object storage. Attempts pack on the disks of their machines and then upload the result.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::folder::{JOBS, MOST};
use vidrec_format::error::Result;
use vidrec_format::file_name::FileName;
use vidrec_format::names;
use vidrec_store::disk::{AtomicFile, FolderLock, Temporary};
use vidrec_store::remote::{Bucket, Remote};
use vidrec_store::storage::Storage;

/// A plan's folder in object storage.
#[derive(Debug, Clone)]
pub(super) struct InBucket {
    /// The folder of the shards.
    pub bucket: Bucket,
    pub storage: Storage,
    /// The start of the names of all other files.
    prefix: String,
}

impl InBucket {
    pub fn open(location: &Path, storage: &Storage) -> Result<Self> {
        let storage = Storage { cache: None, ..storage.clone() };
        Ok(InBucket { bucket: Bucket::open(location, &storage)?, storage, prefix: String::new() })
    }

    /// Returns the place of a plan whose parts become the data set at `location`. The plan is removed when the
    /// pack ends.
    pub fn within(location: &Path, storage: &Storage) -> Result<Self> {
        Ok(InBucket { prefix: format!("{}/", names::PACK), ..Self::open(location, storage)? })
    }

    fn own(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.bucket.path(&self.own(name))
    }

    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.bucket.read(&self.own(name), MOST)?.map(|(bytes, _)| bytes))
    }

    pub fn read_range(&self, name: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        self.bucket.read_range(&self.own(name), start, length)
    }

    pub fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        self.bucket.put(&self.own(name), bytes)
    }

    pub fn put_once(&self, name: &str, bytes: Vec<u8>) -> Result<bool> {
        self.bucket.put_once(&self.own(name), bytes)
    }

    pub fn remove(&self, name: &str) -> Result<()> {
        self.bucket.remove(&self.own(name))
    }

    /// Returns the local file in which to write the list of videos before its upload, and the lock of its folder.
    pub fn draft(scratch: &Path) -> Result<(FolderLock, PathBuf)> {
        Ok((FolderLock::take(scratch)?, scratch.join(JOBS)))
    }

    /// Returns the name of a list of videos, with digits of its digest, so that two planners cannot replace each
    /// other's lists.
    pub fn name_of(jobs: &mut AtomicFile) -> Result<String> {
        Ok(names::with_digest("jobs", &jobs.sha256()?, "jsonl"))
    }

    /// Uploads a list of videos. A list that exists under this name already is the same.
    pub fn put_jobs(&self, name: &str, jobs: AtomicFile) -> Result<()> {
        let jobs = jobs.seal();
        let uploaded = self.bucket.upload(&self.own(name), jobs.path(), &mut |_| Ok(()));
        jobs.discard();
        uploaded
    }

    /// Uploads complete files. A file of the same name is replaced: it has the same contents, unless it is
    /// damaged.
    pub fn take(&self, files: &[(Temporary, FileName)], told: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        files.iter().try_for_each(|(file, name)| self.bucket.upload(name, file.path(), &mut |_| told()))
    }

    /// Returns how long ago a file was written, by the server's clock.
    pub fn age(&self, name: &str, now: SystemTime) -> Result<Option<Duration>> {
        let found = self.bucket.look(&self.own(name))?;
        Ok(found.map(|found| now.duration_since(found.changed).unwrap_or_default()))
    }

    /// Returns the server's time, which is that of an empty object written for this purpose.
    pub fn now(&self) -> SystemTime {
        let here = SystemTime::now();
        let nanos = here.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let name = format!("parts/clock-{}-{nanos}", std::process::id());
        let there = self.put(&name, Vec::new()).and_then(|()| self.bucket.look(&self.own(&name)));
        // This is best effort, so a caller who may only read gets an answer too.
        let _ = self.remove(&name);
        there.ok().flatten().map_or(here, |found| found.changed)
    }

    /// Returns the connection for reading shards.
    pub fn remote(&self) -> Result<std::sync::Arc<Remote>> {
        Remote::new(&self.storage)
    }
}

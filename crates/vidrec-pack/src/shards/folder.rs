//! The files of a plan in a folder, which several machines may share.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use vidrec_format::error::{Error, Result};
use vidrec_format::file_name::FileName;
use vidrec_store::disk::regular_file::{Links, open_regular, read_if_there};
use vidrec_store::disk::{
    AtomicFile, FolderLock, Temporary, give_name, name_instead, name_once, remove_file, sync_folder, whole_folder,
    write_file,
};

pub(super) use vidrec_format::names::{PLAN, PLANNED_JOBS as JOBS};

/// The most bytes of `plan.json` or of a receipt.
pub(super) const MOST: u64 = 1 << 30;

/// The folder of a plan.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub dir: PathBuf,
}

impl Folder {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        read_if_there(&self.path(name), MOST, Links::Refuse)
    }

    pub fn read_range(&self, name: &str, start: u64, length: u64) -> Result<Vec<u8>> {
        let path = self.path(name);
        let mut bytes = Vec::new();
        let mut file = open_regular(&path, Links::Refuse)?;
        let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.take(length).read_to_end(&mut bytes));
        read.map_err(|e| Error::io("read the file", &path, e))?;
        if bytes.len() as u64 != length {
            return Err(Error::usage("the file is shorter than the plan says")
                .file(path)
                .expected(format!("{length} bytes from byte {start}"))
                .found(format!("{} bytes", bytes.len())));
        }
        Ok(bytes)
    }

    pub fn draft(&self) -> Result<(FolderLock, PathBuf)> {
        Ok((FolderLock::take(&self.dir)?, self.path(JOBS)))
    }

    pub fn put_plan(&self, jobs: AtomicFile, plan: &[u8]) -> Result<()> {
        // The folder for receipts and notes.
        whole_folder::create(&self.path("parts"))?;
        jobs.publish()?;
        write_file(&self.path(PLAN), plan)
    }

    pub fn put(&self, name: &str, attempt: u32, bytes: &[u8]) -> Result<()> {
        let (own, path) = (self.path(&format!("{name}.{attempt}")), self.path(name));
        write_file(&own, bytes)?;
        name_instead(&own, &path)
    }

    pub fn put_once(&self, name: &str, attempt: u32, bytes: &[u8]) -> Result<bool> {
        let own = self.path(&format!("{name}.{attempt}"));
        write_file(&own, bytes)?;
        name_once(&own, &self.path(name))
    }

    pub fn remove(&self, name: &str) -> Result<()> {
        remove_file(&self.path(name))
    }

    pub fn take(&self, files: &[(Temporary, FileName)], attempt: u32) -> Result<()> {
        files.iter().try_for_each(|(file, name)| give_name(file.path(), &self.path(name), attempt))?;
        sync_folder(&self.dir)
    }

    pub fn age(&self, name: &str, now: SystemTime) -> Option<Duration> {
        let written = fs::metadata(self.path(name)).and_then(|meta| meta.modified()).ok()?;
        // A file that was written after `now` was taken has the age 0.
        Some(now.duration_since(written).unwrap_or_default())
    }

    /// Returns the time of the file system, which is that of an empty file written for this purpose.
    pub fn now(&self) -> SystemTime {
        let here = SystemTime::now();
        let nanos = here.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let path = self.path(&format!("parts/clock-{}-{nanos}", std::process::id()));
        let there =
            write_file(&path, b"").ok().and_then(|()| fs::metadata(&path).and_then(|meta| meta.modified()).ok());
        // This is best effort: an empty file that stays does not belong to any part.
        let _ = remove_file(&path);
        there.unwrap_or(here)
    }
}

//! The files of a plan's folder.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk::{name_instead, name_once, remove_file, whole_folder, write_file};
use crate::{Error, Result};

pub(super) use crate::format::names::{PLAN, PLANNED_JOBS as JOBS};

/// The most bytes of `plan.json`, or of a receipt.
const MOST: u64 = 1 << 30;

/// A plan's folder. Attempts on several machines use it at once, so every file appears whole.
#[derive(Debug, Clone)]
pub(super) struct PlanFolder {
    pub dir: PathBuf,
}

impl PlanFolder {
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where attempt `attempt` of a part packs.
    pub fn work(&self, part: u32, attempt: u32) -> PathBuf {
        self.dir.join(format!("attempts/{part:05}-{attempt}"))
    }

    /// The bytes of a file; `None` if there is none.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path(name);
        let io = |e| Error::io("read the file", &path, e);
        let file = match fs::File::open(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(io)?,
        };
        let mut bytes = Vec::new();
        let read = file.take(MOST + 1).read_to_end(&mut bytes).map_err(io)?;
        if read as u64 > MOST {
            return Err(Error::usage("the file is too long for what its name says").file(path).found(read));
        }
        Ok(Some(bytes))
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
        let path = self.path(name);
        let mut bytes = Vec::new();
        let read = fs::File::open(&path).and_then(|mut file| {
            file.seek(SeekFrom::Start(start))?;
            file.take(length).read_to_end(&mut bytes)
        });
        read.map_err(|e| Error::io("read the file", &path, e))?;
        if bytes.len() as u64 != length {
            return Err(Error::usage("the file is shorter than the plan says")
                .file(path)
                .expected(format!("{length} bytes from byte {start}"))
                .found(format!("{} bytes", bytes.len())));
        }
        Ok(bytes)
    }

    /// Makes the folders that the files of attempts are in.
    pub fn make(&self) -> Result<()> {
        whole_folder::create(&self.path("parts"))
    }

    /// Puts a file there, in place of one of this name. Of several attempts that do so, the last one counts.
    pub fn put(&self, name: &str, attempt: u32, value: &impl Serialize) -> Result<()> {
        let (own, path) = (self.path(&format!("{name}.{attempt}")), self.path(name));
        write_file(&own, &to_bytes(value)?)?;
        name_instead(&own, &path)
    }

    /// Puts a file there if there is none. Returns whether it did: of several that try, one does.
    pub fn put_once(&self, name: &str, attempt: u32, value: &impl Serialize) -> Result<bool> {
        let own = self.path(&format!("{name}.{attempt}"));
        write_file(&own, &to_bytes(value)?)?;
        name_once(&own, &self.path(name))
    }

    /// Removes a file. It is fine if there is none.
    pub fn remove(&self, name: &str) -> Result<()> {
        remove_file(&self.path(name))
    }

    /// How long ago a file was written, by the clock of the file system that has it; `None` if there is none.
    pub fn age(&self, name: &str, now: SystemTime) -> Option<Duration> {
        let written = fs::metadata(self.path(name)).and_then(|meta| meta.modified()).ok()?;
        // Written after `now` was taken.
        Some(now.duration_since(written).unwrap_or_default())
    }

    /// The time of the clock that gives files their times: machines that share a folder have clocks of their own. Where
    /// no file can be created, the time of this machine's clock.
    pub fn now(&self) -> SystemTime {
        let here = SystemTime::now();
        let nanos = here.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let path = self.path(&format!("parts/clock-{}-{nanos}", std::process::id()));
        let there =
            write_file(&path, b"").ok().and_then(|()| fs::metadata(&path).and_then(|meta| meta.modified()).ok());
        // Best effort: an empty file that stays is no file of a part.
        let _ = remove_file(&path);
        there.unwrap_or(here)
    }
}

fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| Error::internal(format!("JSON: {e}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

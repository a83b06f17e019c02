//! Gives a decoding process what it needs for its video: files and bytes of this video, and room in memory. A
//! process that a hostile video has taken over can ask for anything, but it gets nothing else.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::failure::{ClipFailure, PackStage};
use super::memory::{MemoryBound, MemoryShare};
use super::video_store::VideoStore;
use super::wire::{Given, Want};
use super::worker_requests::names;
use crate::plan::Job;
use crate::video::{Stage, VideoFile, VideoSource, open_regular};
use vidrec_core::store::location::is_remote;
use vidrec_format::error::Error;

/// The most bytes of a remote video that are handed over at a time.
const MOST_BYTES: u32 = 1 << 20;

/// Answers the requests of a process that packs one video.
pub(super) struct Granter<'a> {
    job: &'a Job,
    store: &'a VideoStore,
    memory: &'a MemoryBound,
    share: Option<MemoryShare<'a>>,
    /// The bytes of memory that the process asked for.
    pub needed: u64,
    pictures: Vec<PathBuf>,
    /// The remote videos that are open.
    objects: BTreeMap<PathBuf, VideoSource>,
}

impl<'a> Granter<'a> {
    pub fn new(job: &'a Job, store: &'a VideoStore, memory: &'a MemoryBound) -> Self {
        Granter { job, store, memory, share: None, needed: 0, pictures: Vec::new(), objects: BTreeMap::new() }
    }

    /// Returns the answer, the file that goes with it, and the bytes that follow it.
    pub fn give(&mut self, want: Want) -> (Given, Option<File>, Option<Vec<u8>>) {
        match want {
            Want::File(path) => {
                let (given, file) = self.file(Path::new(&path));
                (given, file, None)
            }
            Want::Bytes { path, at, count } => match self.bytes(Path::new(&path), at, count.min(MOST_BYTES)) {
                Ok(bytes) => (Given::Bytes, None, Some(bytes)),
                Err(failure) => (Given::Failed(failure), None, None),
            },
            Want::Pictures(folder) => {
                (self.list_pictures(Path::new(&folder)).unwrap_or_else(Given::Failed), None, None)
            }
            Want::Object(path) => (self.open_object(Path::new(&path)).unwrap_or_else(Given::Failed), None, None),
            Want::Memory(bytes) => {
                // A holder of a share must not wait for another one.
                self.share = None;
                self.needed = bytes;
                self.share = Some(self.memory.share(bytes));
                (Given::Room, None, None)
            }
        }
    }

    /// Whether the job names this path.
    fn is_named(&self, path: &Path) -> bool {
        path == self.job.path || self.job.tracks.iter().flat_map(|row| row.files()).any(|file| file == path)
    }

    fn file(&self, path: &Path) -> (Given, Option<File>) {
        let is_own = self.is_named(path) || self.pictures.iter().any(|picture| picture == path);
        if !is_own || is_remote(path) {
            return (Given::NoFile, None);
        }
        match open_regular(path) {
            Ok(Some((file, length))) => (Given::File(length), Some(file)),
            Ok(None) => (Given::NoFile, None),
            Err(e) => (Given::SystemError(e.raw_os_error().unwrap_or_default()), None),
        }
    }

    fn list_pictures(&mut self, folder: &Path) -> Result<Given, ClipFailure> {
        if !self.is_named(folder) || is_remote(folder) {
            return Err(nothing_open());
        }
        let pictures = self.store.pictures(folder)?;
        if !self.pictures.iter().any(|known| known.parent() == Some(folder)) {
            self.pictures.extend(pictures.iter().cloned());
        }
        Ok(Given::Pictures(names(pictures)))
    }

    fn open_object(&mut self, path: &Path) -> Result<Given, ClipFailure> {
        if !self.is_named(path) || !is_remote(path) {
            return Err(nothing_open());
        }
        let video: VideoFile = self.store.file(path)?;
        let source = video.open()?;
        let given = Given::Object { bytes: source.bytes, kept: video.kept_bytes() };
        self.objects.insert(path.to_owned(), source);
        Ok(given)
    }

    fn bytes(&mut self, path: &Path, at: u64, count: u32) -> Result<Vec<u8>, ClipFailure> {
        let source = self.objects.get_mut(path).ok_or_else(nothing_open)?;
        let mut bytes = vec![0; count as usize];
        let read = source.seek(SeekFrom::Start(at)).and_then(|_| source.read(&mut bytes));
        // A network error that `read` has noted takes precedence.
        source.failure.check(Stage::Decode)?;
        let read = read.map_err(|e| not_read(path, e))?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

fn not_read(path: &Path, e: io::Error) -> ClipFailure {
    ClipFailure::of_video(Stage::Decode, Error::io("read the video", path, e))
}

fn nothing_open() -> ClipFailure {
    ClipFailure::new(PackStage::Crash, "its process asked to read a file that is not open")
}

//! Asks the run for files and memory, because a decoding process may open nothing itself.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use super::failure::{ClipFailure, PackStage};
use super::wire::{self, Given, Want};
use crate::video::{OpenVideo, Readable, Stage, VideoFile, open_regular};
use vidrec_core::store::location::is_remote;
use vidrec_format::error::Error;

/// What the run sent: the message, the file beside it, and the bytes after it.
pub(crate) type Gift = (Given, Option<File>, Vec<u8>);

/// The connection to the run.
pub(crate) struct Line {
    calls: Mutex<Calls>,
}

struct Calls {
    out: Box<dyn Write + Send>,
    gifts: Receiver<Gift>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}

impl Line {
    pub fn new(out: Box<dyn Write + Send>, gifts: Receiver<Gift>) -> Arc<Self> {
        Arc::new(Line { calls: Mutex::new(Calls { out, gifts }) })
    }

    /// Sends a message to the run.
    pub fn say<T>(&self, say: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        say(&mut self.calls.lock().unwrap_or_else(PoisonError::into_inner).out)
    }

    fn ask(&self, want: Want) -> io::Result<Gift> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        wire::send_want(&mut calls.out, want)?;
        // If the run has ended, this process ends too.
        calls.gifts.recv().map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }

    /// Waits until there is room for this many bytes of memory.
    pub fn room(&self, bytes: u64) {
        let _ = self.ask(Want::Memory(bytes));
    }

    /// Returns a file of this machine and its length; `None` if it is not a regular file.
    pub fn file(&self, path: &Path) -> io::Result<Option<(File, u64)>> {
        match self.ask(Want::File(path.into()))? {
            (Given::File(length), Some(file), _) => Ok(Some((file, length))),
            // A system that cannot pass files between processes cannot confine a process either.
            (Given::File(_), None, _) if cfg!(not(unix)) => open_regular(path),
            // The file did arrive, but this process may not have more files open.
            #[cfg(unix)]
            (Given::File(_), None, _) => Err(io::Error::from_raw_os_error(libc::EMFILE)),
            (Given::NoFile, ..) => Ok(None),
            (Given::SystemError(code), ..) => Err(io::Error::from_raw_os_error(code)),
            (other, ..) => Err(unexpected(&other)),
        }
    }

    /// Returns the images of a folder.
    pub fn pictures(&self, folder: &Path) -> Result<Vec<PathBuf>, ClipFailure> {
        match self.ask(Want::Pictures(folder.into())).map_err(not_answered)? {
            (Given::Pictures(paths), ..) => Ok(paths.into_iter().map(PathBuf::from).collect()),
            (Given::Failed(failure), ..) => Err(failure),
            (other, ..) => Err(not_answered(unexpected(&other))),
        }
    }

    /// Opens the video. A remote one is then open in the run.
    pub fn video(self: &Arc<Self>, path: &Path) -> Result<VideoFile, ClipFailure> {
        let object =
            match is_remote(path).then(|| self.ask(Want::Object(path.into()))).transpose().map_err(not_answered)? {
                None => None,
                Some((Given::Object { bytes, kept }, ..)) => Some((bytes, kept)),
                Some((Given::Failed(failure), ..)) => return Err(failure),
                Some((other, ..)) => return Err(not_answered(unexpected(&other))),
            };
        Ok(VideoFile::elsewhere(path, Arc::new(AskedVideo { line: Arc::clone(self), object })))
    }
}

fn unexpected(given: &Given) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the run gave {given:?}"))
}

fn not_answered(e: io::Error) -> ClipFailure {
    ClipFailure::of(PackStage::Video(Stage::Open), &Error::io("ask the run", "standard input", e).without_file())
}

/// A video that the run opens.
#[derive(Debug)]
struct AskedVideo {
    line: Arc<Line>,
    /// For a remote video: its size in bytes, and how many of them are kept in memory.
    object: Option<(u64, u64)>,
}

impl OpenVideo for AskedVideo {
    fn open(&self, path: &Path) -> io::Result<Option<(Box<dyn Readable>, u64)>> {
        let Some((bytes, _)) = self.object else {
            return Ok(self.line.file(path)?.map(|(file, length)| (Box::new(file) as _, length)));
        };
        Ok(Some((Box::new(AskedObject { line: Arc::clone(&self.line), path: path.into(), at: 0, bytes }), bytes)))
    }

    fn kept_bytes(&self) -> u64 {
        self.object.map_or(0, |(_, kept)| kept)
    }
}

/// A place in a remote video that the run reads.
struct AskedObject {
    line: Arc<Line>,
    path: OsString,
    at: u64,
    bytes: u64,
}

impl Read for AskedObject {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        match self.line.ask(Want::Bytes { path: self.path.clone(), at: self.at, count })? {
            (Given::Bytes, _, bytes) if bytes.len() <= buffer.len() => {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                self.at += bytes.len() as u64;
                Ok(bytes.len())
            }
            (Given::Failed(failure), ..) => Err(io::Error::other(failure.into_cause())),
            (other, ..) => Err(unexpected(&other)),
        }
    }
}

impl Seek for AskedObject {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Converts paths to the form that messages use.
pub(super) fn names(paths: Vec<PathBuf>) -> Vec<OsString> {
    paths.into_iter().map(PathBuf::into_os_string).collect()
}

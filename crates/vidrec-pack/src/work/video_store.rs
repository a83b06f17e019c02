//! Opens videos on this machine, in object storage or on web servers.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use super::failure::{ClipFailure, PackStage};
use super::open_videos::OpenVideos;
use super::worker_requests::Line;
use crate::plan;
use crate::video::{Stage, VideoFile, open_regular};
use vidrec_core::store::location::is_remote;
use vidrec_core::store::remote::{KEPT_BYTES, Opening, Remote, check_location};
use vidrec_core::store::storage::Storage;
use vidrec_format::error::{Error, Result};

/// How much of a remote video is fetched when it is opened. That is all of a short one. The next videos are opened
/// while others are being decoded, so no decoder waits for a round trip.
const HEAD_BYTES: u64 = 4 << 20;

/// Opens videos, wherever they are. The clients for remote videos are created when the first one is opened.
#[derive(Debug)]
pub(crate) struct VideoStore {
    storage: Storage,
    /// The run that opens everything, if this process may open nothing.
    run: Option<Run>,
    remote: Mutex<Option<Arc<Remote>>>,
    /// The remote videos that will be opened soon.
    coming: Mutex<HashMap<PathBuf, Opening>>,
    /// The videos of which several clips are made.
    pub open: Arc<OpenVideos>,
}

/// The run that a process decodes for, and whether the current video is a folder of images.
#[derive(Debug)]
struct Run {
    line: Arc<Line>,
    folder: bool,
}

impl VideoStore {
    /// Creates a store that opens videos itself for so many threads, remote ones with the settings of `storage`.
    pub fn new(storage: &Storage, threads: usize) -> Self {
        let (remote, coming, open) = (Mutex::default(), Mutex::default(), Arc::new(OpenVideos::new(threads)));
        let memory_bytes = KEPT_BYTES.saturating_mul(threads as u64);
        VideoStore { storage: Storage { memory_bytes, ..storage.clone() }, run: None, remote, coming, open }
    }

    /// Creates a store that asks the run to open one video, which may be a `folder` of images.
    pub fn of_run(line: &Arc<Line>, folder: bool, open: &Arc<OpenVideos>) -> Self {
        let run = Some(Run { line: Arc::clone(line), folder });
        VideoStore { run, open: Arc::clone(open), ..VideoStore::new(&Storage::default(), 1) }
    }

    /// Whether a video is a folder of images.
    pub fn is_folder(&self, path: &Path) -> bool {
        match &self.run {
            Some(run) => run.folder,
            None => !is_remote(path) && path.is_dir(),
        }
    }

    /// Returns the images of a folder, in order.
    pub fn pictures(&self, folder: &Path) -> Result<Vec<PathBuf>, ClipFailure> {
        match &self.run {
            Some(run) => run.line.pictures(folder),
            None => {
                plan::pictures(folder).map_err(|e| ClipFailure::of(PackStage::Video(Stage::Open), &e.without_file()))
            }
        }
    }

    /// Opens a file of this machine and returns it with its length; `None` if it is not a regular file.
    pub fn open(&self, path: &Path) -> io::Result<Option<(File, u64)>> {
        match &self.run {
            Some(run) => run.line.file(path),
            None => open_regular(path),
        }
    }

    /// Opens a video. The first bytes of a remote one are then in memory.
    ///
    /// # Errors
    ///
    /// The object does not exist or cannot be reached.
    pub fn file(&self, path: &Path) -> Result<VideoFile, ClipFailure> {
        if let Some(run) = &self.run {
            return run.line.video(path);
        }
        if !is_remote(path) {
            return Ok(VideoFile::local(path));
        }
        self.object(path)
    }

    fn object(&self, path: &Path) -> Result<VideoFile, ClipFailure> {
        let failed = |e: Error| {
            let is_folder = path.extension().is_none() && !e.is_out_of_memory();
            let e = if is_folder { e.also_help("for the videos below a folder, end its location with /") } else { e };
            ClipFailure::of_video(Stage::Open, e)
        };
        check_location(path).map_err(failed)?;
        let known = self.lock_coming().remove(path);
        // If the location itself is valid, then options or credentials are wrong, which affects other videos too.
        let wrong = |e| ClipFailure { unreached: true, ..failed(e) };
        let opening = known.map_or_else(|| self.start(path), Ok).map_err(wrong)?;
        let object = opening.finish().map_err(failed)?;
        Ok(VideoFile::remote(path, Arc::new(object)))
    }

    /// Says that a video will be opened soon. Errors are reported when it is opened.
    pub fn expect(&self, path: &Path) {
        if is_remote(path) {
            let mut coming = self.lock_coming();
            if !coming.contains_key(path)
                && let Ok(opening) = self.start(path)
            {
                coming.insert(path.to_owned(), opening);
            }
        }
    }

    fn start(&self, path: &Path) -> Result<Opening> {
        let mut remote = self.remote.lock().unwrap_or_else(PoisonError::into_inner);
        let remote = match &*remote {
            Some(remote) => remote.clone(),
            None => remote.insert(Remote::new(&self.storage)?).clone(),
        };
        Opening::start_with(&remote, path, HEAD_BYTES)
    }

    fn lock_coming(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Opening>> {
        self.coming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

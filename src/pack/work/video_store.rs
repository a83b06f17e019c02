//! Where videos are: on this machine, in object storage or on web servers.

#[cfg(feature = "remote")]
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "remote")]
use std::sync::{Mutex, PoisonError};

use super::ask::Line;
use super::failure::{ClipFailure, PackStage};
#[cfg(not(feature = "remote"))]
use crate::Error;
#[cfg(feature = "remote")]
use crate::Result;
use crate::pack::plan;
#[cfg(feature = "remote")]
use crate::remote::{ObjectBytes, Opening, Remote, check_location};
use crate::video::{Stage, VideoFile, open_regular};
use crate::{Storage, is_remote};

/// What of a remote video comes when it is opened: all of a short one. The next videos are opened while others are decoded,
/// so whoever decodes one waits for no round trip.
#[cfg(feature = "remote")]
const HEAD_BYTES: u64 = 4 << 20;

/// Opens videos, wherever they are. The clients of remote ones are made when the first is opened.
#[derive(Debug)]
pub(crate) struct VideoStore {
    #[cfg(feature = "remote")]
    storage: Storage,
    /// Who opens all of it, if this process may open nothing.
    run: Option<Run>,
    #[cfg(feature = "remote")]
    remote: Mutex<Option<Arc<Remote>>>,
    /// Objects that will be opened soon.
    #[cfg(feature = "remote")]
    coming: Mutex<HashMap<PathBuf, Opening>>,
}

/// The run that a process decodes for, and whether the video in hand is a folder of pictures.
#[derive(Debug)]
struct Run {
    line: Arc<Line>,
    folder: bool,
}

impl VideoStore {
    /// Whoever has this opens videos itself; remote ones as `storage` says.
    #[cfg_attr(not(feature = "remote"), expect(unused_variables, reason = "only object storage needs it"))]
    pub fn new(storage: &Storage) -> Self {
        VideoStore {
            #[cfg(feature = "remote")]
            storage: storage.clone(),
            run: None,
            #[cfg(feature = "remote")]
            remote: Mutex::default(),
            #[cfg(feature = "remote")]
            coming: Mutex::default(),
        }
    }

    /// Has the run open one video, which may be a `folder` of pictures.
    pub fn of_run(line: &Arc<Line>, folder: bool) -> Self {
        let mut store = VideoStore::new(&Storage::default());
        store.run = Some(Run { line: Arc::clone(line), folder });
        store
    }

    /// Whether a video is a folder of pictures.
    pub fn is_folder(&self, path: &Path) -> bool {
        match &self.run {
            Some(run) => run.folder,
            None => !is_remote(path) && path.is_dir(),
        }
    }

    /// The pictures of a folder, in their order.
    pub fn pictures(&self, folder: &Path) -> Result<Vec<PathBuf>, ClipFailure> {
        match &self.run {
            Some(run) => run.line.pictures(),
            None => {
                plan::pictures(folder).map_err(|e| ClipFailure::of(PackStage::Video(Stage::Open), &e.without_file()))
            }
        }
    }

    /// Opens a file of this machine and says how long it is; `None` if it is no regular file.
    pub fn open(&self, path: &Path) -> io::Result<Option<(File, u64)>> {
        match &self.run {
            Some(run) => run.line.file(path),
            None => open_regular(path),
        }
    }

    /// A video. Of a remote one, the first bytes are there then.
    ///
    /// # Errors
    ///
    /// There is no such object, or it cannot be reached.
    pub fn file(&self, path: &Path) -> Result<VideoFile, ClipFailure> {
        if let Some(run) = &self.run {
            return run.line.video(path);
        }
        if !is_remote(path) {
            return Ok(VideoFile::local(path));
        }
        self.object(path)
    }

    #[cfg(not(feature = "remote"))]
    #[expect(clippy::unused_self, reason = "the other build uses it")]
    fn object(&self, _: &Path) -> Result<VideoFile, ClipFailure> {
        let e = Error::usage("this build of vidrec reads nothing remote").help("build it with the feature remote");
        Err(ClipFailure { unreached: true, ..ClipFailure::of_video(Stage::Open, e) })
    }

    #[cfg(feature = "remote")]
    fn object(&self, path: &Path) -> Result<VideoFile, ClipFailure> {
        let failed = |e| ClipFailure::of_video(Stage::Open, e);
        check_location(path).map_err(failed)?;
        let known = self.lock_coming().remove(path);
        // Where a location is sound, options or credentials are wrong, for other videos as well.
        let wrong = |e| ClipFailure { unreached: true, ..failed(e) };
        let opening = known.map_or_else(|| self.start(path), Ok).map_err(wrong)?;
        let object = opening.finish().map_err(failed)?;
        Ok(VideoFile::remote(path, ObjectBytes::new(object)))
    }

    /// Says that a video will be opened soon. Errors are found when it is.
    #[cfg_attr(not(feature = "remote"), expect(unused_variables, reason = "only object storage needs it"))]
    pub fn expect(&self, path: &Path) {
        #[cfg(feature = "remote")]
        if is_remote(path) {
            let mut coming = self.lock_coming();
            if !coming.contains_key(path)
                && let Ok(opening) = self.start(path)
            {
                coming.insert(path.to_owned(), opening);
            }
        }
    }

    #[cfg(feature = "remote")]
    fn start(&self, path: &Path) -> Result<Opening> {
        let mut remote = self.remote.lock().unwrap_or_else(PoisonError::into_inner);
        let remote = match &*remote {
            Some(remote) => remote.clone(),
            None => remote.insert(Remote::new(&self.storage)?).clone(),
        };
        Opening::start_with(&remote, path, HEAD_BYTES)
    }

    #[cfg(feature = "remote")]
    fn lock_coming(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Opening>> {
        self.coming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

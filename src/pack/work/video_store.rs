//! Where videos are: on this machine, in object storage or on web servers.

#[cfg(feature = "remote")]
use std::collections::HashMap;
use std::path::Path;
#[cfg(feature = "remote")]
use std::sync::{Arc, Mutex, PoisonError};

use super::failure::ClipFailure;
#[cfg(not(feature = "remote"))]
use crate::Error;
#[cfg(feature = "remote")]
use crate::Result;
#[cfg(feature = "remote")]
use crate::remote::{ObjectBytes, Opening, Remote, check_location};
use crate::video::{Stage, VideoFile};
use crate::{Storage, is_remote};

/// What of a remote video comes when it is opened: all of a short one. The next videos are opened while others are decoded,
/// so whoever decodes one waits for no round trip.
#[cfg(feature = "remote")]
const HEAD_BYTES: u64 = 4 << 20;

/// Opens videos, wherever they are. The clients of remote ones are made when the first is opened.
#[derive(Debug)]
pub(crate) struct VideoStore {
    storage: Storage,
    #[cfg(feature = "remote")]
    remote: Mutex<Option<Arc<Remote>>>,
    /// Objects that will be opened soon.
    #[cfg(feature = "remote")]
    coming: Mutex<HashMap<std::path::PathBuf, Opening>>,
}

impl VideoStore {
    pub fn new(storage: &Storage) -> Self {
        VideoStore {
            storage: storage.clone(),
            #[cfg(feature = "remote")]
            remote: Mutex::default(),
            #[cfg(feature = "remote")]
            coming: Mutex::default(),
        }
    }

    /// How remote videos are read.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// A video. Of a remote one, the first bytes are there then.
    ///
    /// # Errors
    ///
    /// There is no such object, or it cannot be reached.
    pub fn file(&self, path: &Path) -> Result<VideoFile, ClipFailure> {
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
    fn lock_coming(&self) -> std::sync::MutexGuard<'_, HashMap<std::path::PathBuf, Opening>> {
        self.coming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

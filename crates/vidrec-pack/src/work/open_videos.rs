//! Keeps videos open between the clips that are parts of them, so that each process reads the packets of a video once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::stamp::Stamp;
use crate::video::{KeptSound, Video};

/// The number of videos that stay open for each thread. The cameras of an episode are packed one after another.
const MOST_VIDEOS: usize = 8;

/// Videos of which more parts may follow, and the sound of some.
#[derive(Debug)]
pub(crate) struct OpenVideos {
    /// The last one used is at the end.
    videos: Mutex<Vec<(PathBuf, Stamp, Video)>>,
    most: usize,
    pub sound: KeptSound,
}

impl OpenVideos {
    pub fn new(threads: usize) -> Self {
        OpenVideos { videos: Mutex::default(), most: MOST_VIDEOS * threads, sound: KeptSound::default() }
    }

    /// Takes out a video that is open, unless its file has changed since it was opened.
    pub fn take(&self, path: &Path, stamp: Stamp) -> Option<Video> {
        let mut videos = self.lock();
        let at = videos.iter().position(|(of, then, _)| of == path && *then == stamp)?;
        let (.., mut video) = videos.remove(at);
        drop(videos);
        video.begin_again();
        Some(video)
    }

    pub fn put(&self, path: &Path, stamp: Stamp, video: Video) {
        let Some(video) = video.rest() else { return };
        let mut videos = self.lock();
        videos.push((path.to_owned(), stamp, video));
        let surplus = videos.len().saturating_sub(self.most);
        let ended: Vec<_> = videos.drain(..surplus).collect();
        drop(videos);
        drop(ended); // closing files takes time
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(PathBuf, Stamp, Video)>> {
        // No code under the lock leaves it half changed.
        self.videos.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Opens videos on this machine, in object storage or on web servers, and keeps some of them for the next clip.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::messages::{PictureFolder, RunClient};
use super::stamp::Stamp;
use crate::plan;
use crate::video::{SoundCache, Stage, Video, VideoError, VideoFile, open_regular};
use vidrec_core::store::location::{is_of_network, is_remote};
use vidrec_core::store::remote::{Opening, REQUEST_BYTES, Remote, check_location};
use vidrec_core::store::storage::Storage;
use vidrec_format::error::{Error, ErrorKind, Result};

/// The bytes of a remote video that are fetched when it is opened. That is all of a short one. The next videos are opened
/// while others are being decoded, so no decoder waits for a round trip.
const HEAD_BYTES: u64 = 4 << 20;

/// The memory for the bytes of a remote video on their way to its copy.
const MEMORY_BYTES: u64 = 20 << 20;

/// The number of videos that stay open for each thread. The cameras of an episode are packed one after another.
const MOST_OPEN: usize = 8;

/// Opens videos, wherever they are.
#[derive(Debug)]
pub(crate) struct VideoStore {
    storage: Storage,
    threads: usize,
    /// The run that opens everything, if this process is a worker.
    run: Option<RunFiles>,
    /// The clients for remote videos, which are created when the first one is opened.
    remote: Mutex<Option<Arc<Remote>>>,
    /// The remote videos that will be opened soon.
    coming: Mutex<HashMap<PathBuf, Opening>>,
    /// The copies of the remote videos that were opened last. The last one used is at the end.
    copies: Mutex<VecDeque<(PathBuf, VideoFile)>>,
    /// The videos of which several clips are made.
    pub open_videos: Arc<OpenVideos>,
}

/// The run of a worker, and the folders of images of its video.
#[derive(Debug)]
struct RunFiles {
    client: Arc<RunClient>,
    folders: Vec<PictureFolder>,
}

impl VideoStore {
    /// Creates a store that opens videos itself for so many threads, remote ones with the settings of `storage`.
    pub fn new(storage: &Storage, threads: usize) -> Self {
        let memory_bytes = MEMORY_BYTES.saturating_mul(threads as u64);
        let storage = Storage { memory_bytes, ..storage.clone() };
        let (remote, coming, copies) = Default::default();
        VideoStore {
            storage,
            threads,
            run: None,
            remote,
            coming,
            copies,
            open_videos: Arc::new(OpenVideos::new(threads)),
        }
    }

    /// Creates a store that asks the run to open the files of one video.
    pub fn of_run(client: &Arc<RunClient>, folders: Vec<PictureFolder>, open_videos: &Arc<OpenVideos>) -> Self {
        let run = Some(RunFiles { client: Arc::clone(client), folders });
        VideoStore { run, open_videos: Arc::clone(open_videos), ..VideoStore::new(&Storage::default(), 1) }
    }

    /// Whether a video is a folder of images.
    pub fn is_folder(&self, path: &Path) -> bool {
        match &self.run {
            Some(run) => run.folders.iter().any(|folder| folder.path == path),
            None => !is_remote(path) && path.is_dir(),
        }
    }

    /// Returns the images of a folder, in order.
    pub fn pictures(&self, folder: &Path) -> Result<Vec<PathBuf>, VideoError> {
        let Some(run) = &self.run else {
            return plan::pictures(folder).map_err(|e| VideoError::new(Stage::Open, e));
        };
        let unknown = || VideoError::internal("the run has not listed this folder");
        let listed = run.folders.iter().find(|known| known.path == folder).ok_or_else(unknown)?;
        listed.failure.clone().map_or_else(|| Ok(listed.pictures.clone()), Err)
    }

    /// Opens a file of this machine and returns it with its length; `None` if it is not a regular file.
    pub fn open(&self, path: &Path) -> io::Result<Option<(File, u64)>> {
        match &self.run {
            Some(run) => run.client.file(path).map_err(|e| io::Error::other(e.message))?,
            None => open_regular(path),
        }
    }

    /// Opens a video. Of a remote one, a copy is then on this machine, in a file without a name.
    ///
    /// # Errors
    ///
    /// The object does not exist or cannot be reached.
    pub fn file(&self, path: &Path) -> Result<VideoFile, VideoError> {
        if let Some(run) = &self.run {
            let failed = |e| VideoError::new(Stage::Open, e);
            return match run.client.file(path)? {
                Ok(Some((file, length))) => Ok(VideoFile::opened(path, file, length)),
                Ok(None) => Err(failed(Error::usage("this is not a regular file"))),
                Err(e) => Err(failed(Error::io("open the video", path, e))),
            };
        }
        if !is_remote(path) {
            return Ok(VideoFile::local(path));
        }
        let known = self.copies.lock().iter().find(|(of, _)| of == path).map(|(_, copy)| copy.clone());
        if let Some(copy) = known {
            return Ok(copy);
        }
        let copy = self.copy(path)?;
        let mut copies = self.copies.lock();
        copies.push_back((path.to_owned(), copy.clone()));
        let surplus = copies.len().saturating_sub(2 * self.threads);
        copies.drain(..surplus);
        Ok(copy)
    }

    /// Copies a remote video to this machine.
    fn copy(&self, path: &Path) -> Result<VideoFile, VideoError> {
        let failed = |e: Error| {
            let is_lost = is_of_network(&e) || e.kind() == ErrorKind::Interrupted;
            let is_folder = path.extension().is_none() && !e.is_out_of_memory();
            let e = if is_folder { e.also_help("for the videos below a folder, end its location with /") } else { e };
            VideoError { is_lost, ..VideoError::new(Stage::Open, e) }
        };
        check_location(path).map_err(failed)?;
        let known = self.coming.lock().remove(path);
        // If the location itself is valid, then options or credentials are wrong, which affects other videos too.
        let wrong = |e| VideoError { is_lost: true, ..failed(e) };
        let opening = known.map_or_else(|| self.start(path), Ok).map_err(wrong)?;
        let object = opening.finish().map_err(failed)?;
        let unwritten = |e| wrong(Error::io("copy the video to the folder for temporary files", path, e));
        let mut file = tempfile::tempfile().map_err(unwritten)?;
        let (mut at, mut buffer) = (0, Vec::new());
        while at < object.len() {
            let range = at..object.len().min(at + REQUEST_BYTES);
            at = range.end;
            object.read(range.clone(), || range, &mut buffer).map_err(failed)?;
            file.write_all(&buffer).map_err(unwritten)?;
        }
        Ok(VideoFile::opened(path, file, object.len()))
    }

    /// Says that a video will be opened soon. Errors are reported when it is opened.
    pub fn expect(&self, path: &Path) {
        if is_remote(path) {
            let mut coming = self.coming.lock();
            if !coming.contains_key(path)
                && let Ok(opening) = self.start(path)
            {
                coming.insert(path.to_owned(), opening);
            }
        }
    }

    fn start(&self, path: &Path) -> Result<Opening> {
        let mut remote = self.remote.lock();
        let remote = match &*remote {
            Some(remote) => remote.clone(),
            None => remote.insert(Remote::new(&self.storage)?).clone(),
        };
        Opening::start_with(&remote, path, HEAD_BYTES)
    }
}

/// Videos that stay open because more parts of them may follow, so that each process reads their packets once, and the sound of
/// some.
#[derive(Debug)]
pub(crate) struct OpenVideos {
    /// The last one used is at the end.
    videos: Mutex<Vec<(PathBuf, Stamp, Video)>>,
    most: usize,
    pub sound: SoundCache,
}

impl OpenVideos {
    pub fn new(threads: usize) -> Self {
        OpenVideos { videos: Mutex::default(), most: MOST_OPEN * threads, sound: SoundCache::default() }
    }

    /// Takes out a video that is open, unless its file has changed since it was opened.
    pub fn take(&self, path: &Path, stamp: Stamp) -> Option<Video> {
        let mut videos = self.videos.lock();
        let at = videos.iter().position(|(of, then, _)| of == path && *then == stamp)?;
        let (.., mut video) = videos.remove(at);
        drop(videos);
        video.begin_again();
        Some(video)
    }

    pub fn put(&self, path: &Path, stamp: Stamp, video: Video) {
        let Some(video) = video.rest() else { return };
        let mut videos = self.videos.lock();
        videos.push((path.to_owned(), stamp, video));
        let surplus = videos.len().saturating_sub(self.most);
        let ended: Vec<_> = videos.drain(..surplus).collect();
        drop(videos);
        drop(ended); // closing files takes time
    }
}

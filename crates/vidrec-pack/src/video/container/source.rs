//! Provides the bytes that FFmpeg reads: those of a file, or of an object in object storage or on a web server.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::no_video::no_video;
use crate::video::error::{Stage, VideoError};
use vidrec_core::store::disk::regular_file::{Links, try_open_regular};
use vidrec_core::store::remote::{KEPT_BYTES, ObjectReader, RemoteFile};
use vidrec_format::error::Error;

/// A video file, which may be opened several times. A remote file has the same version each time.
#[derive(Debug, Clone)]
pub(crate) struct VideoFile {
    path: PathBuf,
    place: Place,
}

/// Where the bytes of a video come from.
#[derive(Debug, Clone)]
enum Place {
    /// A file on this machine.
    Here,
    Object(Arc<RemoteFile>),
    /// Another process that opens the video for this one, which may not open it.
    Elsewhere(Arc<dyn OpenVideo>),
}

/// Opens a video for a process that may not open it.
pub(crate) trait OpenVideo: fmt::Debug + Send + Sync {
    /// Opens the video at its first byte, and returns it with its length; `None` if it is not a regular file.
    fn open(&self, path: &Path) -> io::Result<Option<(Box<dyn Readable>, u64)>>;

    /// Returns the most bytes of the video that are kept in memory while it is read.
    fn kept_bytes(&self) -> u64;
}

impl VideoFile {
    /// Creates a video from a file on this machine.
    pub fn local(path: &Path) -> Self {
        VideoFile { path: path.to_owned(), place: Place::Here }
    }

    /// Wraps an open object.
    pub fn remote(location: &Path, object: Arc<RemoteFile>) -> Self {
        VideoFile { path: location.to_owned(), place: Place::Object(object) }
    }

    /// Creates a video that `opener` opens.
    pub fn elsewhere(path: &Path, opener: Arc<dyn OpenVideo>) -> Self {
        VideoFile { path: path.to_owned(), place: Place::Elsewhere(opener) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the most bytes of the file that are kept in memory while it is read.
    pub fn kept_bytes(&self) -> u64 {
        match &self.place {
            Place::Here => 0,
            Place::Object(object) => object.len().min(KEPT_BYTES),
            Place::Elsewhere(opener) => opener.kept_bytes(),
        }
    }

    /// Opens the video at its first byte.
    pub fn open(&self) -> Result<VideoSource, VideoError> {
        let failed = |e| VideoError::new(Stage::Open, e);
        let opened = match &self.place {
            Place::Here if vidrec_core::store::location::is_remote(&self.path) => {
                let e = Error::usage("this is not a file on this machine");
                return Err(failed(e.help("pack remote videos, or read them from a local copy")));
            }
            Place::Here => open_regular(&self.path).map(|opened| opened.map(boxed)),
            Place::Object(object) => Ok(Some((Box::new(ObjectReader::new(object)) as _, object.len()))),
            Place::Elsewhere(opener) => opener.open(&self.path),
        };
        match opened.map_err(|e| failed(Error::io("open the video", &self.path, e)))? {
            Some((inner, bytes)) => Ok(VideoSource::new(inner, bytes, &self.path)),
            None => Err(failed(Error::usage("this is not a regular file"))),
        }
    }
}

fn boxed((file, bytes): (File, u64)) -> (Box<dyn Readable>, u64) {
    (Box::new(file), bytes)
}

/// Opens a file and returns it with its length; `None` if it is not a regular file.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<(File, u64)>> {
    match try_open_regular(path, Links::Follow)? {
        Ok(file) => file.metadata().map(|meta| Some((file, meta.len()))),
        Err(_) => Ok(None),
    }
}

/// The first read error. Through FFmpeg alone, a broken disk or network would look like a broken video.
#[derive(Clone, Default)]
pub(crate) struct ReadFailure(Arc<Mutex<Option<Error>>>);

impl ReadFailure {
    pub fn check(&self, stage: Stage) -> Result<(), VideoError> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(e) => Err(VideoError::new(stage, e)),
            None => Ok(()),
        }
    }
}

/// A source of bytes that can be read at any position.
pub(crate) trait Readable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Readable for T {}

/// An open video that remembers the first read error.
pub(crate) struct VideoSource {
    inner: Box<dyn Readable>,
    /// The length of the video when it was opened.
    pub bytes: u64,
    path: PathBuf,
    pub failure: ReadFailure,
}

impl VideoSource {
    fn new(inner: Box<dyn Readable>, bytes: u64, path: &Path) -> Self {
        VideoSource { inner, bytes, path: path.to_owned(), failure: ReadFailure::default() }
    }

    /// Records the error, and returns another one of its kind for FFmpeg.
    fn note(&self, e: io::Error) -> io::Error {
        let for_ffmpeg = e.raw_os_error().map_or_else(|| e.kind().into(), io::Error::from_raw_os_error);
        if e.kind() != io::ErrorKind::Interrupted {
            let mut slot = self.failure.0.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert_with(|| {
                e.downcast::<Error>().unwrap_or_else(|e| Error::io("read the video", &self.path, e))
            });
        }
        for_ffmpeg
    }

    /// Refuses what is no video by its first bytes, which FFmpeg would only call invalid data; and playlists, which
    /// FFmpeg would fail to follow, because the protocols that it needs are disabled. Returns the first bytes.
    pub fn refuse_others(&mut self) -> Result<Vec<u8>, VideoError> {
        let start = first_bytes(self);
        self.failure.check(Stage::Open)?;
        let failed = |e| Err(VideoError::new(Stage::Open, e));
        let start = match start {
            Ok(start) => start,
            Err(e) => return failed(Error::io("read the video", &self.path, e)),
        };
        if start.is_empty() {
            return failed(Error::decode("the file has 0 bytes").help("download or copy it again"));
        }
        match no_video(&start) {
            Some((what, help)) => failed(Error::decode(format!("this is {what}")).help(help)),
            None => playlist(&start).map_or(Ok(start), failed),
        }
    }
}

impl Read for VideoSource {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buf).map_err(|e| self.note(e))
    }
}

impl Seek for VideoSource {
    /// A demuxer may seek to a position that does not exist. That is not a disk failure.
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        self.inner.seek(pos)
    }
}

fn first_bytes(file: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(1024).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start)
}

/// Returns the error for a file that starts like a playlist.
fn playlist(start: &[u8]) -> Option<Error> {
    const STARTS: [(&[u8], &str); 5] = [
        (b"#EXTM3U", "an HLS playlist"),
        (b"ffconcat version", "an FFmpeg concat list"),
        (b"v=0\n", "an SDP session description"),
        (b"v=0\r\n", "an SDP session description"),
        (b"[playlist]", "a playlist"),
    ];
    let dash = start.starts_with(b"<") && start.windows(4).any(|w| w == b"<MPD");
    let what = STARTS.iter().find(|(s, _)| start.starts_with(s)).map(|&(_, what)| what);
    what.or(dash.then_some("a DASH manifest")).map(|what| {
        Error::decode(format!("this is {what}, which would open other files")).help("name the media files themselves")
    })
}

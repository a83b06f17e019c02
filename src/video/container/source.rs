//! The bytes that FFmpeg reads: those of a file, or of an object in object storage or on a web server.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;
#[cfg(feature = "remote")]
use crate::remote::{ObjectBytes, ObjectReader};
use crate::video::error::{Stage, VideoError};

/// A video file, which may be opened several times. A remote one is of one version each time.
#[derive(Debug, Clone)]
pub(crate) struct VideoFile {
    path: PathBuf,
    place: Place,
}

/// Where the bytes of a video come from.
#[derive(Debug, Clone)]
enum Place {
    /// A file of this machine.
    Here,
    #[cfg(feature = "remote")]
    Object(Arc<ObjectBytes>),
    /// Who opens it for this process, which may not.
    Elsewhere(Arc<dyn OpenVideo>),
}

/// Opens a video for a process that may not.
pub(crate) trait OpenVideo: fmt::Debug + Send + Sync {
    /// The video at its first byte, and its length; `None` if it is no regular file.
    fn open(&self, path: &Path) -> io::Result<Option<(Box<dyn Readable>, u64)>>;

    /// The most bytes of it that are kept in memory while it is read.
    fn kept_bytes(&self) -> u64;
}

impl VideoFile {
    /// A file of this machine.
    pub fn local(path: &Path) -> Self {
        VideoFile { path: path.to_owned(), place: Place::Here }
    }

    /// An open object.
    #[cfg(feature = "remote")]
    pub fn remote(location: &Path, object: Arc<ObjectBytes>) -> Self {
        VideoFile { path: location.to_owned(), place: Place::Object(object) }
    }

    /// A video that `opener` opens.
    pub fn elsewhere(path: &Path, opener: Arc<dyn OpenVideo>) -> Self {
        VideoFile { path: path.to_owned(), place: Place::Elsewhere(opener) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The most bytes of the file that are kept in memory while it is read.
    pub fn kept_bytes(&self) -> u64 {
        match &self.place {
            Place::Here => 0,
            #[cfg(feature = "remote")]
            Place::Object(object) => object.kept_bytes(),
            Place::Elsewhere(opener) => opener.kept_bytes(),
        }
    }

    /// Opens it at its first byte.
    pub fn open(&self) -> Result<VideoSource, VideoError> {
        let failed = |e| VideoError::new(Stage::Open, e);
        let opened = match &self.place {
            Place::Here if crate::is_remote(&self.path) => {
                let e = Error::usage("this is no file of this machine");
                return Err(failed(e.help("remote videos are packed, or read from a local copy")));
            }
            Place::Here => open_regular(&self.path).map(|opened| opened.map(boxed)),
            #[cfg(feature = "remote")]
            Place::Object(object) => Ok(Some((Box::new(ObjectReader::new(object)) as _, object.len()))),
            Place::Elsewhere(opener) => opener.open(&self.path),
        };
        match opened.map_err(|e| failed(Error::io("open the video", &self.path, e)))? {
            Some((inner, bytes)) => Ok(VideoSource::new(inner, bytes, &self.path)),
            None => Err(failed(Error::usage("not a regular file"))),
        }
    }
}

fn boxed((file, bytes): (File, u64)) -> (Box<dyn Readable>, u64) {
    (Box::new(file), bytes)
}

/// Opens a file and says how long it is; `None` if it is no regular file.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<(File, u64)>> {
    // Checked before opening, because opening a named pipe waits for its writer.
    let meta = std::fs::metadata(path)?;
    if !meta.is_file() {
        return Ok(None);
    }
    Ok(Some((File::open(path)?, meta.len())))
}

/// The first error of reading. Through FFmpeg alone, a broken disk or network would look like a broken video.
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

/// What can be read from place to place.
pub(crate) trait Readable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Readable for T {}

/// An open video, which remembers the first error of reading.
pub(crate) struct VideoSource {
    inner: Box<dyn Readable>,
    /// Its length when it was opened.
    pub bytes: u64,
    path: PathBuf,
    pub failure: ReadFailure,
}

impl VideoSource {
    fn new(inner: Box<dyn Readable>, bytes: u64, path: &Path) -> Self {
        VideoSource { inner, bytes, path: path.to_owned(), failure: ReadFailure::default() }
    }

    /// Keeps an error, and makes another one for FFmpeg.
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

    /// Refuses a playlist by name. FFmpeg would only fail to follow it, because the protocols that it needs are closed.
    pub fn refuse_playlist(&mut self) -> Result<(), VideoError> {
        let refused = playlist_error(self);
        self.failure.check(Stage::Open)?;
        let io = |e| VideoError::new(Stage::Open, Error::io("read the video", &self.path, e));
        match refused.map_err(io)? {
            Some(e) => Err(VideoError::new(Stage::Open, e)),
            None => Ok(()),
        }
    }
}

impl Read for VideoSource {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buf).map_err(|e| self.note(e))
    }
}

impl Seek for VideoSource {
    /// A demuxer may ask for places that do not exist; that is not a failure of the disk.
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        self.inner.seek(pos)
    }
}

/// Why a file is refused that begins as a playlist does.
fn playlist_error(file: &mut (impl Read + Seek)) -> io::Result<Option<Error>> {
    const STARTS: [(&[u8], &str); 5] = [
        (b"#EXTM3U", "an HLS playlist"),
        (b"ffconcat version", "an FFmpeg concat list"),
        (b"v=0\n", "an SDP session description"),
        (b"v=0\r\n", "an SDP session description"),
        (b"[playlist]", "a playlist"),
    ];
    let mut start = [0; 1024];
    let mut len = 0;
    while len < start.len() {
        match file.read(&mut start[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    file.rewind()?;
    let start = &start[..len];
    let dash = start.starts_with(b"<") && start.windows(4).any(|w| w == b"<MPD");
    let what = STARTS.iter().find(|(s, _)| start.starts_with(s)).map(|&(_, what)| what);
    Ok(what.or(dash.then_some("a DASH manifest")).map(|what| {
        Error::decode(format!("{what}, which would open other files")).help("name the media files themselves")
    }))
}
